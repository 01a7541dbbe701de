interface TextCause {
  readonly words: string;
  /** What makes the two the same, if this is the cause. */
  readonly even: (text: string) => string;
}

const causes: readonly TextCause[] = [
  { words: 'Line breaks: one has CR LF, the other LF', even: (text) => text.replaceAll('\r\n', '\n') },
  { words: 'A line break at the end of one of them', even: (text) => text.replace(/[\r\n]+$/, '') },
  { words: 'White space at the beginning or the end of one of them', even: (text) => text.trim() },
  { words: 'Letter case of the percent escapes: %2f and %2F', even: upperEscapes },
  {
    words: 'Encoding: a space is + in one of them and %20 in the other',
    even: (text) => text.replaceAll('+', '%20'),
  },
  { words: 'Encoding: one of them is percent-encoded, the other is not, or not as often', even: decodeAll },
  {
    words: 'Encoding: one of them is form-encoded (a space as +), the other is not',
    even: (text) => decodeAll(text.replaceAll('+', ' ')),
  },
  { words: 'Escapes: one of them has \\u escapes for non-ASCII characters', even: unescapeUnicode },
  { words: 'Escapes: one of them has \\/ for slashes', even: (text) => text.replaceAll('\\/', '/') },
  { words: 'Letter case', even: (text) => text.toLowerCase() },
  { words: 'Unicode normal form: the same characters in other bytes', even: (text) => text.normalize('NFC') },
  { words: 'White space inside', even: (text) => text.replace(/\s/g, '') },
  { words: 'Invisible characters', even: (text) => text.replace(/[\p{Cf}\p{Cc}]/gu, '') },
];

/** The one thing that keeps two texts from being the same, in words; null where there is no such thing. */
export function textCause(ours: string, theirs: string): string | null {
  return causes.find(({ even }) => even(ours) === even(theirs))?.words ?? null;
}

function upperEscapes(text: string): string {
  return text.replace(/%[\da-f]{2}/gi, (found) => found.toUpperCase());
}

function decodeAll(text: string): string {
  let decoded = text;
  for (;;) {
    const next = decoded.replace(/(?:%[\da-f]{2})+/gi, decodeEscapes);
    if (next === decoded) return decoded;
    decoded = next;
  }
}

function decodeEscapes(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

function unescapeUnicode(text: string): string {
  return text.replace(/\\u([\da-f]{4})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
