import type { Beginning } from './beginning.js';
import type { ByteText } from './byte-text.js';
import { blockBytes, laneCount } from './compression.js';
import { type Compressor, type Room, view, words, writeBytes } from './lane-memory.js';
import { type WrittenDigest, writeDigest } from './write-digest.js';

/** No digest has more words. */
export const mostWords = 8;

/** What a message has behind its text: at least one byte, and its length in eight. */
const paddingBytes = blockBytes + 8;

/**
 * Four messages, digested side by side by instructions that take four words at once. A digest of a short message by
 * `crypto.hash` costs ten times as much, most of it for the call.
 */
export class Lanes {
  readonly #compressor: Compressor;
  readonly #textBytes: number;
  readonly #laneBytes: number;
  readonly #states: number;
  readonly #at: number;
  readonly #ends = new Int32Array(laneCount);
  readonly #blocks = new Int32Array(laneCount);
  readonly #digests = new Int32Array(laneCount * mostWords);

  /** `textBytes`: how long what follows a beginning may be. */
  constructor(compressor: Compressor, room: Room, textBytes: number) {
    this.#compressor = compressor;
    this.#textBytes = textBytes;
    this.#laneBytes = Math.ceil((blockBytes + textBytes + paddingBytes) / blockBytes) * blockBytes;
    this.#states = room.take(laneCount * mostWords * 4);
    this.#at = room.take(this.#laneBytes * laneCount);
  }

  hasRoomFor(bytes: number): boolean {
    return bytes <= this.#textBytes;
  }

  /** Writes a message to a lane: a beginning, and three texts. */
  put(lane: number, beginning: Beginning, one: ByteText, two: ByteText, three: ByteText): void {
    const from = this.#begin(lane, beginning);
    this.#end(lane, beginning, from, writeBytes(three, writeBytes(two, writeBytes(one, from))));
  }

  /** Writes a message to a lane: a beginning, a digest, and a text. */
  putDigest(
    lane: number,
    beginning: Beginning,
    digests: Int32Array,
    written: WrittenDigest,
    text: ByteText,
  ): void {
    const from = this.#begin(lane, beginning);
    const end = writeDigest(digests, lane * mostWords, written, from);
    this.#end(lane, beginning, from, writeBytes(text, end));
  }

  /** What a message goes on with after a beginning. */
  textOf(lane: number, beginning: ByteText): string {
    const from = this.#at + lane * this.#laneBytes + (beginning.length % blockBytes);
    return Buffer.from(view.buffer, from, (this.#ends[lane] ?? 0) - from).toString();
  }

  /** Digests the first so many lanes: the words of each digest, `mostWords` to a lane. The next call overwrites them. */
  digest(count: number): Int32Array {
    const { compress } = this.#compressor;
    const laneBytes = this.#laneBytes;
    let at = this.#at;
    for (let block = 1, left = count; left > 0; block++, at += blockBytes) {
      compress(this.#states, at, at + laneBytes, at + 2 * laneBytes, at + 3 * laneBytes);
      for (let lane = 0; lane < count; lane++) {
        if (this.#blocks[lane] !== block) continue;
        left -= 1;
        this.#keepDigest(lane);
      }
    }
    return this.#digests;
  }

  #keepDigest(lane: number): void {
    const wordCount = this.#compressor.initial.length;
    const state = (this.#states >> 2) + lane;
    for (let word = 0; word < wordCount; word++) {
      this.#digests[lane * mostWords + word] = words[state + word * laneCount] as number;
    }
  }

  /** Writes the beginning, without its whole blocks, and tells where it ends. */
  #begin(lane: number, { state, rest, restBytes }: Beginning): number {
    const at = this.#at + lane * this.#laneBytes;
    const first = (this.#states >> 2) + lane;
    for (let word = 0; word < state.length; word++) words[first + word * laneCount] = state[word] as number;
    for (let index = 0; index * 4 < restBytes; index++) words[(at >> 2) + index] = rest[index] as number;
    return at + restBytes;
  }

  /** Writes the padding: the text goes from `from` to `end`. */
  #end(lane: number, beginning: Beginning, from: number, end: number): void {
    const at = this.#at + lane * this.#laneBytes;
    const blocks = (end - at + paddingBytes) >> 6;
    const last = (at + blocks * blockBytes - 8) >> 2;
    view.setInt32(end, 0x80, true);
    for (let word = (end + 4) >> 2; word < last; word++) words[word] = 0;
    const bits = (beginning.length + end - from) * 8;
    words[last] = 0;
    words[last + 1] = 0;
    if (this.#compressor.bigEndian) view.setInt32(last * 4 + 4, bits);
    else words[last] = bits;
    this.#blocks[lane] = blocks;
    this.#ends[lane] = end;
  }
}
