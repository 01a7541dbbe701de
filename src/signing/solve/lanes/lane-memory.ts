import type { ByteText } from './byte-text.js';
import { compressionModule, type Rounds } from './compression.js';
import { md5Rounds } from './md5-rounds.js';
import { sha1Rounds } from './sha1-rounds.js';
import { sha256Rounds } from './sha256-rounds.js';

/** What is used here of WebAssembly: Node has it, its types have not. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly validate: (bytes: Uint8Array<ArrayBuffer>) => boolean;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Pick<Compressor, 'compress'> };
};

/** One digest, ready to take in blocks. */
export interface Compressor {
  /** The state before the first block. */
  readonly initial: Int32Array;
  /** Whether the highest byte of a word comes first. */
  readonly bigEndian: boolean;
  /** Takes the blocks at four addresses into the four states at another: all first words, then all second ones. */
  readonly compress: (states: number, first: number, second: number, third: number, fourth: number) => void;
}

const pageBytes = 65_536;
const pages = 1024;

/** Where whoever has the call may write what nobody needs after it: states, and some bytes. */
export const states = 0;
export const scratchAt = 1024;
export const scratchBytes = pageBytes - scratchAt - 64;

const memory = new WebAssembly.Memory({ initial: pages });

/** The memory of this thread's digests: what is not used of it costs nothing. */
export const view = new DataView(memory.buffer);
export const words = new Int32Array(memory.buffer);

/** Null on a machine without vector instructions. */
export const compressors = {
  md5: compressorOf(md5Rounds),
  sha1: compressorOf(sha1Rounds),
  sha256: compressorOf(sha256Rounds),
};

function compressorOf(rounds: Rounds): Compressor | null {
  const code = compressionModule(rounds);
  if (!WebAssembly.validate(code)) return null;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { lanes: { memory } });
  return {
    initial: Int32Array.from(rounds.initial),
    bigEndian: rounds.bigEndian,
    compress: exports.compress,
  };
}

/** Writes a text to an address, word by word, so that what follows it must be written later; tells where it ends. */
export function writeBytes({ view: source, from, to }: ByteText, at: number): number {
  for (let offset = 0; offset < to - from; offset += 4) {
    view.setInt32(at + offset, source.getInt32(from + offset, true), true);
  }
  return at + to - from;
}

/**
 * Where the messages of one search are written. Searches of one thread may have the same places: between two shares
 * nothing is waiting there.
 */
export class Room {
  #next = pageBytes;

  /** How many bytes are left; some are kept for who reads behind the last message. */
  get left(): number {
    return (pages - 1) * pageBytes - this.#next;
  }

  /** Gives so many bytes, at the address of a block. */
  take(size: number): number {
    const at = this.#next;
    this.#next += Math.ceil(size / 64) * 64;
    return at;
  }
}
