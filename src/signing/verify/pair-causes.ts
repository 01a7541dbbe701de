import type { Separators } from './compare-messages.js';
import { textCause } from './text-cause.js';

type Pair = readonly [name: string, value: string];

/** What the pairs of two texts to sign differ in, in words. */
export function pairCauses(ours: string, theirs: string, separators: Separators): string[] {
  const [a, b] = [splitPairs(ours, separators), splitPairs(theirs, separators)];
  const ourNames = a.map(([name]) => name);
  const theirNames = b.map(([name]) => name);
  const onlyOurs = a.filter(([name]) => !theirNames.includes(name));
  const onlyTheirs = b.filter(([name]) => !ourNames.includes(name));
  // Where next to nothing is alike, the one text is not made of such pairs.
  if (a.length < 2 || onlyOurs.length === a.length) {
    return sortCharacters(ours) === sortCharacters(theirs)
      ? ['Order: the same characters, arranged otherwise']
      : [];
  }
  return [
    ...missing('Theirs leaves out', onlyOurs),
    ...missing('Theirs has also', onlyTheirs),
    ...orderCause(a, b),
    ...a.flatMap(([name, value]) => {
      const other = b.find(([known]) => known === name);
      return other === undefined || other[1] === value ? [] : [valueCause(name, value, other[1])];
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

function orderCause(ours: readonly Pair[], theirs: readonly Pair[]): string[] {
  const common = (pairs: readonly Pair[], others: readonly Pair[]) =>
    pairs.map(([name]) => name).filter((name) => others.some(([other]) => other === name));
  const [a, b] = [common(ours, theirs), common(theirs, ours)];
  if (a.join('\n') === b.join('\n')) return [];
  const known = orders.find(({ compare }) => isSorted(theirs, compare));
  return [`Order: ${known === undefined ? 'theirs is another one' : `theirs is sorted by ${known.words}`}`];
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const orders: readonly { words: string; compare: (a: Pair, b: Pair) => number }[] = [
  { words: 'name', compare: (a, b) => compareTexts(a[0], b[0]) },
  {
    words: 'name, upper and lower case alike',
    compare: (a, b) => compareTexts(a[0].toLowerCase(), b[0].toLowerCase()),
  },
  { words: 'value', compare: (a, b) => compareTexts(a[1], b[1]) },
  { words: 'name, backwards', compare: (a, b) => compareTexts(b[0], a[0]) },
];

/** The last pair may be the secret's, behind the sorted ones. */
function isSorted(pairs: readonly Pair[], compare: (a: Pair, b: Pair) => number): boolean {
  const sorted = pairs.slice(0, -1);
  return sorted.every((pair, index) => {
    const next = sorted[index + 1];
    return next === undefined || compare(pair, next) <= 0;
  });
}

function valueCause(name: string, ours: string, theirs: string): string {
  const cause = textCause(ours, theirs);
  if (cause !== null) return `The value of ${name}: ${cause[0]?.toLowerCase()}${cause.slice(1)}`;
  if (isSameNumber(ours, theirs)) return `The value of ${name}: the same number, written otherwise`;
  if (isSameJson(ours, theirs))
    return `The value of ${name}: the same JSON, written otherwise (order of keys, spaces, escapes)`;
  if (isSameTime(ours, theirs))
    return `The value of ${name}: seconds in one of them, milliseconds in the other`;
  return `The value of ${name} is another one`;
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
  try {
    return canonical(JSON.parse(a)) === canonical(JSON.parse(b));
  } catch {
    return false;
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => compareTexts(x, y)))
      : inner,
  );
}
