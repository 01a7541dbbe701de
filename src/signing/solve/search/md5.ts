import { blockBytes, compress } from './md5-block.js';
import type { MessageBytes } from './message-bytes.js';

/**
 * MD5 (RFC 1321) of many messages that begin alike: the state after the whole blocks of the beginning is kept, so that
 * a message costs no more than its own end. One digest of a short message by `crypto.hash` costs more than its blocks.
 */
export class Md5 {
  /** The last digest, as four words, the lowest byte of each first. */
  readonly words = new Int32Array(4);
  readonly #initial = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  readonly #lead: number;
  readonly #kept = new Int32Array(4);
  #beginning = -1;

  /** `lead`, whole blocks, stands before every message: the pad of an HMAC. */
  constructor(lead: Uint8Array = new Uint8Array()) {
    const view = new DataView(lead.buffer, lead.byteOffset, lead.byteLength);
    this.#lead = lead.length;
    for (let at = 0; at < lead.length; at += blockBytes) compress(this.#initial, view, at);
  }

  /** Digests a message, into `words`. */
  digest(message: MessageBytes): Int32Array {
    const { words } = this;
    const keptEnd = message.beginningLength - (message.beginningLength % blockBytes);
    if (message.beginning !== this.#beginning) {
      this.#keep(message.view, keptEnd);
      this.#beginning = message.beginning;
    }
    words[0] = this.#kept[0] ?? 0;
    words[1] = this.#kept[1] ?? 0;
    words[2] = this.#kept[2] ?? 0;
    words[3] = this.#kept[3] ?? 0;
    const end = message.pad(this.#lead);
    for (let at = keptEnd; at < end; at += blockBytes) compress(words, message.view, at);
    return words;
  }

  #keep(view: DataView, end: number): void {
    this.#kept.set(this.#initial);
    for (let at = 0; at < end; at += blockBytes) compress(this.#kept, view, at);
  }
}
