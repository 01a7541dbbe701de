import { digestText } from '../../core/signing/digest-algorithms.js';
import { paramOf } from '../../core/signing/request.js';
import { Secret, secretLabel } from '../../core/signing/secret.js';
import { type ReceivedSignature, type Suspect, suspects } from './suspect.js';

/** Characters that copy-and-paste adds, and their names. */
const blanks: readonly (readonly [text: string, words: string])[] = [
  ['\n', 'a line break'],
  [' ', 'a space'],
  ['\r\n', 'a line break (CR LF)'],
  ['\r', 'a carriage return'],
  ['\t', 'a tab'],
  ['\u00a0', 'a no-break space'],
  ['\u200b', 'a zero-width space'],
  ['\ufeff', 'a byte-order mark'],
];

const appKeyNames = ['app_key', 'appkey', 'appKey', 'app_id', 'appid', 'appId', 'key'];

/** Mistakes in the secret: another text was signed in its place. */
export function secretSuspects({ request, secret, otherSecrets }: ReceivedSignature): Suspect[] {
  const right = secret.reveal();
  /** Secrets with one remedy; `how` completes "It was signed …". */
  const kind = (
    id: string,
    advice: string,
    rows: readonly (readonly [how: string, text: string])[],
  ) =>
    suspects(
      id,
      advice,
      rows
        // The label is not a secret; a request that was copied from a log may have it as its app
        // key.
        .filter(([, text]) => text !== right && text !== secretLabel)
        .map(([how, text]) => [how, { secret: new Secret(text) }]),
    );
  const sentKeys = appKeyNames
    .map((name) => paramOf(request, name))
    .filter((key) => key !== undefined);
  return [
    ...kind('secret-space', 'Store the secret again, without the white space.', [
      ['without the white space that is around the secret here', right.trim()],
    ]),
    ...kind(
      'secret-space',
      'Remove it where the signer reads the secret; it was probably copied along with the secret.',
      [
        ...blanks.flatMap(([blank, words]): [string, string][] => [
          [`with ${words} after the secret`, right + blank],
          [`with ${words} before the secret`, blank + right],
        ]),
        ['with spaces around the secret', ` ${right} `],
        ['with quotes around the secret', `"${right}"`],
        ['with quotes around the secret', `'${right}'`],
      ],
    ),
    ...kind(
      'app-key-as-secret',
      'Give the signer the secret: its settings may have the two swapped.',
      sentKeys.map((key) => ['with the app key in place of the secret', key]),
    ),
    ...kind(
      'other-secret',
      sentKeys.includes(right)
        ? 'The app key that was sent is the secret: swap the two, and ask for a new secret.'
        : 'Give the signer the secret that belongs to the app key it sends.',
      otherSecrets.map(({ name, value }) => [`with ${name}`, value.reveal()]),
    ),
    ...kind(
      'secret-empty',
      'Look where the signer reads the secret: the variable or setting is empty.',
      [['with an empty secret', '']],
    ),
    ...kind('secret-case', 'Use the secret exactly as it was issued.', [
      ['with the secret in another letter case', right.toLowerCase()],
      ['with the secret in another letter case', right.toUpperCase()],
    ]),
    ...kind('secret-digest', 'Use the secret itself.', [
      ['with the MD5 of the secret in place of the secret', digestText('md5', right, 'hex')],
    ]),
  ];
}
