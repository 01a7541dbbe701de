import { folds } from '../../signing/encodings.js';
import type { ParamsRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { type ParameterRole, roleOf } from './pieces.js';
import { type Choice, choice, oneIn, sortByBits, type Weighted } from './weighted.js';

/** Which parameters are included. */
interface Selection extends Weighted {
  readonly rule: Pick<ParamsRule, 'exclude' | 'include' | 'empty' | 'nameCase' | 'joinRepeated'>;
}

/** The cost of excluding a parameter of this role by name. */
const exclusionBitsOf: Readonly<Record<ParameterRole, number>> = {
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
  for (const { exclude, include, bits } of [...exclusions(names, bound), ...inclusions(names, bound)]) {
    for (const [empty, emptyBits] of [
      ['keep', 1.1],
      ['drop', 0.9],
    ] as const) {
      for (const [nameCase, caseBits] of foldings) {
        for (const [joinRepeated, joinBits] of joinings) {
          const total = bits + emptyBits + caseBits + joinBits;
          if (total > bound) continue;
          const fold = folds[nameCase];
          found.push({
            rule: {
              exclude: exclude.map(fold),
              include: include?.map(fold) ?? null,
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

/** The names that a rule lists. */
interface NameLists extends Weighted, Pick<ParamsRule, 'exclude' | 'include'> {}

/** No exclusion, then one, two and three names; then all parameters that serve the call alone. */
function exclusions(names: readonly string[], bound: number): NameLists[] {
  const costs = names.map((name) => choice(name, exclusionBits(name, names)));
  const lists: NameLists[] = [{ exclude: [], include: null, bits: 0.3 }];
  for (const { value, bits } of subsets(costs, 3, 0.3, bound)) {
    lists.push({ exclude: value, include: null, bits });
  }
  const system = names.filter((name) => roleOf(name) !== 'other');
  if (system.length > 1 && system.length < names.length) {
    lists.push({ exclude: system, include: null, bits: 4 });
    const proof = names.filter((name) => ['app', 'time', 'nonce'].includes(roleOf(name)));
    if (proof.length > 0) lists.push({ exclude: proof, include: null, bits: 4 });
  }
  return lists;
}

function exclusionBits(name: string, names: readonly string[]): number {
  if (signatureName.test(name)) return 1.8;
  const role = roleOf(name);
  const alike = names.filter((other) => roleOf(other) === role).length;
  return exclusionBitsOf[role] + oneIn(alike) * 0.7;
}

/** Up to four of the names, but not all. */
function inclusions(names: readonly string[], bound: number): NameLists[] {
  const costs = names.map((name) => choice(name, inclusionBits(name, names)));
  return subsets(costs, 4, 4, bound)
    .filter(({ value }) => value.length < names.length)
    .map(({ value, bits }) => ({ exclude: [], include: value, bits }));
}

function inclusionBits(name: string, names: readonly string[]): number {
  const role = roleOf(name);
  return role === 'app' || role === 'time' || role === 'nonce' ? 1.2 : 1 + oneIn(names.length);
}

/** The selections of one to `most` items, in their order, that cost at most `bound` on top of `spent`. */
function subsets<T>(items: readonly Choice<T>[], most: number, spent: number, bound: number): Choice<T[]>[] {
  return items.flatMap(({ value, bits }, index) => {
    const total = spent + bits;
    if (most === 0 || total > bound) return [];
    const longer = subsets(items.slice(index + 1), most - 1, total, bound);
    return [choice([value], total), ...longer.map((rest) => choice([value, ...rest.value], rest.bits))];
  });
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
