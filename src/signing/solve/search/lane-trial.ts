import type { Beginning } from '../lanes/beginning.js';
import { type ByteText, noText } from '../lanes/byte-text.js';
import { laneCount } from '../lanes/compression.js';
import type { LaneDigest } from '../lanes/lane-digest.js';
import { mostWords } from '../lanes/lanes.js';
import type { TextChain } from './text-chain.js';
import type { Find, Trial } from './trial.js';

/** One word of a digest that has the signature. */
export interface WantedWord {
  readonly index: number;
  readonly word: number;
}

/** Which word of a digest a signature holds whole; null where there is none. `cut` tells what is left of the digest. */
export function wantedWord(
  digest: string,
  cut: readonly [from: number, to: number] | null,
  bigEndian: boolean,
): WantedWord | null {
  const from = cut?.[0] ?? 0;
  const index = Math.ceil(from / 8);
  const bytes = Buffer.from(digest.slice(index * 8 - from, index * 8 - from + 8), 'hex');
  if (bytes.length < 4) return null;
  return { index, word: bigEndian ? bytes.readInt32BE() : bytes.readInt32LE() };
}

/** A message that waits: what it begins with, and its price. */
interface Waiting {
  beginning: ByteText;
  bits: number;
}

/** Tries four messages at a time: one word of their digests rules out nearly all of them, the text decides the rest. */
export class LaneTrial implements Trial {
  readonly #digest: LaneDigest;
  readonly #wanted: WantedWord;
  readonly #fits: TextChain;
  readonly #kept: Beginning;
  readonly #none: Beginning;
  readonly #waiting: readonly Waiting[] = Array.from({ length: laneCount }, () => ({
    beginning: noText,
    bits: 0,
  }));
  #count = 0;

  constructor(digest: LaneDigest, wanted: WantedWord, fits: TextChain) {
    this.#digest = digest;
    this.#wanted = wanted;
    this.#fits = fits;
    this.#kept = digest.begin();
    this.#none = digest.begin();
  }

  keep(beginning: ByteText): void {
    this.#kept.set(beginning);
  }

  tryKept(second: ByteText, third: ByteText, bits: number): Find | null {
    return this.#try(this.#kept, second, third, noText, bits);
  }

  tryWhole(first: ByteText, second: ByteText, third: ByteText, bits: number): Find | null {
    return this.#try(this.#none, first, second, third, bits);
  }

  flush(): Find | null {
    const count = this.#count;
    if (count === 0) return null;
    this.#count = 0;
    const words = this.#digest.digest(count);
    const { index, word } = this.#wanted;
    for (let lane = 0; lane < count; lane++) {
      const find = words[lane * mostWords + index] === word ? this.#find(lane) : null;
      if (find !== null) return find;
    }
    return null;
  }

  #try(beginning: Beginning, one: ByteText, two: ByteText, three: ByteText, bits: number): Find | null {
    const { lanes } = this.#digest;
    const lane = this.#count;
    const waiting = this.#waiting[lane] as Waiting;
    waiting.beginning = beginning.text;
    waiting.bits = bits;
    if (beginning.isTooLong || !lanes.hasRoomFor(one.length + two.length + three.length)) {
      return this.#judge(beginning.text.text + one.text + two.text + three.text, bits);
    }
    lanes.put(lane, beginning, one, two, three);
    this.#count = lane + 1;
    return this.#count === laneCount ? this.flush() : null;
  }

  #find(lane: number): Find | null {
    const { beginning, bits } = this.#waiting[lane] as Waiting;
    return this.#judge(beginning.text + this.#digest.lanes.textOf(lane, beginning), bits);
  }

  #judge(message: string, bits: number): Find | null {
    return this.#fits(message) ? { message, bits } : null;
  }
}
