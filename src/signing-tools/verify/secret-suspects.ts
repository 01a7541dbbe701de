import { digestText } from '../../signing/digest-algorithms.js';
import { paramOf } from '../../signing/request.js';
import { Secret, secretLabel } from '../../signing/secret.js';
import type { Mistake, ReceivedSignature, Suspect } from './suspect.js';

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

/** Parameters that carry the app key. */
const appKeyNames = ['app_key', 'appkey', 'appKey', 'app_id', 'appid', 'appId', 'key'];

export function secretSuspects({ request, secret, otherSecrets }: ReceivedSignature): Suspect[] {
  const text = secret.reveal();
  const suspects: Suspect[] = [];
  const suspect = (changed: string, mistake: Mistake) => {
    // The label is no secret; a request that was copied from a log may have it as its app key.
    if (changed === text || changed === secretLabel) return;
    suspects.push({ ...mistake, change: { secret: new Secret(changed) } });
  };
  const suspectAddition = (changed: string, words: string) =>
    suspect(changed, {
      id: 'secret-space',
      says: `It was signed with ${words}.`,
      advice: 'Remove it where the signer reads the secret; it was probably copied along with the secret.',
    });
  suspect(text.trim(), {
    id: 'secret-space',
    says: 'It was signed without the white space that is around the secret here.',
    advice: 'Store the secret again, without the white space.',
  });
  for (const [blank, words] of blanks) {
    suspectAddition(text + blank, `${words} after the secret`);
    suspectAddition(blank + text, `${words} before the secret`);
  }
  suspectAddition(` ${text} `, 'spaces around the secret');
  for (const quote of ['"', "'"]) suspectAddition(quote + text + quote, 'quotes around the secret');

  const sentKeys = appKeyNames.map((name) => paramOf(request, name)).filter((key) => key !== undefined);
  for (const key of sentKeys) {
    suspect(key, {
      id: 'app-key-as-secret',
      says: 'It was signed with the app key in place of the secret.',
      advice: 'Give the signer the secret: its settings may have the two swapped.',
    });
  }
  for (const { name, value } of otherSecrets) {
    suspect(value.reveal(), {
      id: 'other-secret',
      says: `It was signed with ${name}.`,
      advice: sentKeys.includes(text)
        ? 'The app key that was sent is the secret: swap the two, and ask for a new secret.'
        : 'Give the signer the secret that belongs to the app key it sends.',
    });
  }
  suspect('', {
    id: 'secret-empty',
    says: 'It was signed with an empty secret.',
    advice: 'Look where the signer reads the secret: the variable or setting is empty.',
  });
  for (const changed of [text.toLowerCase(), text.toUpperCase()]) {
    suspect(changed, {
      id: 'secret-case',
      says: 'It was signed with the secret in another letter case.',
      advice: 'Use the secret exactly as it was issued.',
    });
  }
  suspect(digestText('md5', text, 'hex'), {
    id: 'secret-digest',
    says: 'It was signed with the MD5 of the secret in place of the secret.',
    advice: 'Use the secret itself.',
  });
  return suspects;
}
