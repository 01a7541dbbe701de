import type { Algorithm } from '../../core/signing/digest-algorithms.js';

/** The languages that rules are exported to. */
export const languageNames = ['python', 'php', 'java', 'go', 'javascript', 'csharp'] as const;
export type LanguageName = (typeof languageNames)[number];

/** The names of a digest and of its HMAC in a language; null where its library has none. */
interface DigestNames {
  readonly digest: string | null;
  readonly hmac: string | null;
}

type NamesByLanguage = Readonly<Record<LanguageName, DigestNames>>;

/** The names of each algorithm in each language. */
export const digestNames: Readonly<Record<Algorithm, NamesByLanguage>> = {
  md5: {
    python: { digest: 'md5', hmac: 'md5' },
    php: { digest: 'md5', hmac: 'md5' },
    javascript: { digest: 'md5', hmac: 'md5' },
    java: { digest: 'MD5', hmac: 'HmacMD5' },
    go: { digest: 'md5.New', hmac: 'md5.New' },
    csharp: { digest: 'MD5', hmac: 'HMACMD5' },
  },
  sha1: {
    python: { digest: 'sha1', hmac: 'sha1' },
    php: { digest: 'sha1', hmac: 'sha1' },
    javascript: { digest: 'sha1', hmac: 'sha1' },
    java: { digest: 'SHA-1', hmac: 'HmacSHA1' },
    go: { digest: 'sha1.New', hmac: 'sha1.New' },
    csharp: { digest: 'SHA1', hmac: 'HMACSHA1' },
  },
  sha256: {
    python: { digest: 'sha256', hmac: 'sha256' },
    php: { digest: 'sha256', hmac: 'sha256' },
    javascript: { digest: 'sha256', hmac: 'sha256' },
    java: { digest: 'SHA-256', hmac: 'HmacSHA256' },
    go: { digest: 'sha256.New', hmac: 'sha256.New' },
    csharp: { digest: 'SHA256', hmac: 'HMACSHA256' },
  },
  sha384: {
    python: { digest: 'sha384', hmac: 'sha384' },
    php: { digest: 'sha384', hmac: 'sha384' },
    javascript: { digest: 'sha384', hmac: 'sha384' },
    java: { digest: 'SHA-384', hmac: 'HmacSHA384' },
    go: { digest: 'sha512.New384', hmac: 'sha512.New384' },
    csharp: { digest: 'SHA384', hmac: 'HMACSHA384' },
  },
  sha512: {
    python: { digest: 'sha512', hmac: 'sha512' },
    php: { digest: 'sha512', hmac: 'sha512' },
    javascript: { digest: 'sha512', hmac: 'sha512' },
    java: { digest: 'SHA-512', hmac: 'HmacSHA512' },
    go: { digest: 'sha512.New', hmac: 'sha512.New' },
    csharp: { digest: 'SHA512', hmac: 'HMACSHA512' },
  },
};
