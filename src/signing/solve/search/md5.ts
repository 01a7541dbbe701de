import type { MessageBytes } from './message-bytes.js';

const blockBytes = 64;

/** RFC 1321's table T: what is added in each of the 64 rounds. */
const added = Int32Array.from({ length: 64 }, (_, round) => Math.abs(Math.sin(round + 1)) * 2 ** 32);

/** Which word of the block each of the 64 rounds takes. */
const places = Int32Array.from(
  { length: 64 },
  (_, round) => ([round, 5 * round + 1, 3 * round + 5, 7 * round][round >> 4] ?? 0) % 16,
);

/** The words of the block that is taken in. */
const block = new Int32Array(16);

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

/** Takes the block at `at` into a state: four rounds a turn, as the four words of the state go round. */
function compress(state: Int32Array, view: DataView, at: number): void {
  for (let word = 0; word < 16; word++) block[word] = view.getInt32(at + word * 4, true);
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let round = 0;
  for (; round < 16; round += 4) {
    a = (b + rotate(a + (d ^ (b & (c ^ d))) + term(round), 7)) | 0;
    d = (a + rotate(d + (c ^ (a & (b ^ c))) + term(round + 1), 12)) | 0;
    c = (d + rotate(c + (b ^ (d & (a ^ b))) + term(round + 2), 17)) | 0;
    b = (c + rotate(b + (a ^ (c & (d ^ a))) + term(round + 3), 22)) | 0;
  }
  for (; round < 32; round += 4) {
    a = (b + rotate(a + (c ^ (d & (b ^ c))) + term(round), 5)) | 0;
    d = (a + rotate(d + (b ^ (c & (a ^ b))) + term(round + 1), 9)) | 0;
    c = (d + rotate(c + (a ^ (b & (d ^ a))) + term(round + 2), 14)) | 0;
    b = (c + rotate(b + (d ^ (a & (c ^ d))) + term(round + 3), 20)) | 0;
  }
  for (; round < 48; round += 4) {
    a = (b + rotate(a + (b ^ c ^ d) + term(round), 4)) | 0;
    d = (a + rotate(d + (a ^ b ^ c) + term(round + 1), 11)) | 0;
    c = (d + rotate(c + (d ^ a ^ b) + term(round + 2), 16)) | 0;
    b = (c + rotate(b + (c ^ d ^ a) + term(round + 3), 23)) | 0;
  }
  for (; round < 64; round += 4) {
    a = (b + rotate(a + (c ^ (b | ~d)) + term(round), 6)) | 0;
    d = (a + rotate(d + (b ^ (a | ~c)) + term(round + 1), 10)) | 0;
    c = (d + rotate(c + (a ^ (d | ~b)) + term(round + 2), 15)) | 0;
    b = (c + rotate(b + (d ^ (c | ~a)) + term(round + 3), 21)) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
}

/** What a round adds: its word of the block, and its number of the table. */
function term(round: number): number {
  return (block[places[round] as number] as number) + (added[round] as number);
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
