import { type Choice, oneIn, sortByBits } from './cost.js';

/** The cost of one more place in a list. */
const placeBits = 0.8;

/** A choice that excludes the others of its group, if it has one. */
export interface Grouped<T> extends Choice<T> {
  readonly group?: string;
}

/**
 * Visits every ordered selection of the items that has a cost within `bound`. `visit` gets a list, which it must not
 * keep, and its cost; where it returns false, no list with this beginning is visited. The cost of an item depends
 * on what is left to choose from, so the last of many is nearly free.
 */
export function visitLists<T>(
  items: readonly Grouped<T>[],
  bound: number,
  visit: (list: readonly T[], bits: number) => boolean,
): void {
  const sorted = sortByBits(items);
  const shareOf = ({ bits }: Grouped<T>) => 2 ** -bits;
  const shares = new Map<unknown, number>();
  for (const item of items) {
    const group = item.group ?? item;
    shares.set(group, (shares.get(group) ?? 0) + shareOf(item));
  }
  const list: T[] = [];
  const used = new Set<unknown>();
  const extend = (bits: number, rest: number) => {
    for (const item of sorted) {
      const group = item.group ?? item;
      if (used.has(group)) continue;
      const total = bits + placeBits + Math.max(0, oneIn(rest / shareOf(item)));
      if (total > bound) return;
      list.push(item.value);
      if (visit(list, total)) {
        used.add(group);
        extend(total, rest - (shares.get(group) ?? 0));
        used.delete(group);
      }
      list.pop();
    }
  };
  const all = [...shares.values()].reduce((sum, share) => sum + share, 0);
  // Of few and unlikely items, none is the likeliest choice.
  extend(0, Math.max(1, all));
}
