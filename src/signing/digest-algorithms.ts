import { createHmac, hash } from 'node:crypto';

export const algorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
export type Algorithm = (typeof algorithms)[number];

/** Formats of a digest; `base64-of-hex` is base64 of the lower-case hex text. */
export const outputs = ['hex', 'HEX', 'base64', 'base64url', 'base64-of-hex'] as const;
export type Output = (typeof outputs)[number];

/** @internal A digest, or an HMAC where there is a key, as text. */
export function digestText(
  algorithm: Algorithm,
  data: string | Buffer,
  output: Output,
  key: Buffer | null = null,
): string {
  switch (output) {
    case 'HEX':
      return digest(algorithm, data, 'hex', key).toUpperCase();
    case 'base64-of-hex':
      return Buffer.from(digest(algorithm, data, 'hex', key)).toString('base64');
    default:
      return digest(algorithm, data, output, key);
  }
}

/** @internal A digest, or an HMAC where there is a key, as bytes. */
export function digestBytes(algorithm: Algorithm, data: string | Buffer, key: Buffer | null): Buffer {
  return key === null ? hash(algorithm, data, 'buffer') : createHmac(algorithm, key).update(data).digest();
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
  return key === null
    ? hash(algorithm, data, encoding)
    : createHmac(algorithm, key).update(data).digest(encoding);
}
