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
export function compareMessages(signed: SignedRequest, given: string): Difference | null {
  const { request, secret, signer } = signed;
  const ours = signer.explain(request, secret).message;
  const { text: theirs, otherLength } = placeSecret(ours, given, secret);
  if (ours === theirs) return null;
  const at = alikeLength(ours, theirs);
  const start = Math.max(0, at - before);
  return {
    offset: firstDifference(Buffer.from(ours), Buffer.from(theirs)),
    ours: ours.slice(start, at + after),
    theirs: theirs.slice(start, at + after),
    alike: at - start,
    causes:
      otherLength === null
        ? findCauses(signed, ours, theirs)
        : [otherSecretCause(otherLength, secret)],
  };
}

/**
 * The length of the common prefix of two texts, in UTF-16 units. It never splits a surrogate pair.
 */
export function alikeLength(a: string, b: string): number {
  const at = firstDifference(a, b);
  return /[\ud800-\udbff]/.test(a[at - 1] ?? '') ? at - 1 : at;
}

function otherSecretCause(length: number, secret: Secret): string {
  const ours = secret.reveal().length;
  return length === ours
    ? `Another secret than ours, of the same length (${ours} characters).`
    : `Another secret than ours: theirs has ${length} characters, ours ${ours}.`;
}

function firstDifference<T extends string | Buffer>(a: T, b: T): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

const other = '<another secret>';

/** Placeholders for a secret in logs and messages. */
const placeholder = /[*•…]{2,}|^x{3,}$|^<.*>$|^[{[(].*[)\]}]$|secret|your|密/i;

/**
 * Puts the label of the secret where the other text has the secret or a placeholder. `ours` is our
 * own masked text: it shows where the secret can be. `otherLength` is the length of a secret that
 * is not ours.
 */
function placeSecret(
  ours: string,
  theirs: string,
  secret: Secret,
): { readonly text: string; readonly otherLength: number | null } {
  // Our text with one other text in each place of the secret: its length follows from that of both
  // texts.
  const literals = ours.split(secretLabel);
  const start = literals[0]?.length ?? 0;
  const length = (theirs.length - literals.join('').length) / (literals.length - 1);
  const given = theirs.slice(start, start + length);
  const found = length >= 1 && literals.join(given) === theirs ? given : undefined;
  if (found === undefined) return { text: hideSecret(theirs, secret), otherLength: null };
  const hidden = found === secret.reveal() ? secretLabel : hideSecret(found, secret);
  if (hidden.includes(secretLabel))
    return { text: ours.replaceAll(secretLabel, () => hidden), otherLength: null };
  return placeholder.test(hidden)
    ? { text: ours, otherLength: null }
    : { text: ours.replaceAll(secretLabel, other), otherLength: hidden.length };
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
  return causes.length > 0 ? causes : stretchCause(ours, theirs);
}

/** A part that only one of the texts has. */
function stretchCause(ours: string, theirs: string): string[] {
  const [short, long, words] =
    ours.length < theirs.length
      ? [ours, theirs, 'Theirs has also']
      : [theirs, ours, 'Theirs leaves out'];
  const start = firstDifference(short, long);
  const rest = short.slice(start);
  return long.endsWith(rest)
    ? [`${words} ${JSON.stringify(long.slice(start, long.length - rest.length))}.`]
    : [];
}

/**
 * The names of pairs that only one of the texts has. Where hardly any is in both, they are not made
 * of such pairs.
 */
function pairCauses(ours: string, theirs: string, { pairSep, kvSep }: ParamsRule): string[] {
  if (pairSep === '' || kvSep === '') return [];
  const [own, others] = [ours, theirs].map((text) =>
    text.split(pairSep).map((pair) => pair.split(kvSep, 1)[0] ?? ''),
  ) as [string[], string[]];
  const [ownNames, otherNames] = [new Set(own), new Set(others)];
  const onlyOurs = own.filter((name) => !otherNames.has(name));
  const onlyTheirs = others.filter((name) => !ownNames.has(name));
  if (own.length < 2 || onlyOurs.length === own.length) return [];
  return [
    ...(onlyOurs.length > 0 ? [`Theirs leaves out ${onlyOurs.join(', ')}.`] : []),
    ...(onlyTheirs.length > 0 ? [`Theirs has also ${onlyTheirs.join(', ')}.`] : []),
  ];
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
