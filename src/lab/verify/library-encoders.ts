import { encoders, type TextEncoding } from '../../core/signing/encodings.js';

/** What each encoding of a recipe does, by the library that does it. */
export const encodingWords: Readonly<Record<TextEncoding, string>> = {
  none: 'not encoded',
  form: 'form-encoded as by Java (a space as +, * as it is)',
  'form-php': 'form-encoded as by PHP (a space as +, * as %2A)',
  'form-python': 'form-encoded as by Python (a space as +, ~ as it is)',
  'form-dotnet': 'form-encoded as by HttpUtility of .NET (a space as +, escapes in lower case)',
  rfc3986: 'percent-encoded (a space as %20)',
  javascript: "percent-encoded as by encodeURIComponent of JavaScript (!*()' as they are)",
};

/** An encoder of a library, or a usual chain of calls, that no recipe has. */
export interface LibraryEncoder {
  readonly how: string;
  /** The encoding that it is alike. */
  readonly like: TextEncoding;
  /** What it writes in place of a text of that encoding. */
  readonly writes: Readonly<Record<string, string>>;
}

export const libraryEncoders: readonly LibraryEncoder[] = [
  {
    how: 'percent-encoded as by quote of Python (/ as it is)',
    like: 'rfc3986',
    writes: { '%2F': '/' },
  },
  {
    how: 'form-encoded as by Java, + replaced by %20 (* as it is, ~ as %7E)',
    like: 'form',
    writes: { '+': '%20' },
  },
  {
    how: 'form-encoded as by Java, + replaced by %20 (* as it is, ~ as it is)',
    like: 'form',
    writes: { '+': '%20', '%7E': '~' },
  },
  {
    how: 'form-encoded as by Java, + replaced by %20 (* as %2A, ~ as %7E)',
    like: 'form-php',
    writes: { '+': '%20' },
  },
  {
    how: 'form-encoded as by WebUtility of .NET (a space as +, !*() as they are)',
    like: 'javascript',
    writes: { '%20': '+', '~': '%7E', "'": '%27' },
  },
  {
    how: 'percent-encoded with escapes in lower case',
    like: 'form-dotnet',
    writes: { '+': '%20', '!': '%21', '*': '%2a', '(': '%28', ')': '%29', '%7e': '~' },
  },
  {
    how: 'encoded as by encodeURI of JavaScript (,/?:@&=+$# as they are)',
    like: 'javascript',
    writes: Object.fromEntries([...',/?:@&=+$#;'].map((mark) => [encodeURIComponent(mark), mark])),
  },
  {
    how: 'percent-encoded but for +, which stays',
    like: 'rfc3986',
    writes: { '%2B': '+' },
  },
];

/** A text as a library encodes it. */
export function encodedBy({ like, writes }: LibraryEncoder, text: string): string {
  // In one pass: what was put in is not replaced again.
  return encoders[like](text).replace(/%[\da-f]{2}|./gis, (piece) => writes[piece] ?? piece);
}
