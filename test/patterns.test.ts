import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** An atom of a pattern, with the characters it can match and whether it repeats without a bound. */
interface Atom {
  readonly source: string;
  readonly repeats: boolean;
  readonly isOptional: boolean;
  /** The alternatives of a group; null for a single character. */
  readonly group: readonly (readonly Atom[])[] | null;
}

const samples = [...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)), '\u2028', '中'];
const charsets = new Map<string, ReadonlySet<string>>();

function charsetOf({ source, group }: Atom, flags: string): ReadonlySet<string> {
  if (group !== null) return new Set(group.flat().flatMap((atom) => [...charsetOf(atom, flags)]));
  const key = `${flags} ${source}`;
  const known = charsets.get(key);
  if (known !== undefined) return known;
  let pattern: RegExp;
  try {
    pattern = new RegExp(`^(?:${source})$`, flags.replace(/[gmyd]/g, ''));
  } catch {
    pattern = /^$/;
  }
  const set = new Set(samples.filter((character) => pattern.test(character)));
  charsets.set(key, set);
  return set;
}

/** Parses alternatives up to the closing bracket. Look-around and back references match nothing here. */
function parse(text: string, at = 0): { readonly alternatives: Atom[][]; readonly end: number } {
  const alternatives: Atom[][] = [[]];
  let index = at;
  while (index < text.length && text[index] !== ')') {
    if (text[index] === '|') {
      alternatives.push([]);
      index += 1;
      continue;
    }
    let group: Atom[][] | null = null;
    let end: number;
    if (text[index] === '(') {
      const [open = '('] = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(text.slice(index)) ?? [];
      const inner = parse(text, index + open.length);
      group = /[=!]$/.test(open) ? [[]] : inner.alternatives;
      end = inner.end + 1;
    } else {
      const [one = ''] =
        /^(?:\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S])/i.exec(
          text.slice(index),
        ) ?? [];
      end = index + one.length;
    }
    const source = text.slice(index, end);
    const [quantifier = ''] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(text.slice(end)) ?? [];
    const repeats = /^[*+]|^\{\d+,\}/.test(quantifier);
    alternatives.at(-1)?.push({ source, repeats, isOptional: /^[*?]|^\{0/.test(quantifier), group });
    index = end + quantifier.length;
  }
  return { alternatives, end: index };
}

function overlaps(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((character) => other.has(character));
}

/** The atoms that can come first, or last, in an atom. */
function edgeOf(atom: Atom, end: 0 | -1, flags: string): ReadonlySet<string> {
  if (atom.group === null) return charsetOf(atom, flags);
  const edges = atom.group.flatMap((sequence) => sequence.at(end) ?? []);
  return new Set(edges.flatMap((edge) => [...edgeOf(edge, end, flags)]));
}

/** Groups that neither repeat nor choose, as their atoms. */
function flatten(atoms: readonly Atom[]): Atom[] {
  return atoms.flatMap((atom) => {
    const [only, ...others] = atom.group ?? [];
    const isPlain =
      only !== undefined && only.length > 0 && others.length === 0 && !atom.repeats && !atom.isOptional;
    return isPlain ? flatten(only) : [atom];
  });
}

/** The first thing in a pattern that can take more than linear time, in words; null where there is none. */
function faultOf(alternatives: readonly (readonly Atom[])[], flags: string): string | null {
  for (const atoms of alternatives.map(flatten)) {
    for (const [index, atom] of atoms.entries()) {
      // Two repeats side by side that take the same characters, with only what may be empty between them.
      for (const other of atom.repeats ? atoms.slice(index + 1) : []) {
        // Under the flag s, a dot takes all the rest: nothing is tried again.
        const takesAll = other.source === '.' && flags.includes('s') && atoms.at(-2) === other;
        if (other.repeats && !takesAll && overlaps(edgeOf(atom, -1, flags), edgeOf(other, 0, flags))) {
          return `two repeats of the same: ${atom.source} … ${other.source}`;
        }
        if (!other.isOptional) break;
      }
      if (atom.group === null) continue;
      const inner = faultOf(atom.group, flags);
      if (inner !== null) return inner;
      for (const sequence of atom.repeats ? atom.group : []) {
        // A repeat in a repeat is told apart by a mark before or behind it that it does not take.
        const fixed = sequence.filter((other) => !other.isOptional && !other.repeats);
        const isMarked = (repeat: Atom) =>
          fixed.some((mark) => !overlaps(charsetOf(mark, flags), charsetOf(repeat, flags)));
        if (!sequence.filter(({ repeats }) => repeats).every(isMarked)) {
          return `a repeat in a repeat: ${atom.source}`;
        }
      }
    }
  }
  return null;
}

/**
 * Whether a pattern begins with a repeat, at any place of a text, and can fail behind it: each place of a run of what it
 * repeats is then tried to the end of the run.
 */
function hasOpenStart(alternatives: readonly (readonly Atom[])[], flags: string): boolean {
  if (flags.includes('y')) return false;
  return alternatives.map(flatten).some(([first, ...others]) => {
    if (first === undefined) return false;
    const isOpen = first.group !== null && !first.repeats && hasOpenStart(first.group, flags);
    return isOpen || (first.repeats && others.some(({ isOptional }) => !isOptional));
  });
}

const literal =
  /(?<![\w)\]$])\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)(?=[\s.,;)\]:?}]|$)/g;

function* patternsIn(file: string): Generator<readonly [source: string, flags: string]> {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (/^\s*(?:\*|\/\/|\/\*)/.test(line)) continue;
    for (const [, source = '', flags = ''] of line.matchAll(literal)) yield [source, flags];
  }
}

it.each([
  ['@a=\\s*(.*?)\\s*$', 'two repeats'],
  ['`{3,}[^\\n]*\\n', 'two repeats'],
  ['^(\\w+\\s?)*$', 'a repeat in a repeat'],
  ['(?:a+)+b', 'a repeat in a repeat'],
  ['^[^:]+:[ \\t]*(.*?)[ \\t]*$', 'two repeats'],
])('%s is found', (source, fault) => {
  expect(faultOf(parse(source).alternatives, 's')).toMatch(fault);
});

it.each(['"(?:[^"\\\\]|\\\\.)*"', '^[a-z]+(?:\\.[a-z]+)*$', '^\\s*\\{', '\\d+(?:,\\d{3})*'])(
  '%s is not',
  (source) => {
    expect(faultOf(parse(source).alternatives, '')).toBeNull();
  },
);

it.each(['[\\r\\n]+$', '(\\w+)\\s*=', 'a|\\s+$'])('%s is tried at each place of a run', (source) => {
  expect(hasOpenStart(parse(source).alternatives, '')).toBe(true);
});

it.each(['^\\s+$', '\\s+', '(?:%[\\da-f]{2})+', 'a\\s+$'])('%s is not', (source) => {
  expect(hasOpenStart(parse(source).alternatives, '')).toBe(false);
});

it('no pattern of src takes more than linear time by repeats that share characters', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const faults = files.flatMap((name) =>
    [...patternsIn(join('src', name))].flatMap(([source, flags]) => {
      const { alternatives } = parse(source);
      const fault =
        faultOf(alternatives, flags) ??
        (hasOpenStart(alternatives, flags) ? 'a repeat at an open start' : null);
      return fault === null ? [] : [`${name}: /${source}/ has ${fault}`];
    }),
  );
  expect(faults).toEqual([]);
});
