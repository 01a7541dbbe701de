/** Something that has a price: one documented rule in 2^bits has it, as far as the known ones tell. */
export interface Weighed {
  readonly bits: number;
}

/** One way to say a part of a rule. */
export interface Choice<T> extends Weighed {
  readonly value: T;
}

export function choice<T>(value: T, bits: number): Choice<T> {
  return { value, bits };
}

/** The likeliest first; what is as likely stays in its order. */
export function sortByBits<T extends Weighed>(things: readonly T[]): T[] {
  return [...things].sort((a, b) => a.bits - b.bits);
}

/** Where in a list, the cheapest first, things begin to cost so much. */
export function firstFrom(things: readonly Weighed[], bits: number): number {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((things[middle]?.bits ?? 0) < bits) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The likeliest of those that `key` cannot tell apart, the likeliest first. */
export function distinctBy<T extends Weighed>(things: readonly T[], key: (thing: T) => string): T[] {
  const kept = new Map<string, T>();
  for (const thing of sortByBits(things)) {
    const name = key(thing);
    if (!kept.has(name)) kept.set(name, thing);
  }
  return [...kept.values()];
}

/** One in so many, as bits. */
export function oneIn(count: number): number {
  return Math.log2(count);
}

/** Prices from `from` up to, but not, `to`. */
export interface PriceRange {
  readonly from: number;
  readonly to: number;
}

/** The same prices for what costs `spent` already. */
export function lessSpent({ from, to }: PriceRange, spent: number): PriceRange {
  return { from: from - spent, to: to - spent };
}
