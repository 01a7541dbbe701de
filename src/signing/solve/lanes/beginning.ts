import { ByteText, bytesAsText, noText } from './byte-text.js';
import { blockBytes } from './compression.js';
import { type Compressor, scratchAt, scratchBytes, states, words, writeBytes } from './lane-memory.js';

const restWords = blockBytes / 4;

/** What many messages begin with: it is digested once, as far as its whole blocks go. */
export class Beginning {
  /** The state after the whole blocks. */
  readonly state: Int32Array;
  /** What follows them, as words in the order of the memory. */
  readonly rest = new Int32Array(restWords);
  restBytes = 0;
  /** How many bytes all of it is. */
  length: number;
  /** Whether there is no room for it: then it is known by its text alone. */
  isTooLong = false;
  /** The text that it is. */
  text = noText;
  readonly #compressor: Compressor;
  readonly #start: Int32Array;
  readonly #lead: number;

  /** `lead`, whole blocks, stands before everything: the pad of an HMAC. */
  constructor(compressor: Compressor, lead: Uint8Array = new Uint8Array()) {
    this.#compressor = compressor;
    this.#lead = lead.length;
    this.length = lead.length;
    this.state = compressor.initial.slice();
    writeBytes(bytesAsText(lead), scratchAt);
    this.#digest(lead.length);
    this.#start = this.state.slice();
  }

  /** Makes it this text. */
  set({ view, from, to }: ByteText): void {
    this.text = new ByteText(view, from, to);
    const length = to - from;
    this.isTooLong = length > scratchBytes;
    if (this.isTooLong) return;
    this.restBytes = length % blockBytes;
    this.length = this.#lead + length;
    writeBytes(this.text, scratchAt);
    this.state.set(this.#start);
    this.#digest(length - this.restBytes);
    const rest = (scratchAt + length - this.restBytes) >> 2;
    for (let index = 0; index * 4 < this.restBytes; index++) this.rest[index] = words[rest + index] as number;
  }

  /** Takes in so many bytes of the scratch. */
  #digest(length: number): void {
    const { state } = this;
    for (let index = 0; index < state.length; index++)
      words[(states >> 2) + index * 4] = state[index] as number;
    for (let at = scratchAt; at < scratchAt + length; at += blockBytes) {
      this.#compressor.compress(states, at, at, at, at);
    }
    for (let index = 0; index < state.length; index++)
      state[index] = words[(states >> 2) + index * 4] as number;
  }
}
