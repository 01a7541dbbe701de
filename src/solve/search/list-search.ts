import { type MessageChange, messageChanges } from '../candidates/block-changes.js';
import { chainIdentity } from '../candidates/chains.js';
import type { Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import {
  distinctItems,
  listBits,
  listItems,
  listJoiners,
  maxListBits,
  placeSecret,
  type SecretPlace,
  secretPlaces,
  visitLists,
} from '../candidates/value-lists.js';
import {
  type Choice,
  type CostRange,
  choice,
  firstFrom,
  lessSpent,
  sortByBits,
  type Weighted,
} from '../candidates/weighted.js';
import type { CompiledChain } from './compiled-chain.js';
import type { Share, Tally } from './search.js';

/** Maximum cost of turning a list into a digest. */
const maxFinishBits = 15;

/** How a list becomes a digest. */
interface Finish extends Weighted {
  readonly secret: string;
  readonly place: SecretPlace;
  readonly joiner: string;
  readonly change: MessageChange;
  readonly ready: CompiledChain;
}

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export class ListSearch {
  readonly #items: readonly Choice<readonly string[]>[];
  readonly #finishes: readonly Finish[];

  constructor(space: SearchSpace, chains: readonly CompiledChain[]) {
    const items = distinctItems(listItems(space.pieces, space.hasBody));
    this.#items = items.map(({ value, bits }) =>
      choice(
        value.map(({ text }) => text),
        bits,
      ),
    );
    this.#finishes = finishesOf(space.forms, chains);
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
      const { secret, place, joiner, change, ready, bits } = finishes[index] as Finish;
      if (bits >= to) return;
      const parts = placeSecret(list, place, secret);
      if (parts === null) continue;
      const text = parts.join(joiner);
      const message = change.apply(text);
      if (change.changes && message === text) continue;
      tally.tried += 1;
      if (!ready.fits(message)) continue;
      tally.hit = { message, bits: bits + spent, chain: chainIdentity(ready.chain) };
      return;
    }
  }
}

function finishesOf(forms: readonly Piece[], chains: readonly CompiledChain[]): Finish[] {
  const finishes: Finish[] = [];
  for (const ready of chains) {
    for (const change of messageChanges) {
      for (const { value: joiner, bits: joinerBits } of listJoiners) {
        for (const { value: place, bits: placeBits } of secretPlaces(ready.chain.keyed)) {
          const bits = ready.chain.bits + change.bits + joinerBits + placeBits;
          if (bits > maxFinishBits) break;
          for (const form of place === 'none' ? [{ text: '', bits: 0 }] : forms) {
            if (bits + form.bits > maxFinishBits) break;
            finishes.push({ secret: form.text, place, joiner, change, ready, bits: bits + form.bits });
          }
        }
      }
    }
  }
  return sortByBits(finishes);
}
