import { digestText } from '../../core/signing/digest-algorithms.js';
import { paramOf } from '../../core/signing/request.js';
import { Secret, secretLabel } from '../../core/signing/secret.js';
import { type ReceivedSignature, type Suspect, suspects } from './suspect.js';

/** Characters that copy-and-paste adds, and their names. */
const blanks = [
  { text: '\n', noun: 'a line break' },
  { text: ' ', noun: 'a space' },
  { text: '\r\n', noun: 'a line break (CR LF)' },
  { text: '\r', noun: 'a carriage return' },
  { text: '\t', noun: 'a tab' },
  { text: '\u00a0', noun: 'a no-break space' },
  { text: '\u200b', noun: 'a zero-width space' },
  { text: '\ufeff', noun: 'a byte-order mark' },
];

const appKeyNames = ['app_key', 'appkey', 'appKey', 'app_id', 'appid', 'appId', 'key'];

/** Mistakes in the secret: another text was signed in its place. */
export function secretSuspects({ request, secret, otherSecrets }: ReceivedSignature): Suspect[] {
  const right = secret.reveal();
  /** Suspects with one remedy; `how` completes "It was signed …". */
  const suspectsBySecret = (
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
    ...suspectsBySecret('secret-space', 'Store the secret again, without the white space.', [
      ['without the white space that is around the secret here', right.trim()],
    ]),
    ...suspectsBySecret(
      'secret-space',
      'Remove it where the signer reads the secret; it was probably copied along with the secret.',
      [
        ...blanks.flatMap(({ text, noun }): [string, string][] => [
          [`with ${noun} after the secret`, right + text],
          [`with ${noun} before the secret`, text + right],
        ]),
        ['with spaces around the secret', ` ${right} `],
        ['with quotes around the secret', `"${right}"`],
        ['with quotes around the secret', `'${right}'`],
      ],
    ),
    ...suspectsBySecret(
      'app-key-as-secret',
      'Give the signer the secret: its settings may have the two swapped.',
      sentKeys.map((key) => ['with the app key in place of the secret', key]),
    ),
    ...suspectsBySecret(
      'other-secret',
      otherSecretAdvice(sentKeys.includes(right)),
      otherSecrets.map(({ name, value }) => [`with ${name}`, value.reveal()]),
    ),
    ...suspectsBySecret(
      'secret-empty',
      'Look where the signer reads the secret: the variable or setting is empty.',
      [['with an empty secret', '']],
    ),
    ...suspectsBySecret('secret-case', 'Use the secret exactly as it was issued.', [
      ['with the secret in another letter case', right.toLowerCase()],
      ['with the secret in another letter case', right.toUpperCase()],
    ]),
    ...suspectsBySecret('secret-digest', 'Use the secret itself.', [
      ['with the MD5 of the secret in place of the secret', digestText('md5', right, 'hex')],
    ]),
  ];
}

function otherSecretAdvice(isSecretSent: boolean): string {
  if (isSecretSent) {
    return 'The app key that was sent is the secret: swap the two, and ask for a new secret.';
  }
  return 'Give the signer the secret that belongs to the app key it sends.';
}
