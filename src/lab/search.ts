import {
  type Algorithm,
  algorithms,
  type Output,
  outputs,
  writtenLength,
} from '../core/signing/digest-algorithms.js';
import { countWithin, type Rated } from './rule-parts/rarity.js';
import type {
  BlockText,
  CompiledChain,
  PlacedLayout,
  SearchSpace,
  WrittenBlocks,
} from './search-space.js';

/** How a signature is written. */
export interface WrittenDigest extends Rated {
  readonly output: Output;
  /** The part of the digest that is sent; null for all of it. */
  readonly slice: readonly [from: number, to: number] | null;
}

/** A signature, and how each algorithm may have written it. */
export class SignatureReader {
  readonly #hex: string | null;
  readonly #base64: string | null;
  readonly #signature: string;

  constructor(signature: string) {
    this.#signature = signature;
    const isHex = /^(?:[\da-f]{16,}|[\dA-F]{16,})$/.test(signature);
    this.#hex = isHex ? signature.toLowerCase() : null;
    this.#base64 = !isHex && /^[\w+/-]{16,}={0,2}$/.test(signature) ? signature : null;
  }

  /** Whether a digest of this algorithm can be the signature. */
  canBe(algorithm: Algorithm): boolean {
    const hexLength = hexLengths[algorithm];
    if (this.#hex !== null) return this.#hex.length <= hexLength;
    if (this.#base64 === null) return false;
    return this.#base64.length <= Math.ceil(hexLength / 6) * 4;
  }

  /** Whether the signature is this digest, or a part of it. */
  isWrittenIn(digest: string): boolean {
    if (this.#hex !== null) return digest.includes(this.#hex);
    if (this.#base64 === null) return false;
    const bytes = Buffer.from(digest, 'hex');
    return (
      bytes.toString('base64').includes(this.#base64) ||
      bytes.toString('base64url').includes(this.#base64)
    );
  }

  /** How the signature is written where it is this digest. */
  waysIn(digest: string): WrittenDigest[] {
    const bytes = Buffer.from(digest, 'hex');
    return outputs.flatMap((output): WrittenDigest[] => {
      const text = writeDigest(bytes, output);
      const from = text.indexOf(this.#signature);
      if (from < 0) return [];
      const isWhole = text.length === this.#signature.length;
      const slice = isWhole ? null : ([from, from + this.#signature.length] as const);
      return [{ output, slice, bits: outputBits[output] }];
    });
  }
}

/** Whether a signature can be a digest, or a part of one. */
export function isDigest(signature: string): boolean {
  const reader = new SignatureReader(signature);
  return algorithms.some((algorithm) => reader.canBe(algorithm));
}

/** How rare the formats are where a signature can have several. */
const outputBits: Readonly<Record<Output, number>> = {
  hex: 0,
  HEX: 0,
  base64: 0,
  base64url: 1.5,
};

function writeDigest(bytes: Buffer, output: Output): string {
  if (output === 'HEX') return bytes.toString('hex').toUpperCase();
  return bytes.toString(output);
}

/** The signature that a digest in lower-case hex is written as. */
export function writtenAs(digest: string, { output, slice }: WrittenDigest): string {
  const text = writeDigest(Buffer.from(digest, 'hex'), output);
  return slice === null ? text : text.slice(...slice);
}

const hexLengths = Object.fromEntries(
  algorithms.map((algorithm) => [algorithm, writtenLength(algorithm, 'hex')]),
) as Readonly<Record<Algorithm, number>>;

/** A text whose digest is the signature. */
export interface Hit {
  readonly text: string;
  readonly chain: CompiledChain;
  readonly digest: string;
}

/** The width of the bands in which a search goes from usual to rare, in bits, and where it ends. */
const bandBits = 1;
const firstBits = 8;
const lastBits = 40;

/** Number of digests between two pauses. */
const betweenPauses = 20_000;

export interface SearchEnd {
  readonly hit: Hit | null;
  /** Number of digests that were computed. */
  readonly tried: number;
}

/**
 * Searches the space, from usual to rare, with about `maxDigests` digests at most. Now and then it
 * yields their number, so that others can work.
 */
export function* search(
  space: SearchSpace,
  signature: string,
  maxDigests: number,
): Generator<number, SearchEnd> {
  const reader = new SignatureReader(signature);
  const chains = space.chains.filter(({ last }) => reader.canBe(last));
  let tried = 0;
  let nextPause = betweenPauses;
  const hitAmong = (layouts: readonly PlacedLayout[], block: BlockText, chain: CompiledChain) => {
    for (const layout of layouts) {
      if (!hasSecret(block, layout, chain)) continue;
      const text = layout.before + block.text + layout.after;
      const digest = chain.digest(text);
      tried += 1;
      if (reader.isWrittenIn(digest)) return { text, chain, digest };
    }
    return null;
  };
  for (let low = 0, high = firstBits; high <= lastBits; low = high, high += bandBits) {
    for (const chain of chains) {
      if (chain.bits > high) break;
      for (const { texts, layouts } of space.written) {
        for (const block of texts) {
          const mostBits = high - chain.bits - block.bits;
          if (mostBits < 0) break;
          const leastBits = mostBits - (high - low);
          for (const sorted of layouts) {
            const hit = hitAmong(withinBand(sorted, leastBits, mostBits), block, chain);
            if (hit !== null) return { hit, tried };
          }
          if (tried < nextPause) continue;
          nextPause = tried + betweenPauses;
          yield tried;
          if (tried > maxDigests) return { hit: null, tried };
        }
      }
    }
  }
  return { hit: null, tried };
}

/** The layouts with more bits than the least, and at most the most, of a list sorted by them. */
function withinBand(
  sorted: readonly PlacedLayout[],
  leastBits: number,
  mostBits: number,
): readonly PlacedLayout[] {
  return sorted.slice(countWithin(sorted, leastBits), countWithin(sorted, mostBits));
}

function hasSecret(block: BlockText, layout: PlacedLayout, chain: CompiledChain): boolean {
  return block.hasSecret || layout.hasSecret || chain.hasSecret;
}

/** A block and a layout that make a text together. */
export interface WayToWrite {
  /** The blocks in one writing, this one among them. */
  readonly written: WrittenBlocks;
  readonly block: BlockText;
  readonly layout: PlacedLayout;
}

/** Every way of the space to write a text. */
export function* waysToWrite(space: SearchSpace, text: string): Generator<WayToWrite> {
  for (const written of space.written) {
    const blocks = new Map<string, BlockText[]>();
    for (const block of written.texts)
      blocks.set(block.text, [...(blocks.get(block.text) ?? []), block]);
    for (const layout of written.layouts.flat()) {
      const { before, after } = layout;
      if (text.length < before.length + after.length) continue;
      if (!text.startsWith(before) || !text.endsWith(after)) continue;
      const middle = text.slice(before.length, text.length - after.length);
      for (const block of blocks.get(middle) ?? []) yield { written, block, layout };
    }
  }
}
