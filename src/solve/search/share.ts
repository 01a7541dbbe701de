import { type Chain, chainIdentity } from '../candidates/chains.js';

/** Which candidates are tried: those in a range of prices, and of these every `parts`-th, beginning at `part`. */
export interface Share {
  readonly from: number;
  readonly to: number;
  readonly part: number;
  readonly parts: number;
}

/** A message that has the signature. */
export interface Hit {
  readonly message: string;
  /** The identity of the chain by which it has it. */
  readonly chain: string;
  /** At what price it was found. */
  readonly bits: number;
}

/** What was done of a search. */
export interface Tally {
  /** How many candidates were digested and compared. */
  tried: number;
  hit: Hit | null;
}

export function noteHit(tally: Tally, message: string, bits: number, chain: Chain): void {
  tally.hit = { message, bits, chain: chainIdentity(chain) };
}

/** Up to these prices everything is tried at one go: there is little to try yet. */
const firstBounds = [13, 15, 17, 18, 19, 20];

/** From there on the bands are so wide: the wider, the less work is done twice. */
const bandBits = 2;

/** A band has about so many times as many candidates as the one before it. */
const growth = 3.5;

/** A share should have about so many candidates: a quarter of a second's work. */
const shareSize = 300_000;

/** Nothing dearer than this is ever tried. */
export const dearest = 44;

/** Hands out the shares of a search in the order in which they are worth doing. */
export class ShareQueue {
  #band = { from: 0, to: 0, parts: 0 };
  #next = 0;
  #tried = 0;
  #done = 0;
  /** How many candidates the band should have that is being handed out. */
  #expected = 0;

  /** Where the band begins that is being handed out: everything cheaper was handed out before. */
  get from(): number {
    return this.#band.from;
  }

  /** Whether everything was handed out. */
  get isEmpty(): boolean {
    return this.#band.to >= dearest && this.#next === this.#band.parts;
  }

  /** The next share to be done; null where nothing is left. */
  take(): Share | null {
    if (this.#next === this.#band.parts && !this.#openBand()) return null;
    const part = this.#next;
    this.#next += 1;
    return { ...this.#band, part };
  }

  /** Hears how many candidates a share had: the next bands are parted by that. */
  note({ from }: Share, tried: number): void {
    if (from !== this.#band.from) return;
    this.#tried += tried;
    this.#done += 1;
  }

  #openBand(): boolean {
    if (this.isEmpty) return false;
    const { to: from, parts } = this.#band;
    const to = firstBounds.find((bound) => bound > from) ?? from + bandBits;
    // Many threads may be through with a band before any has told of its share.
    const counted = this.#done === 0 ? this.#expected : (this.#tried / this.#done) * parts;
    this.#expected = counted * growth;
    this.#band = { from, to, parts: Math.max(1, Math.ceil(this.#expected / shareSize)) };
    this.#next = 0;
    this.#tried = 0;
    this.#done = 0;
    return true;
  }
}
