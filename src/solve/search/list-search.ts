import { messageChanges } from '../candidates/block-changes.js';
import type { Piece } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { visitLists } from '../candidates/selections.js';
import {
  distinctItems,
  listBits,
  listItems,
  listJoiners,
  maxListBits,
  placeSecret,
  type SecretPlace,
  secretPlaces,
} from '../candidates/value-lists.js';
import {
  type Choice,
  choice,
  firstFrom,
  memoize,
  sortByBits,
  type Weighted,
} from '../candidates/weighted.js';
import type { CompiledChain } from './compiled-chain.js';
import { recordHit, type Share, type Tally } from './share.js';

/** Maximum cost of turning a list into a digest. */
const maxFinishBits = 15;

/** A text after each of `messageChanges`, which work character by character. */
type ListPart = readonly string[];

/** The order of a list's parts, by index; `secretPart` is the secret. */
type PartOrder = readonly number[];

const secretPart = -1;

/** How a list becomes a digest. */
interface Finish extends Weighted {
  readonly secret: ListPart;
  readonly joiner: ListPart;
  /** The index of the change in `messageChanges`. */
  readonly change: number;
  /** Null for a length without such a place for the secret. */
  readonly order: (length: number) => PartOrder | null;
  readonly ready: CompiledChain;
}

/**
 * Searches messages without a parameter block: a few values and parts of the request in a fixed order, and the
 * secret.
 */
export class ListSearch {
  readonly #items: readonly Choice<readonly ListPart[]>[];
  readonly #finishes: readonly Finish[];

  constructor(space: SearchSpace, chains: readonly CompiledChain[]) {
    const items = distinctItems(listItems(space.pieces, space.hasBody));
    this.#items = items.map(({ value, bits }) =>
      choice(
        value.map(({ text }) => listPart(text)),
        bits,
      ),
    );
    this.#finishes = finishesOf(space.forms, chains);
  }

  run({ from, to, part, parts }: Share, tally: Tally): void {
    const maxBits = Math.min(maxListBits, to - listBits - (this.#finishes[0]?.bits ?? 0));
    let branch = 0;
    visitLists(this.#items, maxBits, (list, bits) => {
      if (tally.hit !== null) return false;
      if (list.length < 3) branch += 1;
      if (list.length === 1 && part !== 0) return true;
      if (list.length === 2 && branch % parts !== part) return false;
      const spent = listBits + bits;
      this.#tryList(list.flat(), spent, { from: from - spent, to: to - spent }, tally);
      return true;
    });
  }

  #tryList(
    list: readonly ListPart[],
    spent: number,
    { from, to }: Pick<Share, 'from' | 'to'>,
    tally: Tally,
  ): void {
    const finishes = this.#finishes;
    for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
      const finish = finishes[index] as Finish;
      const { bits, ready } = finish;
      if (bits >= to) return;
      const order = finish.order(list.length);
      if (order === null) continue;
      const message = join(list, order, finish);
      if (message === null) continue;
      tally.tried += 1;
      if (!ready.fits(message)) continue;
      recordHit(tally, message, bits + spent, ready.chain);
      return;
    }
  }
}

function listPart(text: string): ListPart {
  return messageChanges.map(({ apply }) => apply(text));
}

/** The parts in this order, changed and joined; null where the change affects none, which is another candidate. */
function join(list: readonly ListPart[], order: PartOrder, finish: Finish): string | null {
  const { secret, joiner, change } = finish;
  let message = '';
  let isChanged = change === 0;
  for (let index = 0; index < order.length; index++) {
    const number = order[index] as number;
    const part = number === secretPart ? secret : (list[number] as ListPart);
    if (index > 0) message += joiner[change];
    message += part[change];
    isChanged ||= part[change] !== part[0] || (index > 0 && joiner[change] !== joiner[0]);
  }
  return isChanged ? message : null;
}

/** The order of a list of each length with the secret in its place; null where there is no such place. */
function orderFor(place: SecretPlace): (length: number) => PartOrder | null {
  return memoize((length) => placeSecret([...Array(length).keys()], place, secretPart));
}

const noSecret = [choice(listPart(''), 0)];

function finishesOf(forms: readonly Piece[], chains: readonly CompiledChain[]): Finish[] {
  const secrets = forms.map((form) => choice(listPart(form.text), form.bits));
  const joiners = listJoiners.map((joiner) => choice(listPart(joiner.value), joiner.bits));
  const orderOf = memoize(orderFor);
  const finishes: Finish[] = [];
  for (const ready of chains) {
    for (const [change, message] of messageChanges.entries()) {
      for (const joiner of joiners) {
        for (const place of secretPlaces(ready.chain.keyed)) {
          const bits = ready.chain.bits + message.bits + joiner.bits + place.bits;
          if (bits > maxFinishBits) break;
          for (const secret of place.value === 'none' ? noSecret : secrets) {
            if (bits + secret.bits > maxFinishBits) break;
            finishes.push({
              joiner: joiner.value,
              order: orderOf(place.value),
              secret: secret.value,
              change,
              ready,
              bits: bits + secret.bits,
            });
          }
        }
      }
    }
  }
  return sortByBits(finishes);
}
