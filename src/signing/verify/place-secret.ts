import { encoders } from '../encodings.js';
import type { Secret } from '../secret.js';

/** Another's text to sign, as it may be shown. */
export interface PlacedSecret {
  /** With a label in place of the secret. */
  readonly text: string;
  /** How many characters the secret in it has, where it is another one than ours. */
  readonly otherLength: number | null;
}

const other = '<another secret>';

/** What people and logs write in place of a secret. */
const placeholder = /[*•…]{2,}|^x{3,}$|^<.*>$|^[{[(].*[)\]}]$|secret|your|密/i;

/**
 * Puts the label of the secret where another's text has the secret, or what stands for it. `ours` is our own text,
 * labelled: it says where the secret may stand.
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

/** What is too short to be a secret would be found everywhere. */
const shortest = 4;

/** In one pass, so that no label is taken for the secret. Stars count as ours. */
function hideSecret(text: string, secret: Secret): string {
  const plain = secret.reveal();
  const { rfc3986, form } = encoders;
  const forms = [plain, rfc3986(plain), form(plain), plain.toUpperCase(), plain.toLowerCase()];
  const patterns = forms.filter((written) => written.length >= shortest).map(escapePattern);
  return text.replace(new RegExp([...patterns, '[*•]{3,}'].join('|'), 'g'), secret.toString());
}

/** Ours, with anything in the secret's place. */
function secretPattern(ours: string, label: string): RegExp {
  return new RegExp(`^${ours.split(label).map(escapePattern).join('(.*?)')}$`, 's');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
