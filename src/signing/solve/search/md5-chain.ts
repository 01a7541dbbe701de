import { hash } from 'node:crypto';
import type { Chain, DigestLink, Link } from '../space/chain.js';
import type { KeyForm } from '../space/keys.js';
import { Md5 } from './md5.js';
import { blockBytes } from './md5-block.js';
import { type DigestFormat, MessageBytes } from './message-bytes.js';

/** Digests a message, to four words, which the next message overwrites. */
type Digest = (message: MessageBytes) => Int32Array;

/**
 * Tells whether a message may have the signature by a chain of MD5 and HMAC-MD5: whether the first four bytes are
 * right. Null for any other chain, and for a signature that does not begin with those bytes.
 */
export function compileMd5({ links, key, reading }: Chain): ((message: MessageBytes) => boolean) | null {
  if ((reading.cut?.[0] ?? 0) !== 0 || reading.digest.length < 8) return null;
  const digest = compileLinks(links, key);
  const wanted = Buffer.from(reading.digest.slice(0, 8), 'hex').readInt32LE();
  return digest && ((message) => digest(message)[0] === wanted);
}

function compileLinks([first, ...links]: readonly Link[], key: KeyForm | null): Digest | null {
  if (first === undefined || !isMd5(first)) return null;
  let digest = compileDigest(first, key);
  let format = formatOf(first);
  let before = '';
  let after = '';
  for (const link of links) {
    if (link.kind === 'prepend') before = link.piece.text + before;
    else if (link.kind === 'append') after += link.piece.text;
    else if (!isMd5(link) || format === null) return null;
    else {
      digest = inTurn(digest, { before, format, after }, compileDigest(link, key));
      format = formatOf(link);
      before = '';
      after = '';
    }
  }
  return digest;
}

function isMd5(link: Link): link is DigestLink {
  return link.kind === 'digest' && link.algorithm === 'md5';
}

/** Null for a format that is left to others. */
function formatOf({ format }: DigestLink): DigestFormat | null {
  return format === 'base64' ? null : format;
}

/** What the second digest takes: the first one, written so, between two texts. */
interface Between {
  readonly before: string;
  readonly format: DigestFormat;
  readonly after: string;
}

function inTurn(first: Digest, { before, format, after }: Between, second: Digest): Digest {
  const digested = new MessageBytes();
  digested.begin(before);
  return (message) => {
    digested.endWithDigest(first(message), format, after);
    return second(digested);
  };
}

function compileDigest({ hmac }: DigestLink, key: KeyForm | null): Digest {
  if (hmac && key !== null) return compileHmac(key.bytes);
  const md5 = new Md5();
  return (message) => md5.digest(message);
}

/** RFC 2104. */
function compileHmac(key: Buffer): Digest {
  const padded = Buffer.alloc(blockBytes);
  padded.set(key.length > blockBytes ? hash('md5', key, 'buffer') : key);
  const inner = new Md5(padded.map((byte) => byte ^ 0x36));
  const outer = new Md5(padded.map((byte) => byte ^ 0x5c));
  return inTurn(
    (message) => inner.digest(message),
    { before: '', format: 'raw', after: '' },
    (message) => outer.digest(message),
  );
}
