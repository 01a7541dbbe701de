import { decodePercent, encoders, escapePattern } from '../../signing/encodings.js';
import { type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import { type Secret, secretLabel } from '../../signing/secret.js';
import { sortMembers } from './request-suspects.js';

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

type Separators = Pick<ParamsRule, 'pairSep' | 'kvSep'>;

const before = 24;
const after = 40;

/**
 * Compares our text to sign, with a label in place of the secret, with another text, which may contain the secret
 * or a placeholder such as stars. Null where they are the same.
 */
export function compareMessages(
  ours: string,
  given: string,
  secret: Secret,
  separators: Separators = recipeDefaults.params,
): Difference | null {
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
      otherLength === null ? findCauses(ours, theirs, separators) : [otherSecretCause(otherLength, secret)],
  };
}

/** The length of the common prefix of two texts, in UTF-16 units. It never splits a surrogate pair. */
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
 * Puts the label of the secret where the other text has the secret or a placeholder. `ours` is our own masked
 * text: it shows where the secret can be. `otherLength` is the length of a secret that is not ours.
 */
function placeSecret(
  ours: string,
  theirs: string,
  secret: Secret,
): { readonly text: string; readonly otherLength: number | null } {
  // Our text with one other text in each place of the secret: its length follows from that of both texts.
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

function findCauses(ours: string, theirs: string, separators: Separators): string[] {
  const whole = textCause(ours, theirs);
  if (whole !== null) return [`${whole}.`];
  if (withoutSecret(ours, separators) === withoutSecret(theirs, separators)) return [secretCause(theirs)];
  const causes = pairCauses(ours, theirs, separators);
  return (causes.length > 0 ? causes : stretchCause(ours, theirs)).map((cause) => `${cause}.`);
}

/** A part that only one of the texts has. */
function stretchCause(ours: string, theirs: string): string[] {
  const [short, long, words] =
    ours.length < theirs.length ? [ours, theirs, 'Theirs has also'] : [theirs, ours, 'Theirs leaves out'];
  const start = firstDifference(short, long);
  const rest = short.slice(start);
  return long.endsWith(rest)
    ? [`${words} ${JSON.stringify(long.slice(start, long.length - rest.length))}`]
    : [];
}

function secretCause(theirs: string): string {
  return theirs.includes(secretLabel)
    ? 'The secret stands at another place, or under another name.'
    : 'Theirs has no secret in it, or another one than ours.';
}

/** The parameters alone: without pairs that contain the secret, and without a secret at the end. */
function withoutSecret(text: string, { pairSep, kvSep }: Separators): string {
  if (pairSep === '') return text.replaceAll(secretLabel, '');
  const holdsSecret = (pair: string) =>
    pair === secretLabel || (kvSep !== '' && pair.endsWith(kvSep + secretLabel));
  return text
    .split(pairSep)
    .filter((pair) => !holdsSecret(pair))
    .join(pairSep)
    .replaceAll(secretLabel, '');
}

type Pair = readonly [name: string, value: string];

/** The differences between the pairs of two texts to sign, in words. */
function pairCauses(ours: string, theirs: string, separators: Separators): string[] {
  const [a, b] = [splitPairs(ours, separators), splitPairs(theirs, separators)];
  // Of a name that repeats, the first value.
  const [ourValues, theirValues] = [new Map(a.toReversed()), new Map(b.toReversed())];
  const onlyOurs = a.filter(([name]) => !theirValues.has(name));
  const onlyTheirs = b.filter(([name]) => !ourValues.has(name));
  // Where hardly any pair is equal, one of the texts is not made of such pairs.
  if (a.length < 2 || onlyOurs.length === a.length) {
    return sortCharacters(ours) === sortCharacters(theirs)
      ? ['Order: the same characters, arranged otherwise']
      : [];
  }
  const common = (pairs: readonly Pair[], others: ReadonlyMap<string, string>) =>
    pairs.flatMap(([name]) => (others.has(name) ? name : [])).join('\n');
  return [
    ...missing('Theirs leaves out', onlyOurs),
    ...missing('Theirs has also', onlyTheirs),
    ...(common(a, theirValues) === common(b, ourValues) ? [] : [orderCause(b)]),
    ...a.flatMap(([name, value]) => {
      const other = theirValues.get(name);
      return other === undefined || other === value ? [] : [valueCause(name, value, other)];
    }),
  ];
}

function sortCharacters(text: string): string {
  return [...text].sort().join('');
}

function splitPairs(text: string, { pairSep, kvSep }: Separators): Pair[] {
  if (pairSep === '' || kvSep === '') return [];
  return text.split(pairSep).map((pair): Pair => {
    const at = pair.indexOf(kvSep);
    return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + kvSep.length)];
  });
}

