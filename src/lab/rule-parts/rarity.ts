/**
 * How usual something is: one rule in 2^bits has it. The bits of the parts of a rule add up, as if
 * these were independent.
 */
export interface Rated {
  readonly bits: number;
}

/** A value, and how usual it is. */
export interface Choice<T> extends Rated {
  readonly value: T;
}

/** Values by their bits: `choices([1, 'a', 'b'], [4, 'c'])`. */
export function choices<T>(
  ...rows: readonly (readonly [bits: number, ...values: T[]])[]
): Choice<T>[] {
  return rows.flatMap(([bits, ...values]) => values.map((value) => ({ value, bits })));
}

/** The most usual first; equal ones stay in their order. */
export function byBits<T extends Rated>(things: Iterable<T>): T[] {
  return [...things].sort((a, b) => a.bits - b.bits);
}

/** The number of things with at most these bits, in a list that is sorted by them. */
export function countWithin(sorted: readonly Rated[], bits: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.bits ?? 0) <= bits) low = middle + 1;
    else high = middle;
  }
  return low;
}
