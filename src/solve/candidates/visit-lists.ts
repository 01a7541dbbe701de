import { type Choice, oneIn } from './cost.js';

/** The cost of one more place in a list. */
const placeBits = 0.8;

/**
 * Visits every ordered selection of the items that has a cost within `bound`. `visit` gets a list, which it must not
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
