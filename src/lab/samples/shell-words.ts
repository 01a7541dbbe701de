import { closingQuote } from '../../core/support/closing-quote.js';
import { SampleError } from './sample-error.js';

/**
 * Ends a command, between words. A line break does not where an option, a quote or a URL follows.
 */
const end = /\d?>|[|;&<]|\r?\n(?!\s{0,200}(?:-|['"]|https?:))/y;

/** Blanks, then the kinds of quoting within a word. */
const shellPart = /([ \t]+|\r?\n)|'([^']*)'|(\$'|")|\\(\r?\n|.)|([^\s'"\\]+)/suy;

/**
 * The words of the first command in a text for bash, as bash would pass them on. An `&` inside a
 * word is kept: a URL may have lost its quotes.
 *
 * @throws SampleError for an unclosed quote, or a variable, whose value only the shell knew
 */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    end.lastIndex = at;
    if (word === null && end.test(text)) break;
    shellPart.lastIndex = at;
    const found = shellPart.exec(text);
    if (found === null) throw new SampleError('a quote of the command is not closed');
    at = shellPart.lastIndex;
    const [, blank, single, opened, escaped, bare] = found;
    if (blank !== undefined) {
      if (word !== null) words.push(word);
      word = null;
      end.lastIndex = at - blank.length;
      if (end.test(text)) break;
    } else if (escaped !== undefined) {
      if (!escaped.endsWith('\n')) word = (word ?? '') + escaped;
    } else if (opened !== undefined) {
      // A pattern would overflow the stack in a text of millions of characters.
      const close = closingQuote(text, at - 1);
      if (close < 0) throw new SampleError('a quote of the command is not closed');
      const quoted = text.slice(at, close);
      word = (word ?? '') + (opened === '"' ? unescapeDouble(quoted) : unescapeAnsi(quoted));
      at = close + 1;
    } else word = (word ?? '') + (single ?? checkBare(bare ?? ''));
  }
  return word === null ? words : [...words, word];
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
    (whole, bytes?: string, unit?: string, point?: string, other = '') => {
      if (bytes !== undefined) return textOfBytes(bytes);
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      if (point !== undefined)
        return String.fromCodePoint(Math.min(Number.parseInt(point, 16), 0x10ffff));
      return controls[other] ?? (/['"?\\]/.test(other) ? other : whole);
    },
  );
}

/** The text of bytes in hex or octal: `\xe5\xbc\xa0`. */
function textOfBytes(escapes: string): string {
  const codes = escapes.split('\\').slice(1);
  const bytes = codes.map((digits) =>
    digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 8),
  );
  const text = Buffer.from(bytes).toString();
  if (!text.includes('\ufffd')) return text;
  throw new SampleError("the bytes of a $'…' in the command are not UTF-8");
}
