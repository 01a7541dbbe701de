import { canonicalLists } from '../candidates/canonical-lists.js';
import type { Chain } from '../candidates/chains.js';
import { type CostRange, firstFrom, lessSpent, sortByBits } from '../candidates/cost.js';
import type { Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  type Finish,
  finishesOf,
  hintCheck,
  listBits,
  listItems,
  maxHintedBits,
  maxListBits,
  placeSecret,
} from '../candidates/value-lists.js';
import { visitLists } from '../candidates/visit-lists.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Fits } from './compiled-chain.js';
import type { Share, Tally } from './shares.js';

const maxFinishBits = 15;

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export function listSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, tally: Tally) => void {
  const items = listItems(space);
  const { isOrdered, isWhole, count } = hintCheck(space);
  const bound = count > 0 ? maxHintedBits : maxListBits;
  const canonical = count > 0 ? [] : sortByBits(canonicalLists(space));
  const finishes = finishesOf(space, maxFinishBits);
  return (share, tally) => {
    const { part, parts, to } = share;
    const maxBits = Math.min(bound, to - listBits - (finishes[0]?.bits ?? 0));
    canonical.forEach((list, index) => {
      if (index % parts !== part || list.bits > maxBits || tally.hit !== null) return;
      const spent = listBits + list.bits;
      tryList(list.value, finishes, fitsOf, spent, lessSpent(share, spent), tally);
    });
    let branch = 0;
    visitLists(items, maxBits, (list, bits) => {
      if (tally.hit !== null || !isOrdered(list)) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      if (isWhole(list))
        tryList(list.flat(), finishes, fitsOf, listBits + bits, lessSpent(share, listBits + bits), tally);
      return true;
    });
  };
}

function tryList(
  list: readonly Piece[],
  finishes: readonly Finish[],
  fitsOf: (chain: Chain) => Fits,
  spent: number,
  { from, to }: CostRange,
  tally: Tally,
): void {
  const texts = list.map(({ text }) => text);
  for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
    const { form, place, joiner, change, chain, bits } = finishes[index] as Finish;
    if (bits >= to) return;
    const parts = placeSecret(texts, place, form.text);
    if (parts === null) continue;
    const text = parts.join(joiner);
    const message = change.apply(text);
    if (change.changes && message === text) continue;
    tally.tried += 1;
    if (!fitsOf(chain)(message)) continue;
    const pieces = placeSecret(list, place, form) ?? [];
    const recipe = assembleRecipe({
      params: {},
      message: pieces,
      join: joiner,
      block: 'none',
      change,
      chain,
    });
    if (recipe === null) continue;
    tally.hit = { recipe, bits: bits + spent };
    return;
  }
}
