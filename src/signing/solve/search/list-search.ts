import { type MessageChange, messageChanges } from '../space/block-changes.js';
import { type Choice, choice, sortByBits, type Weighed } from '../space/choice.js';
import { visitLists } from '../space/name-lists.js';
import type { Piece } from '../space/piece.js';
import type { Space } from '../space/space.js';
import {
  dearestList,
  distinctItems,
  listBits,
  listItems,
  listJoiners,
  placeSecret,
  type SecretPlace,
  secretPlaces,
} from '../space/value-lists.js';
import { MessageBytes } from './message-bytes.js';
import type { ReadyChain } from './ready-chain.js';
import { noteHit, type Share, type Tally } from './share.js';

/** No way to make a digest of a list is dearer than this. */
const dearestFinish = 15;

/** How a list becomes a digest. */
interface Finish extends Weighed {
  readonly joiner: string;
  readonly place: SecretPlace;
  /** What stands for the secret. */
  readonly secret: string;
  readonly message: MessageChange;
  readonly ready: ReadyChain;
}

/** Messages without a parameter block: a few values and parts of the request in a fixed order, and the secret. */
export class ListSearch {
  readonly #items: readonly Choice<readonly string[]>[];
  readonly #finishes: readonly Finish[];
  readonly #message = new MessageBytes();

  constructor(space: Space, chains: readonly ReadyChain[]) {
    const items = distinctItems(listItems(space.pieces, space.hasBody));
    this.#items = items.map(({ value, bits }) =>
      choice(
        value.map(({ text }) => text),
        bits,
      ),
    );
    this.#finishes = finishesOf(space.forms, chains);
  }

  run({ from, to, part, parts }: Share, tally: Tally): void {
    const dearest = Math.min(dearestList, to - listBits - (this.#finishes[0]?.bits ?? 0));
    let branch = 0;
    visitLists(this.#items, dearest, (list, bits) => {
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
    list: readonly string[],
    spent: number,
    { from, to }: Pick<Share, 'from' | 'to'>,
    tally: Tally,
  ): void {
    const finishes = this.#finishes;
    for (let index = firstFrom(finishes, from); index < finishes.length; index++) {
      const { bits, place, secret, joiner, ready, message } = finishes[index] as Finish;
      if (bits >= to) return;
      const placed = placeSecret(list, place, secret);
      if (placed === null) continue;
      const text = placed.join(joiner);
      const candidate = message.changes ? message.apply(text) : text;
      if (message.changes && candidate === text) continue;
      tally.tried += 1;
      this.#message.end(candidate);
      if (!ready.fits(this.#message)) continue;
      noteHit(tally, candidate, ready.chain, bits + spent);
      return;
    }
  }
}

function firstFrom(finishes: readonly Finish[], bits: number): number {
  let low = 0;
  let high = finishes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((finishes[middle]?.bits ?? 0) < bits) low = middle + 1;
    else high = middle;
  }
  return low;
}

function finishesOf(forms: readonly Piece[], chains: readonly ReadyChain[]): Finish[] {
  const secrets = forms.map((form) => choice(form.text, form.bits));
  const finishes: Finish[] = [];
  for (const ready of chains) {
    for (const message of messageChanges) {
      for (const joiner of listJoiners) {
        for (const place of secretPlaces(ready.chain.keyed)) {
          const bits = ready.chain.bits + message.bits + joiner.bits + place.bits;
          if (bits > dearestFinish) break;
          for (const secret of place.value === 'none' ? [choice('', 0)] : secrets) {
            if (bits + secret.bits > dearestFinish) break;
            finishes.push({
              joiner: joiner.value,
              place: place.value,
              secret: secret.value,
              message,
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
