import type { Entry } from './param-selection.js';
import type { ParamsRule } from './recipe.js';
import { sortStably } from './stable-sort.js';

type Compare = (a: Entry, b: Entry) => number;

/** Puts entries into the recipe's order, in place; `writePair` is what `pair` orders by. */
export function compileOrder(
  order: ParamsRule['order'],
  writePair: (entry: Entry) => string,
): (entries: Entry[]) => Entry[] {
  if (order === 'sent') return (entries) => entries;
  const compare = compileCompare(order, writePair);
  return (entries) => sortStably(entries, compare);
}

function compileCompare(
  order: Exclude<ParamsRule['order'], 'sent'>,
  writePair: (entry: Entry) => string,
): Compare {
  switch (order) {
    case 'name':
      return (a, b) => compareTexts(a[0], b[0]);
    case 'name-nocase':
      return (a, b) => compareTexts(a[0].toLowerCase(), b[0].toLowerCase());
    case 'value':
      return (a, b) => compareTexts(a[1], b[1]);
    case 'pair':
      return (a, b) => compareTexts(writePair(a), writePair(b));
    case 'pair-nocase':
      return (a, b) => compareTexts(writePair(a).toLowerCase(), writePair(b).toLowerCase());
    default: {
      const rank = new Map(order.map((name, index) => [name, index]));
      return (a, b) => (rank.get(a[0]) ?? 0) - (rank.get(b[0]) ?? 0);
    }
  }
}

/** By UTF-16 code unit, never by locale. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
