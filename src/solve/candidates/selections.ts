import type { ParamsRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { type ParameterRole, roleOf } from './pieces.js';
import { type Choice, oneIn, sortByBits, type Weighted } from './weighted.js';

/** Which parameters are included. */
interface Selection extends Weighted {
  readonly rule: Pick<ParamsRule, 'exclude' | 'include' | 'empty' | 'nameCase' | 'joinRepeated'>;
}

/** The cost of excluding a parameter of this role by name. */
const exclusionBits: Readonly<Record<ParameterRole, number>> = {
  signing: 2.2,
  session: 3.5,
  app: 5.5,
  time: 5.5,
  nonce: 5.5,
  other: 4.5,
};

/** Names of signatures. Whether one signature covers another is about as likely as not. */
const signatureName = /sign|^sig$/i;

/** The selections with a cost within `bound`, the likeliest first; `names` are those of all samples. */
export function selections(params: readonly Param[], names: readonly string[], bound: number): Selection[] {
  const found: Selection[] = [];
  const { foldings, joinings } = foldingsOf(params);
  for (const { fields, bits } of [...exclusions(names, bound), ...inclusions(names, bound)]) {
    for (const [empty, emptyBits] of [
      ['keep', 1.1],
      ['drop', 0.9],
    ] as const) {
      for (const [nameCase, caseBits] of foldings) {
        for (const [joinRepeated, joinBits] of joinings) {
          const total = bits + emptyBits + caseBits + joinBits;
          if (total > bound) continue;
          const fold = caseFolds[nameCase];
          found.push({
            rule: {
              exclude: fields.exclude.map(fold),
              include: fields.include?.map(fold) ?? null,
              empty,
              nameCase,
              joinRepeated,
            },
            bits: total,
          });
        }
      }
    }
  }
  return sortByBits(found);
}

const caseFolds = {
  none: (text: string) => text,
  lower: (text: string) => text.toLowerCase(),
  upper: (text: string) => text.toUpperCase(),
} as const;

function foldingsOf(params: readonly Param[]) {
  const isRepeated = new Set(params.map(([name]) => name)).size < params.length;
  const foldings = [
    ['none', 0.1],
    ['lower', 6],
    ['upper', 6],
  ] as const;
  const joinings: readonly (readonly [string | null, number])[] = isRepeated
    ? [
        [null, 1],
        [',', 1.5],
        ['', 3],
        ['|', 4],
        [';', 4],
      ]
    : [[null, 0]];
  return { foldings, joinings };
}

interface NameLists extends Weighted {
  readonly fields: Pick<ParamsRule, 'exclude' | 'include'>;
}

/** No exclusion, then one, two and three names; then all parameters that serve the call alone. */
function exclusions(names: readonly string[], bound: number): NameLists[] {
  const priced = names.map((name) => ({ name, bits: exclusionPrice(name, names) }));
  const lists: NameLists[] = [{ fields: { exclude: [], include: null }, bits: 0.3 }];
  const extend = (from: number, chosen: readonly string[], bits: number) => {
    if (chosen.length === 3) return;
    for (let index = from; index < priced.length; index++) {
      const next = priced[index];
      if (next === undefined || bits + next.bits > bound) continue;
      const exclude = [...chosen, next.name];
      lists.push({ fields: { exclude, include: null }, bits: bits + next.bits });
      extend(index + 1, exclude, bits + next.bits);
    }
  };
  extend(0, [], 0.3);
  const system = names.filter((name) => roleOf(name) !== 'other');
  if (system.length > 1 && system.length < names.length) {
    lists.push({ fields: { exclude: system, include: null }, bits: 4 });
    const proof = names.filter((name) => ['app', 'time', 'nonce'].includes(roleOf(name)));
    if (proof.length > 0) lists.push({ fields: { exclude: proof, include: null }, bits: 4 });
  }
  return lists;
}

function exclusionPrice(name: string, names: readonly string[]): number {
  if (signatureName.test(name)) return 1.8;
  const role = roleOf(name);
  const alike = names.filter((other) => roleOf(other) === role).length;
  return exclusionBits[role] + oneIn(alike) * 0.7;
}

/** Up to four of the names. */
function inclusions(names: readonly string[], bound: number): NameLists[] {
  const lists: NameLists[] = [];
  const priced = names.map((name) => ({ name, bits: inclusionPrice(name, names) }));
  const extend = (from: number, chosen: readonly string[], bits: number) => {
    if (chosen.length === 4) return;
    for (let index = from; index < priced.length; index++) {
      const next = priced[index];
      if (next === undefined || bits + next.bits > bound) continue;
      const include = [...chosen, next.name];
      if (include.length < names.length)
        lists.push({ fields: { exclude: [], include }, bits: bits + next.bits });
      extend(index + 1, include, bits + next.bits);
    }
  };
  extend(0, [], 4);
  return lists;
}

function inclusionPrice(name: string, names: readonly string[]): number {
  const role = roleOf(name);
  return role === 'app' || role === 'time' || role === 'nonce' ? 1.2 : 1 + oneIn(names.length);
}

/** The cost of one more place in a list. */
const placeBits = 0.8;

/**
 * Visits every ordered selection of the items with a cost within `bound`. `visit` gets a list, which it must not
 * keep, and its cost; where it returns false, no list with this beginning is visited. The cost of an item depends
 * on what is left to choose from, so the last of many is nearly free.
 */
export function visitLists<T>(
  items: readonly Choice<T>[],
  bound: number,
  visit: (list: readonly T[], bits: number) => boolean,
): void {
  const list: T[] = [];
  const used = items.map(() => false);
  const extend = (bits: number, rest: number) => {
    items.forEach((item, index) => {
      if (used[index]) return;
      const share = 2 ** -item.bits;
      const total = bits + placeBits + Math.max(0, oneIn(rest / share));
      if (total > bound) return;
      list.push(item.value);
      if (visit(list, total)) {
        used[index] = true;
        extend(total, rest - share);
        used[index] = false;
      }
      list.pop();
    });
  };
  extend(
    0,
    items.reduce((sum, { bits }) => sum + 2 ** -bits, 0),
  );
}
