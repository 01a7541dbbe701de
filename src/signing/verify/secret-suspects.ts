import { digestText } from '../digests.js';
import { encoders } from '../encodings.js';
import { paramOf } from '../request.js';
import { Secret } from '../secret.js';
import type { Mistake, ReceivedSignature, Suspect } from './suspect.js';

/** Another party's text to sign, masked. */
interface PlacedSecret {
  /** With a label in place of the secret. */
  readonly text: string;
  /** The length of the secret in it, where it is not ours. */
  readonly otherLength: number | null;
}

const other = '<another secret>';

/** Placeholders for a secret in logs and messages. */
const placeholder = /[*•…]{2,}|^x{3,}$|^<.*>$|^[{[(].*[)\]}]$|secret|your|密/i;

/**
 * Puts the label of the secret where the other text has the secret or a placeholder. `ours` is our own masked
 * text: it shows where the secret can be.
 */
export function placeSecret(ours: string, theirs: string, secret: Secret): PlacedSecret {
  const label = secret.toString();
  const found = secretPattern(ours, label).exec(theirs)?.slice(1) ?? [];
  const [first] = found;
  if (!first || found.some((one) => one !== first)) {
    return { text: hideSecret(theirs, secret), otherLength: null };
  }
  const hidden = first === secret.reveal() ? label : hideSecret(first, secret);
  if (hidden.includes(label)) return { text: ours.replaceAll(label, () => hidden), otherLength: null };
  return placeholder.test(hidden)
    ? { text: ours, otherLength: null }
    : { text: ours.replaceAll(label, other), otherLength: hidden.length };
}

/** A shorter text would match by chance. */
const shortest = 4;

/** In one pass, so that no label is taken for the secret. Stars count as our secret. */
function hideSecret(text: string, secret: Secret): string {
  const plain = secret.reveal();
  const { rfc3986, form } = encoders;
  const forms = [plain, rfc3986(plain), form(plain), plain.toUpperCase(), plain.toLowerCase()];
  const patterns = forms.filter((written) => written.length >= shortest).map(escapePattern);
  return text.replace(new RegExp([...patterns, '[*•]{3,}'].join('|'), 'g'), secret.toString());
}

/** Our text as a pattern, with any text in place of the secret. */
function secretPattern(ours: string, label: string): RegExp {
  return new RegExp(`^${ours.split(label).map(escapePattern).join('(.*?)')}$`, 's');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

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

/** Mistakes with the secret. */
export function secretSuspects({ request, secret, otherSecrets }: ReceivedSignature): Suspect[] {
  const text = secret.reveal();
  const suspects: Suspect[] = [];
  const suspect = (changed: string, mistake: Mistake) => {
    if (changed !== text) suspects.push({ ...mistake, change: { secret: new Secret(changed) } });
  };
  suspect(text.trim(), {
    id: 'secret-space',
    says: 'It was signed without the white space that is around the secret here.',
    advice: 'Store the secret again, without the white space.',
  });
  for (const [blank, words] of blanks) {
    suspect(text + blank, blankMistake(`${words} after the secret`));
    suspect(blank + text, blankMistake(`${words} before the secret`));
  }
  suspect(` ${text} `, blankMistake('spaces around the secret'));
  for (const quote of ['"', "'"]) suspect(quote + text + quote, blankMistake('quotes around the secret'));

  const sentKeys = appKeyNames.map((name) => paramOf(request, name)).filter((key) => key !== undefined);
  for (const key of sentKeys) suspect(key, appKeyMistake);
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

function blankMistake(words: string): Mistake {
  return {
    id: 'secret-space',
    says: `It was signed with ${words}.`,
    advice: 'Take it away where the signer reads the secret: it came along when the secret was copied.',
  };
}

const appKeyMistake: Mistake = {
  id: 'app-key-as-secret',
  says: 'It was signed with the app key in place of the secret.',
  advice: 'Give the signer the secret: its settings may have the two swapped.',
};
