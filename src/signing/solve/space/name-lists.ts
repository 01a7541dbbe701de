import { type Choice, oneIn } from './choice.js';

/** What one more place in a list costs. */
const placeBits = 0.8;

/**
 * Every order of every few of the items whose price is within `bound`. `visit` gets a list, which it must not keep,
 * and its price; where it returns false, no list that begins so is visited. What is chosen is taken out of the rest,
 * so that the last of many is nearly free.
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
