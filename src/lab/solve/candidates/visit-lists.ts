import { type Choice, oneIn, sortByBits } from './cost.js';

/** The cost of one more place in a list. */
const placeBits = 0.8;

/** A choice that excludes the others of its group, if it has one. */
export interface Grouped<T> extends Choice<T> {
  readonly group?: string;
  /** The group without which it cannot be in a list, and behind which it is. */
  readonly after?: string;
}

/**
 * Visits every ordered selection of the items that has a cost within `bound`. `visit` gets a list,
 * which it must not keep, and its cost; where it returns false, no list with this beginning is
 * visited. The cost of an item depends on what is left to choose from, so the last of many is
 * nearly free.
 */
export function visitLists<T>(
  items: readonly Grouped<T>[],
  bound: number,
  visit: (list: readonly T[], bits: number) => boolean,
): void {
  const sorted = sortByBits(items);
  const shareOf = ({ bits }: Grouped<T>) => 2 ** -bits;
  const shares = new Map<unknown, number>();
  /** What can be chosen behind a group, and behind nothing. */
  const opened = new Map<unknown, number>();
  const addTo = (sums: Map<unknown, number>, key: unknown, share: number) =>
    sums.set(key, (sums.get(key) ?? 0) + share);
  for (const item of items) {
    addTo(shares, item.group ?? item, shareOf(item));
    addTo(opened, item.after, shareOf(item));
  }
  const list: T[] = [];
  const used = new Set<unknown>();
  const extend = (bits: number, rest: number) => {
    for (const item of sorted) {
      const group = item.group ?? item;
      if (used.has(group) || (item.after !== undefined && !used.has(item.after))) continue;
      const total = bits + placeBits + Math.max(0, oneIn(rest / shareOf(item)));
      if (total > bound) return;
      list.push(item.value);
      if (visit(list, total)) {
        used.add(group);
        extend(total, rest - (shares.get(group) ?? 0) + (opened.get(group) ?? 0));
        used.delete(group);
      }
      list.pop();
    }
  };
  // Of few and unlikely items, none is the likeliest choice.
  extend(0, Math.max(1, opened.get(undefined) ?? 0));
}
