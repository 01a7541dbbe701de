import { canonicalLists } from '../candidates/canonical-lists.js';
import { type Chain, chainIdentity } from '../candidates/chains.js';
import { type Choice, type CostRange, choice, firstFrom, lessSpent, sortByBits } from '../candidates/cost.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  type Finish,
  finishesOf,
  type ListItem,
  listBits,
  listItems,
  maxListBits,
  placeSecret,
} from '../candidates/value-lists.js';
import { visitLists } from '../candidates/visit-lists.js';
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
  const items = listItems(space).map(textsIn);
  const canonical = sortByBits(canonicalLists(space)).map(textsIn);
  const finishes = finishesOf(space.forms, space.chains, maxFinishBits);
  return (share, tally) => {
    const { part, parts, to } = share;
    const maxBits = Math.min(maxListBits, to - listBits - (finishes[0]?.bits ?? 0));
    canonical.forEach((list, index) => {
      if (index % parts !== part || list.bits > maxBits || tally.hit !== null) return;
      const spent = listBits + list.bits;
      tryList(list.value, finishes, fitsOf, spent, lessSpent(share, spent), tally);
    });
    let branch = 0;
    visitLists(items, maxBits, (list, bits) => {
      if (tally.hit !== null) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      tryList(list.flat(), finishes, fitsOf, listBits + bits, lessSpent(share, listBits + bits), tally);
      return true;
    });
  };
}

function textsIn({ value, bits }: Choice<ListItem>): Choice<readonly string[]> {
  return choice(
    value.map(({ text }) => text),
    bits,
  );
}

function tryList(
  list: readonly string[],
  finishes: readonly Finish[],
  fitsOf: (chain: Chain) => Fits,
  spent: number,
  { from, to }: CostRange,
  tally: Tally,
): void {
  for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
    const { form, place, joiner, change, chain, bits } = finishes[index] as Finish;
    if (bits >= to) return;
    const parts = placeSecret(list, place, form.text);
    if (parts === null) continue;
    const text = parts.join(joiner);
    const message = change.apply(text);
    if (change.changes && message === text) continue;
    tally.tried += 1;
    if (!fitsOf(chain)(message)) continue;
    tally.hit = { message, bits: bits + spent, chain: chainIdentity(chain) };
    return;
  }
}
