import { chainIdentity } from '../candidates/chains.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  type Finish,
  finishesOf,
  listBits,
  listItems,
  maxListBits,
  placeSecret,
  visitLists,
} from '../candidates/value-lists.js';
import { type Choice, type CostRange, choice, firstFrom, lessSpent } from '../candidates/weighted.js';
import type { CompiledChain } from './compiled-chain.js';
import type { Share, Tally } from './search.js';

/** Maximum cost of turning a list into a digest. */
const maxFinishBits = 15;

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export class ListSearch {
  readonly #items: readonly Choice<readonly string[]>[];
  readonly #finishes: readonly Finish<CompiledChain>[];

  constructor(space: SearchSpace, chains: readonly CompiledChain[]) {
    this.#items = listItems(space).map(({ value, bits }) =>
      choice(
        value.map(({ text }) => text),
        bits,
      ),
    );
    this.#finishes = finishesOf(space.forms, chains, maxFinishBits);
  }

  run(share: Share, tally: Tally): void {
    const { part, parts, to } = share;
    const maxBits = Math.min(maxListBits, to - listBits - (this.#finishes[0]?.bits ?? 0));
    let branch = 0;
    visitLists(this.#items, maxBits, (list, bits) => {
      if (tally.hit !== null) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      this.#tryList(list.flat(), listBits + bits, lessSpent(share, listBits + bits), tally);
      return true;
    });
  }

  #tryList(list: readonly string[], spent: number, { from, to }: CostRange, tally: Tally): void {
    const finishes = this.#finishes;
    for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
      const { form, place, joiner, change, chain, bits } = finishes[index] as Finish<CompiledChain>;
      if (bits >= to) return;
      const parts = placeSecret(list, place, form.text);
      if (parts === null) continue;
      const text = parts.join(joiner);
      const message = change.apply(text);
      if (change.changes && message === text) continue;
      tally.tried += 1;
      if (!chain.fits(message)) continue;
      tally.hit = { message, bits: bits + spent, chain: chainIdentity(chain) };
      return;
    }
  }
}
