export type Add<T> = (item: T, bits: number) => void;

/** Adds the items that cost from `from` to below `to`, in any order; others are ignored. */
type Make<T> = (from: number, to: number, add: Add<T>) => void;

/**
 * What the lists of a search may still hold, in characters: it bounds their memory, and the time to
 * make them.
 */
export interface Room {
  left: number;
}

/** Thrown by a list that would hold more. */
export class NoRoom extends Error {}

/** What an item takes besides its text, in characters. */
const itemCharacters = 100;

/** Resolution of costs: an eighth of a bit. */
const steps = 8;
export const costStep = 1 / steps;

/**
 * The cost in the resolution of lists: sums of such costs fall into exactly one of two adjacent
 * ranges.
 */
export function rounded(bits: number): number {
  return Math.floor(bits * steps) / steps;
}

/** Items up to this cost are made in the first step. */
const firstStage = 6;

/**
 * Items by cost, the cheapest first, made only as far as they are needed: most searches end long
 * before the expensive ones.
 */
export class LazyList<T> {
  /** A lower bound of the costs. */
  readonly least: number;
  /** The items made so far. */
  readonly items: T[] = [];
  /** Their costs, rounded. */
  readonly bits: number[] = [];
  readonly #make: Make<T>;
  readonly #maxBits: number;
  readonly #key: (item: T) => string;
  readonly #room: Room;
  readonly #known = new Set<string>();
  /** The number of items below each step of the cost. */
  readonly #cheaper: number[];
  #made: number;

  /**
   * `maxBits` bounds the cost, and `least` is below all; of items with the same `key` only the
   * cheapest is kept.
   */
  constructor(maxBits: number, key: (item: T) => string, room: Room, make: Make<T>, least = 0) {
    this.least = rounded(least);
    this.#made = Math.floor(least);
    this.#cheaper = new Array(this.#made * steps + 1).fill(0);
    this.#room = room;
    this.#maxBits = maxBits;
    this.#key = key;
    this.#make = make;
  }

  /**
   * The number of items that cost less than `bound`: they are `items[0]` to `items[count - 1]`.
   * Exact for a rounded bound.
   */
  countBelow(bound: number): number {
    while (this.#made < bound && this.#made < this.#maxBits) {
      const to = Math.min(this.#maxBits, Math.max(firstStage, this.#made + 1));
      this.#extend(this.#made, to);
      this.#made = to;
    }
    const step = Math.max(0, Math.ceil(bound * steps));
    return this.#cheaper[step] ?? this.items.length;
  }

  /** The lowest cost; infinite for an empty list. */
  get cheapest(): number {
    for (let bound = firstStage; this.items.length === 0 && this.#made < this.#maxBits; bound++) {
      this.countBelow(bound);
    }
    return this.bits[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Visits the items that cost from `from` to below `to`. */
  visit(from: number, to: number, take: Add<T>): void {
    const count = this.countBelow(to);
    for (let index = this.countBelow(from); index < count; index++) {
      take(this.items[index] as T, this.bits[index] ?? 0);
    }
  }

  #extend(from: number, to: number): void {
    const found = Array.from({ length: (to - from) * steps }, (): T[] => []);
    this.#make(from, to, (item, bits) => {
      if (bits >= from && bits < to) found[Math.floor((bits - from) * steps)]?.push(item);
    });
    for (const [step, items] of found.entries()) {
      for (const item of items) {
        if (this.#isKnown(item)) continue;
        this.items.push(item);
        this.bits.push(from + step / steps);
      }
      this.#cheaper.push(this.items.length);
    }
  }

  #isKnown(item: T): boolean {
    const key = this.#key(item);
    if (this.#known.has(key)) return true;
    this.#known.add(key);
    this.#room.left -= key.length + itemCharacters;
    if (this.#room.left < 0) throw new NoRoom();
    return false;
  }
}
