import { closingQuote } from '../../core/support/closing-quote.js';
import { SampleError } from './captured-request.js';

/**
 * Ends a command, between words. A line break does not where an option, a quote or a URL follows.
 */
const end = /\d?>|[|;&<]|\r?\n(?!\s{0,200}(?:-|['"]|https?:))/y;

/** Blanks, or the start of a part of a word, by the kind of its quoting. */
const shellPart = new RegExp(
  [
    /(?<blank>[ \t]+|\r?\n)/,
    /'(?<single>[^']*)'/,
    /(?<opening>\$'|")/,
    /\\(?<escaped>\r?\n|.)/,
    /(?<bare>[^\s'"\\]+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'suy',
);

/** A part of a command, and where it ends in the text. */
interface Part {
  /** Its share of a word; `null` for blanks, and for a line that goes on in the next one. */
  readonly text: string | null;
  readonly end: number;
  readonly isBlank: boolean;
}

/**
 * The words of the first command in a text for bash, as bash would pass them on. An `&` inside a
 * word is kept: a URL may have lost its quotes.
 *
 * @throws SampleError for an unclosed quote, or a variable, whose value only the shell knew
 */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let position = 0;
  while (position < text.length) {
    if (word === null && endsAt(text, position)) break;
    const part = readPart(text, position);
    if (part.text !== null) word = (word ?? '') + part.text;
    if (part.isBlank) {
      if (word !== null) words.push(word);
      word = null;
      if (endsAt(text, position)) break;
    }
    position = part.end;
  }
  if (word !== null) words.push(word);
  return words;
}

function endsAt(text: string, position: number): boolean {
  end.lastIndex = position;
  return end.test(text);
}

/** @throws SampleError as `shellWords` */
function readPart(text: string, position: number): Part {
  shellPart.lastIndex = position;
  const { groups } = shellPart.exec(text) ?? {};
  if (groups === undefined) throw unclosedQuote();
  const partEnd = shellPart.lastIndex;
  const { blank, single, opening, escaped, bare = '' } = groups;
  if (blank !== undefined) return { text: null, end: partEnd, isBlank: true };
  if (opening !== undefined) return readQuoted(text, partEnd, opening);
  if (escaped?.endsWith('\n')) return { text: null, end: partEnd, isBlank: false };
  return { text: escaped ?? single ?? checkBare(bare), end: partEnd, isBlank: false };
}

/** A quoted part. A pattern would overflow the stack in a text of millions of characters. */
function readQuoted(text: string, start: number, opening: string): Part {
  const close = closingQuote(text, start - 1);
  if (close < 0) throw unclosedQuote();
  const quoted = unescapeQuoted(opening, text.slice(start, close));
  return { text: quoted, end: close + 1, isBlank: false };
}

function unclosedQuote(): SampleError {
  return new SampleError('a quote of the command is not closed');
}

/** What is between `"` and `"`, or between `$'` and `'`. */
function unescapeQuoted(opening: string, quoted: string): string {
  if (opening === '"') return unescapeDouble(quoted);
  return unescapeAnsi(quoted);
}

function unescapeDouble(text: string): string {
  checkBare(text.replace(/\\./gs, ''));
  return text.replace(/\\(?:\r?\n|([$`"\\]))/g, (_, character = '') => character);
}

function checkBare(text: string): string {
  const [variable] = /\$\w+|\$[{(]|`/.exec(text) ?? [];
  if (variable === undefined) return text;
  throw new SampleError(
    `the command holds ${variable}, which only the shell can replace`,
    'Put the value in its place, or use single quotes where the text itself is meant.',
  );
}

const controls: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ansiEscape =
  /((?:\\x[\da-fA-F]{1,2}|\\[0-7]{1,3})+)|\\(?:u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([\s\S]))/g;

/**
 * The text of `$'…'`. An escape that bash does not know stays.
 *
 * @throws SampleError for bytes that are not UTF-8
 */
function unescapeAnsi(text: string): string {
  return text.replace(
    ansiEscape,
    (whole, bytes?: string, unit?: string, point?: string, character = '') => {
      if (bytes !== undefined) return textOfBytes(bytes);
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      if (point !== undefined)
        return String.fromCodePoint(Math.min(Number.parseInt(point, 16), 0x10ffff));
      if (/['"?\\]/.test(character)) return character;
      return controls[character] ?? whole;
    },
  );
}

/** The byte of an escape without its backslash: `xe5` in hex, `345` in octal. */
function byteOf(escaped: string): number {
  if (escaped.startsWith('x')) return Number.parseInt(escaped.slice(1), 16);
  return Number.parseInt(escaped, 8);
}

/** The text of bytes in hex or octal: `\xe5\xbc\xa0`. */
function textOfBytes(escapes: string): string {
  const bytes = escapes.split('\\').slice(1).map(byteOf);
  const text = Buffer.from(bytes).toString();
  if (!text.includes('\ufffd')) return text;
  throw new SampleError("the bytes of a $'…' in the command are not UTF-8");
}
