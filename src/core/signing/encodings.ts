import { encodeText, percent } from '../support/percent-encoding.js';

/** Changes of letter case. */
export const folds: Readonly<Record<'lower' | 'upper', (text: string) => string>> = {
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

/** The function of each encoding. */
export const encoders: Readonly<Record<TextEncoding, (text: string) => string>> = {
  none: (text) => text,
  form: encodeForm,
  'form-php': (text) => encodeForm(text).replaceAll('*', '%2A'),
  'form-python': (text) => encodeText(text.toWellFormed()).replaceAll('%20', '+'),
  'form-dotnet': encodeFormDotnet,
  rfc3986: (text) => encodeText(text.toWellFormed()),
  javascript: encodeComponent,
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

/** The base64 of the UTF-8 of a text. */
export function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
