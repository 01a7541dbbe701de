import type { Recipe } from '../../../core/signing/recipe.js';

/** A cost in bits: one documented rule in 2^bits has this part. */
export interface Weighted {
  readonly bits: number;
}

/** A recipe that may be the rule, with its cost. */
export interface RecipeCandidate extends Weighted {
  readonly recipe: Recipe;
}

/** A possible part of a rule, with its cost. */
export interface Choice<T> extends Weighted {
  readonly value: T;
}

export function choice<T>(value: T, bits: number): Choice<T> {
  return { value, bits };
}

/** Choices by their cost: `[2.5, ',', '|']`. */
export function choices<T>(
  ...table: readonly (readonly [bits: number, ...values: T[]])[]
): Choice<T>[] {
  return table.flatMap(([bits, ...values]) => values.map((value) => choice(value, bits)));
}

/** Every pair of choices, made into one; their costs add up. */
export function combined<A, B, C>(
  ones: readonly Choice<A>[],
  others: readonly Choice<B>[],
  make: (one: A, other: B) => C,
): Choice<C>[] {
  return ones.flatMap((one) =>
    others.map((other) => choice(make(one.value, other.value), one.bits + other.bits)),
  );
}

/** The cheapest first; a stable sort. */
export function sortByBits<T extends Weighted>(things: readonly T[]): T[] {
  return [...things].sort((a, b) => a.bits - b.bits);
}

/** The index of the first item, in a list sorted by cost, that costs at least `bits`. */
export function firstFrom(things: readonly Weighted[], bits: number): number {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((things[middle]?.bits ?? 0) < bits) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The cheapest item of each key, the cheapest first. */
export function distinctBy<T extends Weighted>(
  things: readonly T[],
  key: (thing: T) => string,
): T[] {
  const kept = new Map<string, T>();
  for (const thing of sortByBits(things)) {
    const name = key(thing);
    if (!kept.has(name)) kept.set(name, thing);
  }
  return [...kept.values()];
}

/** One in `count`, in bits. */
export function oneIn(count: number): number {
  return Math.log2(count);
}

/** Costs from `from` to below `to`. */
export interface CostRange {
  readonly from: number;
  readonly to: number;
}

/** The range that is left after `spent`. */
export function lessSpent({ from, to }: CostRange, spent: number): CostRange {
  return { from: from - spent, to: to - spent };
}
