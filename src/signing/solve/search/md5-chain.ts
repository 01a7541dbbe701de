import { hash } from 'node:crypto';
import type { Chain } from '../space/chain.js';
import { Md5 } from './md5.js';
import { MessageBytes } from './message-bytes.js';

type MayFit = (message: MessageBytes) => boolean;

const blockBytes = 64;

/**
 * Tells whether a message may have the signature by a chain of one MD5 or HMAC-MD5: whether the first four bytes are
 * right. Null for any other chain, and for a signature that does not begin with those bytes.
 */
export function compileMd5({ links, key, reading }: Chain): MayFit | null {
  const [link] = links;
  if (links.length !== 1 || link?.kind !== 'digest' || link.algorithm !== 'md5') return null;
  if ((reading.cut?.[0] ?? 0) !== 0 || reading.digest.length < 8) return null;
  const wanted = Buffer.from(reading.digest.slice(0, 8), 'hex').readInt32LE();
  if (!link.hmac || key === null) {
    const md5 = new Md5();
    return (message) => md5.digest(message)[0] === wanted;
  }
  return compileHmac(key.bytes, wanted);
}

/** RFC 2104. */
function compileHmac(key: Buffer, wanted: number): MayFit {
  const padded = Buffer.alloc(blockBytes);
  padded.set(key.length > blockBytes ? hash('md5', key, 'buffer') : key);
  const inner = new Md5(padded.map((byte) => byte ^ 0x36));
  const outer = new Md5(padded.map((byte) => byte ^ 0x5c));
  const digested = new MessageBytes();
  return (message) => {
    digested.endWithWords(inner.digest(message));
    return outer.digest(digested)[0] === wanted;
  };
}
