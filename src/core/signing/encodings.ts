import { encodeText, percent } from '../support/percent-encoding.js';

export const cases = ['none', 'lower', 'upper'] as const;
export type Case = (typeof cases)[number];

export const folds: Readonly<Record<Case, (text: string) => string>> = {
  none: (text) => text,
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
};

/**
 * Encodings that work character by character: the encoding of a text is the encoding of its parts.
 */
export const textEncodings = [
  'none',
  'form',
  'form-php',
  'form-python',
  'form-dotnet',
  'rfc3986',
  'javascript',
] as const;
export type TextEncoding = (typeof textEncodings)[number];

export const blockEncodings = [...textEncodings, 'base64'] as const;
export type BlockEncoding = (typeof blockEncodings)[number];

export const encoders: Readonly<Record<BlockEncoding, (text: string) => string>> = {
  none: (text) => text,
  form: encodeForm,
  'form-php': (text) => encodeForm(text).replaceAll('*', '%2A'),
  'form-python': (text) => encodeText(text.toWellFormed()).replaceAll('%20', '+'),
  'form-dotnet': encodeFormDotnet,
  rfc3986: (text) => encodeText(text.toWellFormed()),
  javascript: encodeComponent,
  base64: (text) => Buffer.from(text).toString('base64'),
};

/**
 * application/x-www-form-urlencoded as in WHATWG and Java's URLEncoder: a space is `+`, `*` is not
 * escaped.
 */
function encodeForm(text: string): string {
  return encodeComponent(text)
    .replace(/[!'()~]/g, percent)
    .replaceAll('%20', '+');
}

/**
 * .NET's HttpUtility.UrlEncode: lower-case escapes, a space is `+`, `!*()` are not escaped, `~` and
 * `'` are.
 */
function encodeFormDotnet(text: string): string {
  return encodeComponent(text)
    .replace(/['~]/g, percent)
    .replace(/%[\dA-F]{2}/g, folds.lower)
    .replaceAll('%20', '+');
}

/**
 * An unpaired surrogate becomes U+FFFD, as in the bytes that a digest takes, where JavaScript
 * throws.
 */
function encodeComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The characters in reverse order; a surrogate pair is one. */
export function reverse(text: string): string {
  return [...text].reverse().join('');
}

/** The first eight digits: the date of a time in ISO 8601. */
export function dateOf(text: string): string {
  return text.replace(/[^0-9]/g, '').slice(0, 8);
}

/** The pairs of a query sorted by name, then by value. */
export function sortPairs(text: string): string {
  const keyed = text.split('&').map((pair) => [pair.replace('=', '\0'), pair] as const);
  return keyed
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([, pair]) => pair)
    .join('&');
}

/** The number of bytes in UTF-8, in decimal. */
export function byteLength(text: string): string {
  return `${Buffer.byteLength(text)}`;
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