function missing(words: string, pairs: readonly Pair[]): string[] {
  const empty = pairs.filter(([, value]) => value === '').map(([name]) => name);
  const full = pairs.filter(([, value]) => value !== '').map(([name]) => name);
  return [
    ...(empty.length > 0 ? [`${words} what is empty: ${empty.join(', ')}`] : []),
    ...(full.length > 0 ? [`${words} ${full.join(', ')}`] : []),
  ];
}

function orderCause(theirs: readonly Pair[]): string {
  // The last pair may be the secret's, after the sorted ones.
  const sorted = theirs.slice(0, -1);
  const known = orders.find(([, key]) => isAscending(sorted.map(key)));
  if (known !== undefined) return `Order: theirs is sorted by ${known[0]}`;
  const isBackwards = isAscending(sorted.map(([name]) => name).reverse());
  return `Order: theirs is ${isBackwards ? 'sorted by name, backwards' : 'another one'}`;
}

const orders: readonly (readonly [words: string, key: (pair: Pair) => string])[] = [
  ['name', ([name]) => name],
  ['name, upper and lower case alike', ([name]) => name.toLowerCase()],
  ['value', ([, value]) => value],
];

function isAscending(texts: readonly string[]): boolean {
  return texts.every((text, index) => index === 0 || (texts[index - 1] ?? '') <= text);
}

function valueCause(name: string, ours: string, theirs: string): string {
  const cause = textCause(ours, theirs);
  return `The value of ${name}${cause === null ? ' is another one' : `: ${cause.charAt(0).toLowerCase()}${cause.slice(1)}`}`;
}

function isSameNumber(a: string, b: string): boolean {
  const isNumber = (text: string) => /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  return isNumber(a) && isNumber(b) && Number(a) === Number(b);
}

function isSameTime(a: string, b: string): boolean {
  const [short = '', long = ''] = [a, b].sort((one, other) => one.length - other.length);
  return /^\d{10}$/.test(short) && /^\d{13}$/.test(long) && long.startsWith(short);
}

function isSameJson(a: string, b: string): boolean {
  const canonical = (text: string) => JSON.stringify(sortMembers(JSON.parse(text)));
  try {
    return canonical(a) === canonical(b);
  } catch {
    return false;
  }
}

/** The possible causes of a difference, and whether two texts differ by it alone. */
const causes: readonly (readonly [words: string, isAlone: (a: string, b: string) => boolean])[] = [
  ['Line breaks: one has CR LF, the other LF', without((text) => text.replaceAll('\r\n', '\n'))],
  ['A line break at the end of one of them', without((text) => text.replace(/\r?\n$/, ''))],
  ['White space at the beginning or the end of one of them', without((text) => text.trim())],
  ['Letter case of the percent escapes: %2f and %2F', without(upperEscapes)],
  [
    'Encoding: a space is + in one of them and %20 in the other',
    without((text) => text.replaceAll('+', '%20')),
  ],
  ['Encoding: one of them is percent-encoded, the other is not, or not as often', without(decodeAll)],
  [
    'Encoding: one of them is form-encoded (a space as +), the other is not',
    without((text) => decodeAll(text.replaceAll('+', ' '))),
  ],
  ['Escapes: one of them has \\u escapes for non-ASCII characters', without(unescapeUnicode)],
  ['Escapes: one of them has \\/ for slashes', without((text) => text.replaceAll('\\/', '/'))],
  ['Letter case', without((text) => text.toLowerCase())],
  ['Unicode normal form: the same characters in other bytes', without((text) => text.normalize('NFC'))],
  ['White space inside', without((text) => text.replace(/\s/g, ''))],
  ['Invisible characters', without((text) => text.replace(/[\p{Cf}\p{Cc}]/gu, ''))],
  ['The same number, written otherwise', isSameNumber],
  ['The same JSON, written otherwise (order of keys, spaces, escapes)', isSameJson],
  ['Seconds in one of them, milliseconds in the other', isSameTime],
];

/** The only cause of the difference between two texts, in words; null where there is no single cause. */
function textCause(ours: string, theirs: string): string | null {
  return causes.find(([, isAlone]) => isAlone(ours, theirs))?.[0] ?? null;
}

/** Compares what is left of texts without a cause of difference. */
function without(even: (text: string) => string): (a: string, b: string) => boolean {
  return (a, b) => even(a) === even(b);
}

function upperEscapes(text: string): string {
  return text.replace(/%[\da-f]{2}/gi, (found) => found.toUpperCase());
}

/** Nobody encodes a text more often than that. */
const mostEncodings = 3;

function decodeAll(text: string): string {
  let decoded = text;
  for (let level = 0; level < mostEncodings; level++)
    decoded = decoded.replace(/(?:%[\da-f]{2})+/gi, decodePercent);
  return decoded;
}

function unescapeUnicode(text: string): string {
  return text.replace(/\\u([\da-f]{4})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
