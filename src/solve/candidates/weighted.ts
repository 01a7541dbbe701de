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

/** Takes a thing that costs so many bits. */
export type Add<T> = (item: T, bits: number) => void;

/** Makes what costs `from` or more and less than `to`, in any order; what it makes besides is left out. */
type Make<T> = (from: number, to: number, add: Add<T>) => void;

/** Prices are told apart by an eighth of a bit. */
const steps = 8;

/** The first items are made up to this price at once. */
const firstStage = 6;

/**
 * Things by price, the cheapest first, made only as far as they are asked for: most searches end long before the dear
 * ones are needed.
 */
export class GrowingList<T> {
  /** What was made so far. */
  readonly items: T[] = [];
  /** What each of them costs. */
  readonly bits: number[] = [];
  readonly #make: Make<T>;
  readonly #dearest: number;
  readonly #key: ((item: T) => string) | null;
  readonly #known = new Set<string>();
  /** How many items are cheaper than each step of the price. */
  readonly #cheaper: number[] = [0];
  #made = 0;

  /** Nothing dearer than `dearest` is made; of items with the same `key` only the cheapest is kept. */
  constructor(dearest: number, key: ((item: T) => string) | null, make: Make<T>) {
    this.#dearest = dearest;
    this.#key = key;
    this.#make = make;
  }

  /**
   * How many items are cheaper than `bound`: they are `items[0]` up to that. To the eighth of a bit, so that adjoining
   * ranges of prices neither overlap nor leave a gap.
   */
  countBelow(bound: number): number {
    while (this.#made < bound && this.#made < this.#dearest) {
      const to = Math.min(this.#dearest, Math.max(firstStage, this.#made + 1));
      this.#extend(this.#made, to);
      this.#made = to;
    }
    const step = Math.max(0, Math.ceil(bound * steps));
    return this.#cheaper[step] ?? this.items.length;
  }

  /** No item is cheaper; what nothing costs where there is none. */
  get cheapest(): number {
    for (let bound = firstStage; this.items.length === 0 && this.#made < this.#dearest; bound++) {
      this.countBelow(bound);
    }
    return this.bits[0] ?? Number.POSITIVE_INFINITY;
  }

  /** The items that cost `from` or more and less than `to`. */
  visit(from: number, to: number, take: Add<T>): void {
    const count = this.countBelow(to);
    for (let index = this.countBelow(from); index < count; index++) {
      take(this.items[index] as T, this.bits[index] ?? 0);
    }
  }

  /** A list of what `change` makes of the items, up to a price, each at its own; null leaves one out. */
  map<U>(dearest: number, change: (item: T) => U | null): GrowingList<U> {
    return new GrowingList<U>(Math.min(dearest, this.#dearest), null, (from, to, add) => {
      this.visit(from, to, (item, bits) => {
        const changed = change(item);
        if (changed !== null) add(changed, bits);
      });
    });
  }

  #extend(from: number, to: number): void {
    const found: { readonly items: T[]; readonly bits: number[] }[] = [];
    this.#make(from, to, (item, bits) => {
      if (bits < from || bits >= to) return;
      const step = Math.floor((bits - from) * steps);
      const place = found[step] ?? { items: [], bits: [] };
      place.items.push(item);
      place.bits.push(bits);
      found[step] = place;
    });
    for (let step = 0; step < (to - from) * steps; step++) {
      found[step]?.items.forEach((item, index) => {
        if (this.#isKnown(item)) return;
        this.items.push(item);
        this.bits.push(found[step]?.bits[index] ?? 0);
      });
      this.#cheaper.push(this.items.length);
    }
  }

  #isKnown(item: T): boolean {
    if (this.#key === null) return false;
    const key = this.#key(item);
    if (this.#known.has(key)) return true;
    this.#known.add(key);
    return false;
  }
}

/** A function that makes something for each of its arguments once. */
export function once<A, T>(make: (argument: A) => T): (argument: A) => T {
  const made = new Map<A, T>();
  return (argument) => {
    const known = made.get(argument);
    if (known !== undefined) return known;
    const result = make(argument);
    made.set(argument, result);
    return result;
  };
}
