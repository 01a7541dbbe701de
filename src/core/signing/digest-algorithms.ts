import { createHmac, hash } from 'node:crypto';

/** The digest algorithms of recipes. */
export const algorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
/** A digest algorithm that a recipe can name. */
export type Algorithm = (typeof algorithms)[number];

/** The algorithms as people write them. */
export const algorithmTitles: Readonly<Record<Algorithm, string>> = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

/** Formats of a digest. */
export const outputs = ['hex', 'HEX', 'base64', 'base64url'] as const;
/** A format of a digest as text. */
export type Output = (typeof outputs)[number];

/** @internal A digest, or an HMAC where there is a key, as text. */
export function digestText(
  algorithm: Algorithm,
  data: string | Buffer,
  output: Output,
  key: Buffer | null = null,
): string {
  if (output === 'HEX') return digest(algorithm, data, 'hex', key).toUpperCase();
  return digest(algorithm, data, output, key);
}

/** @internal A digest, or an HMAC where there is a key, as bytes. */
export function digestBytes(
  algorithm: Algorithm,
  data: string | Buffer,
  key: Buffer | null,
): Buffer {
  if (key === null) return hash(algorithm, data, 'buffer');
  return createHmac(algorithm, key).update(data).digest();
}

/** The length of a digest in characters. */
export function writtenLength(algorithm: Algorithm, output: Output): number {
  return digestText(algorithm, '', output).length;
}

function digest(
  algorithm: Algorithm,
  data: string | Buffer,
  encoding: 'hex' | 'base64' | 'base64url',
  key: Buffer | null,
): string {
  if (key === null) return hash(algorithm, data, encoding);
  return createHmac(algorithm, key).update(data).digest(encoding);
}
