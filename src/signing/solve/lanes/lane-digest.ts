import { hash } from 'node:crypto';
import type { Chain, DigestLink, Link } from '../space/chain.js';
import type { KeyForm } from '../space/keys.js';
import { Beginning } from './beginning.js';
import { type ByteText, byteText, noText } from './byte-text.js';
import { blockBytes } from './compression.js';
import { type Compressor, compressors, type Room } from './lane-memory.js';
import { Lanes } from './lanes.js';
import type { WrittenDigest } from './write-digest.js';

/** How long the end of a message may be; longer ones are rare. */
const messageBytes = 4096;

/** The longest digest, in hex. */
const digestBytes = 64;

/** The digests of a chain over four messages. */
export interface LaneDigest {
  /** Makes what messages can begin with, empty at first. */
  readonly begin: () => Beginning;
  /** Where the messages are written. */
  readonly lanes: Lanes;
  /** Digests the first so many of them: the words of each last digest, `mostWords` to a message. */
  readonly digest: (count: number) => Int32Array;
  readonly compressor: Compressor;
}

/**
 * Null for a chain with a digest or a format that is left to others, as every one is on a machine without vector
 * instructions, and where no room is left.
 */
export function compileLanes({ links: [first, ...links], key }: Chain, room: Room): LaneDigest | null {
  const digest = first?.kind === 'digest' ? digestOf(first, key, messageBytes, room) : null;
  if (first?.kind !== 'digest' || digest === null) return null;
  const all = compileLinks(digest, first, links, key, room);
  return room.left < 0 ? null : all;
}

function compileLinks(
  first: LaneDigest,
  { format }: DigestLink,
  links: readonly Link[],
  key: KeyForm | null,
  room: Room,
): LaneDigest | null {
  const at = links.findIndex(({ kind }) => kind === 'digest');
  const link = links[at];
  if (link?.kind !== 'digest') return first;
  let before = '';
  let after = '';
  for (const affix of links.slice(0, at)) {
    if (affix.kind === 'prepend') before = affix.piece.text + before;
    else if (affix.kind === 'append') after += affix.piece.text;
  }
  const between = { before: byteText(before), after: byteText(after) };
  const second = digestOf(link, key, digestBytes + between.after.length, room);
  if (second === null || format === 'base64') return null;
  const both = inTurn(first, { ...between, format }, second);
  return both && compileLinks(both, link, links.slice(at + 1), key, room);
}

/** What the second digest takes: the first one, written so, between two texts. */
interface Between {
  readonly before: ByteText;
  readonly format: WrittenDigest['format'];
  readonly after: ByteText;
}

/** Null where there is no room for the text before. */
function inTurn(
  first: LaneDigest,
  { before, format, after }: Between,
  second: LaneDigest,
): LaneDigest | null {
  const { initial, bigEndian } = first.compressor;
  const written = { format, wordCount: initial.length, bigEndian };
  const { lanes, digest, compressor } = second;
  const beginning = second.begin();
  beginning.set(before);
  if (beginning.isTooLong) return null;
  return {
    ...first,
    compressor,
    digest: (count) => {
      const digests = first.digest(count);
      for (let lane = 0; lane < count; lane++) lanes.putDigest(lane, beginning, digests, written, after);
      return digest(count);
    },
  };
}

function digestOf(
  { algorithm, hmac }: DigestLink,
  key: KeyForm | null,
  textBytes: number,
  room: Room,
): LaneDigest | null {
  const compressor = algorithm === 'sha512' ? null : compressors[algorithm];
  if (compressor === null) return null;
  if (!hmac || key === null) return plainDigest(compressor, () => new Beginning(compressor), textBytes, room);
  const padded = new Uint8Array(blockBytes);
  padded.set(key.bytes.length > blockBytes ? hash(algorithm, key.bytes, 'buffer') : key.bytes);
  const padWith = (pad: number) => {
    const lead = padded.map((byte) => byte ^ pad);
    return () => new Beginning(compressor, lead);
  };
  const inner = plainDigest(compressor, padWith(0x36), textBytes, room);
  const outer = plainDigest(compressor, padWith(0x5c), digestBytes, room);
  return inTurn(inner, { before: noText, format: 'raw', after: noText }, outer);
}

function plainDigest(
  compressor: Compressor,
  begin: LaneDigest['begin'],
  textBytes: number,
  room: Room,
): LaneDigest {
  const lanes = new Lanes(compressor, room, textBytes);
  return { begin, lanes, compressor, digest: (count) => lanes.digest(count) };
}
