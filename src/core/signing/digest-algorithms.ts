import { createHmac, hash } from 'node:crypto';

/** The digest algorithms of recipes. */
export const algorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;
/** A digest algorithm that a recipe can name. */
export type Algorithm = (typeof algorithms)[number];

/** The languages that rules are exported to. */
export const languageNames = ['python', 'php', 'java', 'go', 'javascript', 'csharp'] as const;
export type LanguageName = (typeof languageNames)[number];

/** The names of a digest and of its HMAC in a language; null where its library has none. */
export type NamesInLanguage = readonly [digest: string | null, hmac: string | null];

/** All that is known of a digest algorithm. */
export interface AlgorithmFacts {
  /** As people write it. */
  readonly title: string;
  readonly names: Readonly<Record<LanguageName, NamesInLanguage>>;
}

/** The facts of each algorithm. */
export const algorithmFacts: Readonly<Record<Algorithm, AlgorithmFacts>> = {
  md5: {
    title: 'MD5',
    names: {
      python: ['md5', 'md5'],
      php: ['md5', 'md5'],
      javascript: ['md5', 'md5'],
      java: ['MD5', 'HmacMD5'],
      go: ['md5.New', 'md5.New'],
      csharp: ['MD5', 'HMACMD5'],
    },
  },
  sha1: {
    title: 'SHA-1',
    names: {
      python: ['sha1', 'sha1'],
      php: ['sha1', 'sha1'],
      javascript: ['sha1', 'sha1'],
      java: ['SHA-1', 'HmacSHA1'],
      go: ['sha1.New', 'sha1.New'],
      csharp: ['SHA1', 'HMACSHA1'],
    },
  },
  sha256: {
    title: 'SHA-256',
    names: {
      python: ['sha256', 'sha256'],
      php: ['sha256', 'sha256'],
      javascript: ['sha256', 'sha256'],
      java: ['SHA-256', 'HmacSHA256'],
      go: ['sha256.New', 'sha256.New'],
      csharp: ['SHA256', 'HMACSHA256'],
    },
  },
  sha384: {
    title: 'SHA-384',
    names: {
      python: ['sha384', 'sha384'],
      php: ['sha384', 'sha384'],
      javascript: ['sha384', 'sha384'],
      java: ['SHA-384', 'HmacSHA384'],
      go: ['sha512.New384', 'sha512.New384'],
      csharp: ['SHA384', 'HMACSHA384'],
    },
  },
  sha512: {
    title: 'SHA-512',
    names: {
      python: ['sha512', 'sha512'],
      php: ['sha512', 'sha512'],
      javascript: ['sha512', 'sha512'],
      java: ['SHA-512', 'HmacSHA512'],
      go: ['sha512.New', 'sha512.New'],
      csharp: ['SHA512', 'HMACSHA512'],
    },
  },
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
