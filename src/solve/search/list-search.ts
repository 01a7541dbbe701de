import type { Chain } from '../candidates/chains.js';
import { type CostRange, firstFrom, lessSpent } from '../candidates/cost.js';
import { hintedItems, listItems } from '../candidates/hinted-items.js';
import { fuse, type Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  type Finish,
  finishesOf,
  listBits,
  maxHeaderBits,
  maxHintedBits,
  maxListBits,
} from '../candidates/value-lists.js';
import { visitLists } from '../candidates/visit-lists.js';
import { isHinted } from '../tasks.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Fits } from './compiled-chain.js';
import type { Share, Work } from './shares.js';

/** Maximum cost of the way from a list to a digest, and where a document names the digests. */
const maxFinishBits = 15;
const maxHintedFinishBits = 20;
/** The cost of a list without items. */
const emptyBits = 7;

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export function listSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, work: Work) => void {
  const hinted = hintedItems(space);
  const { isOnce, isWhole, count } = hinted;
  const items = listItems(space, hinted);
  const usual = space.pieces.extras.length > 0 ? maxHeaderBits : maxListBits;
  const bound = isHinted(space.task) ? maxHintedBits : usual;
  const isNamed = space.task.hints?.steps !== undefined;
  const finishes = finishesOf(space, isNamed ? maxHintedFinishBits : maxFinishBits);
  // Digests that a document names may be of another length than the signature.
  if (finishes.length === 0) return () => {};
  return (share, work) => {
    const { part, parts, to } = share;
    const maxBits = Math.min(bound, to - listBits - (finishes[0]?.bits ?? 0));
    // An empty message, where the key holds everything.
    const spent = listBits + emptyBits;
    if (part === 0 && count === 0) tryList([], finishes, fitsOf, spent, lessSpent(share, spent), work);
    let branch = 0;
    visitLists(items, maxBits, (list, bits) => {
      work.look();
      if (work.isDone || !isOnce(list)) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      if (isWhole(list))
        tryList(
          labelled(list.flat()),
          finishes,
          fitsOf,
          listBits + bits,
          lessSpent(share, listBits + bits),
          work,
        );
      return true;
    });
  };
}

/** The pieces, each label glued to what is behind it. */
function labelled(list: readonly Piece[]): readonly Piece[] {
  const parts: Piece[] = [];
  for (const piece of list) {
    const last = parts.at(-1);
    if (last?.leads) parts[parts.length - 1] = fuse(last, piece);
    else parts.push(piece);
  }
  return parts;
}

function tryList(
  list: readonly Piece[],
  finishes: readonly Finish[],
  fitsOf: (chain: Chain) => Fits,
  spent: number,
  { from, to }: CostRange,
  work: Work,
): void {
  const texts = list.map(({ text }) => text);
  for (let index = firstFrom(finishes, from); index < finishes.length && !work.isCut; index++) {
    const { form, place, joiner, change, chain, bits } = finishes[index] as Finish;
    if (bits >= to) return;
    const parts = place(texts, form.text, (one, other) => one + other);
    if (parts === null) continue;
    const text = parts.join(joiner);
    const message = change.apply(text);
    if (change.changes && message === text) continue;
    work.count();
    if (!fitsOf(chain)(message)) continue;
    const recipe = assembleRecipe({
      params: {},
      message: place(list, form, fuse) ?? [],
      join: joiner,
      block: 'none',
      change,
      chain,
    });
    if (recipe === null) continue;
    work.hit = { recipe, bits: bits + spent };
    return;
  }
}
