import { encoders } from '../../core/signing/encodings.js';
import { type ParamsRule, recipeDefaults } from '../../core/signing/recipe.js';
import { type Secret, secretLabel } from '../../core/signing/secret.js';
import type { ReceivedSignature } from './suspect.js';
import { messageMistakes } from './verify-signature.js';

/** The first difference of two texts to sign, and its causes. */
export interface Difference {
  /** The first byte that differs, in UTF-8, 0-based. */
  readonly offset: number;
  /** An excerpt of each text around that place; both begin alike. */
  readonly ours: string;
  readonly theirs: string;
  /** The number of equal characters at the start of the excerpts. */
  readonly alike: number;
  readonly causes: readonly string[];
}

/** What a text to sign is made of. */
type SignedRequest = Omit<ReceivedSignature, 'received'>;

const before = 24;
const after = 40;

/**
 * Compares our text to sign with another one, which may contain the secret or a placeholder such as
 * stars. Null where they are the same. The causes are those of a wrong signature, where one gives
 * the other text.
 */
export function compareMessages(signed: SignedRequest, message: string): Difference | null {
  const { request, secret, signer } = signed;
  const ours = signer.explain(request, secret).message;
  const { text: theirs, otherLength } = placeSecret(ours, message, secret);
  if (ours === theirs) return null;
  const difference = alikeLength(ours, theirs);
  const start = Math.max(0, difference - before);
  const end = difference + after;
  return {
    offset: firstDifference(Buffer.from(ours), Buffer.from(theirs)),
    ours: ours.slice(start, end),
    theirs: theirs.slice(start, end),
    alike: difference - start,
    causes: causesOf(signed, ours, theirs, otherLength),
  };
}

function causesOf(
  signed: SignedRequest,
  ours: string,
  theirs: string,
  otherLength: number | null,
): string[] {
  if (otherLength === null) return findCauses(signed, ours, theirs);
  return [otherSecretCause(otherLength, signed.secret)];
}

/**
 * The length of the common prefix of two texts, in UTF-16 units. It never splits a surrogate pair.
 */
export function alikeLength(a: string, b: string): number {
  const length = firstDifference(a, b);
  const splitsPair = /[\ud800-\udbff]/.test(a[length - 1] ?? '');
  return splitsPair ? length - 1 : length;
}

/** Lengths are in UTF-16 units. */
function otherSecretCause(length: number, secret: Secret): string {
  const ours = secret.reveal().length;
  if (length === ours) {
    return `A different secret of the same length (${ours} characters).`;
  }
  return `A different secret: theirs has ${length} characters, ours ${ours}.`;
}

function firstDifference<T extends string | Buffer>(a: T, b: T): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}

const otherSecretLabel = '<another secret>';

/** Placeholders for a secret in logs and messages. */
const placeholder = /[*•…]{2,}|^x{3,}$|^<.*>$|^[{[(].*[)\]}]$|secret|your|密/i;

/** A text to sign without the secret. */
interface MaskedMessage {
  readonly text: string;
  /** The length of a secret that is not ours, in UTF-16 units; null where there is none. */
  readonly otherLength: number | null;
}

/**
 * Puts the label of the secret where the other text has the secret or a placeholder. `ours` is our
 * own masked text: it shows where the secret can be.
 */
function placeSecret(ours: string, theirs: string, secret: Secret): MaskedMessage {
  const theirSecret = textForLabel(ours, theirs);
  if (theirSecret === null) return { text: hideSecret(theirs, secret), otherLength: null };
  const isOurs = theirSecret === secret.reveal();
  const hidden = isOurs ? secretLabel : hideSecret(theirSecret, secret);
  if (hidden.includes(secretLabel)) {
    return { text: ours.replaceAll(secretLabel, () => hidden), otherLength: null };
  }
  if (placeholder.test(hidden)) return { text: ours, otherLength: null };
  const text = ours.replaceAll(secretLabel, otherSecretLabel);
  return { text, otherLength: hidden.length };
}

/**
 * What the other text has wherever ours has the label of the secret; null where they differ
 * elsewhere, too. Its length follows from the lengths of both texts.
 */
function textForLabel(ours: string, theirs: string): string | null {
  const literals = ours.split(secretLabel);
  const start = literals[0]?.length ?? 0;
  const length = (theirs.length - literals.join('').length) / (literals.length - 1);
  if (!(length >= 1)) return null;
  const text = theirs.slice(start, start + length);
  if (literals.join(text) !== theirs) return null;
  return text;
}

/** A shorter text would match by chance. */
const shortestForm = 4;

/** In one pass, so that no label is taken for the secret. Stars count as our secret. */
function hideSecret(text: string, secret: Secret): string {
  const plain = secret.reveal();
  const { rfc3986, form } = encoders;
  const forms = [plain, rfc3986(plain), form(plain), plain.toUpperCase(), plain.toLowerCase()];
  const patterns = forms.filter((written) => written.length >= shortestForm).map(escapePattern);
  return text.replace(new RegExp([...patterns, '[*•]{3,}'].join('|'), 'g'), secretLabel);
}

/**
 * What else than the text itself is known: a mistake that gives it, pairs or a stretch that only
 * one text has.
 */
function findCauses(signed: SignedRequest, ours: string, theirs: string): string[] {
  const mistakes = messageMistakes(signed, theirs).map(({ says }) => says);
  if (mistakes.length > 0) return mistakes.slice(0, 1);
  const causes = pairCauses(ours, theirs, signed.recipe?.params ?? recipeDefaults.params);
  if (causes.length > 0) return causes;
  return stretchCause(ours, theirs);
}

/** A part that only one of the texts has. */
function stretchCause(ours: string, theirs: string): string[] {
  if (ours.length < theirs.length) {
    const added = stretchIn(theirs, ours);
    return added === null ? [] : [`Theirs also has ${JSON.stringify(added)}.`];
  }
  const missing = stretchIn(ours, theirs);
  return missing === null ? [] : [`Theirs leaves out ${JSON.stringify(missing)}.`];
}

/** The one part without which the long text is the short one; null where they differ otherwise. */
function stretchIn(long: string, short: string): string | null {
  const start = firstDifference(short, long);
  const rest = short.slice(start);
  if (!long.endsWith(rest)) return null;
  return long.slice(start, long.length - rest.length);
}

/**
 * The names of pairs that only one of the texts has. Where hardly any is in both, they are not made
 * of such pairs.
 */
function pairCauses(ours: string, theirs: string, { pairSep, kvSep }: ParamsRule): string[] {
  if (pairSep === '' || kvSep === '') return [];
  const namesIn = (text: string) =>
    text.split(pairSep).map((pair) => pair.split(kvSep, 1)[0] ?? '');
  const ourNames = namesIn(ours);
  const theirNames = namesIn(theirs);
  const onlyOurs = namesOnlyIn(ourNames, theirNames);
  const onlyTheirs = namesOnlyIn(theirNames, ourNames);
  if (ourNames.length < 2 || onlyOurs.length === ourNames.length) return [];
  const causes: string[] = [];
  if (onlyOurs.length > 0) causes.push(`Theirs leaves out ${onlyOurs.join(', ')}.`);
  if (onlyTheirs.length > 0) causes.push(`Theirs also has ${onlyTheirs.join(', ')}.`);
  return causes;
}

function namesOnlyIn(names: readonly string[], otherNames: readonly string[]): string[] {
  const others = new Set(otherNames);
  return names.filter((name) => !others.has(name));
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
