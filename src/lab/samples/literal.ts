import type { Param } from '../../core/signing/request.js';
import { closingQuote } from '../../core/support/closing-quote.js';
import { jsonValueOf } from '../../core/support/json-value.js';
import { SampleError } from './sample-error.js';

/** A constant as it is written in JSON, JavaScript, Python, Ruby or PHP. */
export type Literal = (
  | { readonly kind: 'text' | 'word'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Literal[] }
  | {
      readonly kind: 'object';
      readonly members: readonly (readonly [name: string, value: Literal])[];
    }
) & {
  /** The value as it is written. */
  readonly source: string;
};

const maxDepth = 100;

/** A word such as a number, or a mark: one of these may open a text in quotes. */
const part = /[^\S\n]*(?:b(?=['"]))?(?:([\w$.+-]+)|(=>|[\s\S]))/y;

/** Reads constants one after the other, such as the arguments of a call. */
export class LiteralReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.#at = at;
  }

  /** The place behind what was read. */
  get at(): number {
    return this.#at;
  }

  takes(...marks: readonly string[]): boolean {
    const before = this.#at;
    const { mark } = this.#next();
    if (mark !== undefined && marks.includes(mark)) return true;
    this.#at = before;
    return false;
  }

  /** @throws SampleError for an expression, or if the text ends */
  value(depth = 0): Literal {
    const { start, quoted, word, mark: found } = this.#next();
    const mark = word === 'array' && this.takes('(') ? '(' : found;
    const source = () => this.#text.slice(start, this.#at).trim();
    if (quoted !== undefined) {
      const isExpression = (quoted.startsWith('`') && quoted.includes('${')) || this.takes('+');
      if (isExpression) throw expression();
      return { kind: 'text', text: unquote(quoted), source: quoted };
    }
    if (
      word !== undefined &&
      mark === undefined &&
      /^(?:null|nil|None|undefined|true|false|True|False|[\d.+-][\w.+-]*)$/.test(word)
    ) {
      return { kind: 'word', text: word, source: word };
    }
    if (mark === undefined && word === undefined)
      throw new SampleError('a value ends in the middle');
    if (depth >= maxDepth) throw expression();
    if (mark === '[' || mark === '(') {
      const items: Literal[] = [];
      const named: (readonly [string, Literal])[] = [];
      while (!this.takes(']', ')')) {
        const item = this.value(depth + 1);
        // An array of PHP may have names.
        if (this.takes('=>') && item.kind !== 'list' && item.kind !== 'object') {
          named.push([item.text, this.value(depth + 1)]);
        } else items.push(item);
        this.takes(',');
      }
      // Python and JavaScript print parameters as a list of pairs, too.
      const pairs = items.map(pairIn);
      if (pairs.every((pair) => pair !== null)) named.push(...pairs);
      return named.length > 0
        ? { kind: 'object', members: named, source: source() }
        : { kind: 'list', items, source: source() };
    }
    if (mark !== '{') throw expression();
    const members: (readonly [string, Literal])[] = [];
    while (!this.takes('}')) {
      // Ruby writes a name as :name.
      this.takes(':');
      const { quoted: given, word: name } = this.#next();
      if ((given ?? name) === undefined || !this.takes(':', '=>')) throw expression();
      members.push([given === undefined ? (name ?? '') : unquote(given), this.value(depth + 1)]);
      this.takes(',');
    }
    return { kind: 'object', members, source: source() };
  }

  #next() {
    for (;;) {
      part.lastIndex = this.#at;
      const found = part.exec(this.#text);
      if (found === null)
        return { start: this.#at, quoted: undefined, word: undefined, mark: undefined };
      const [, word, mark] = found;
      const start = this.#at;
      this.#at = part.lastIndex;
      // A pattern would overflow the stack in a text of millions of characters.
      const close =
        mark !== undefined && /["'`]/.test(mark) ? closingQuote(this.#text, this.#at - 1) : -1;
      if (close >= 0) {
        const quoted = this.#text.slice(this.#at - 1, close + 1);
        this.#at = close + 1;
        return { start, quoted, word: undefined, mark: undefined };
      }
      const isComment = mark === '/' && this.#text.startsWith('/', this.#at);
      if (isComment)
        this.#at = (this.#text.indexOf('\n', this.#at) + 1 || this.#text.length + 1) - 1;
      if (mark !== '\n' && !isComment) return { start, quoted: undefined, word, mark };
    }
  }
}

function pairIn(literal: Literal): readonly [string, Literal] | null {
  const [name, value, ...more] = literal.kind === 'list' ? literal.items : [];
  return name?.kind === 'text' && value?.kind === 'text' && more.length === 0
    ? [name.text, value]
    : null;
}

function expression(): SampleError {
  return new SampleError(
    'there is an expression, whose value only the program knows',
    'Copy the request from the network panel of the browser, or from a log: these have the values.',
  );
}

/** The constant that a text is; undefined for any other text. */
export function constantOf(text: string): Literal | undefined {
  const { value, end } = constantAt(text, 0);
  return ['', ';'].includes(text.slice(end).trim()) ? value : undefined;
}

/**
 * The constant that begins at a place in a text, or why there is none, and the end of what was
 * read.
 */
export function constantAt(
  text: string,
  start: number,
): { readonly value?: Literal; readonly error?: SampleError; readonly end: number } {
  const reader = new LiteralReader(text, start);
  try {
    return { value: reader.value(), end: reader.at };
  } catch (error) {
    if (error instanceof SampleError) return { error, end: reader.at };
    throw error;
  }
}

/** The value of a constant, as JSON.parse returns it, but with numbers as they are written. */
export function plainValue(literal: Literal): unknown {
  switch (literal.kind) {
    case 'text':
      return literal.text;
    case 'word':
      return /^(?:null|nil|None|undefined)$/.test(literal.text) ? null : literal.text;
    case 'list':
      return literal.items.map(plainValue);
    case 'object':
      return Object.fromEntries(literal.members.map(([name, value]) => [name, plainValue(value)]));
  }
}

/**
 * The members of a JSON object in the order of the text, with the text that is signed for each
 * value: a string itself, nothing for null, all others as written. None for any other text.
 * JSON.parse reorders names that look like integers and drops repeated ones.
 */
export function jsonPairs(text: string): Param[] {
  if (!/^\s*\{/.test(text) || jsonValueOf(text) === undefined) return [];
  const literal = constantOf(text);
  return literal?.kind === 'object' ? pairsOf(literal) : [];
}

/** Parameters; each value may be in a list, as programs print what they read of a query. */
export function paramsOf(literal: Literal & { kind: 'object' }): Param[] {
  const lists = literal.members.map(([name, { source, ...value }]): Param[] | null =>
    value.kind === 'list' && value.items.every(({ kind }) => kind === 'text')
      ? value.items.map((item) => [name, (item as { text: string }).text])
      : null,
  );
  return lists.every((list) => list !== null) ? lists.flat() : pairsOf(literal);
}

export function pairsOf({ members }: Literal & { kind: 'object' }): Param[] {
  return members.map(([name, value]) => {
    if (value.kind === 'text') return [name, value.text];
    return [name, plainValue(value) === null ? '' : value.source];
  });
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

const escaped =
  /((?:\\x[\da-fA-F]{1,2}|\\[0-7]{1,3})+)|\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|(\r?\n)|([\s\S]))/g;

function unquote(quoted: string): string {
  return unescapeText(quoted.slice(1, -1));
}

/**
 * A text without the escapes of JavaScript, Python, Go, Java, JSON and of `$'…'` in a shell, which
 * keeps those that it does not know. Escaped bytes may be UTF-8.
 *
 * @throws SampleError for bytes in a shell that are not UTF-8
 */
export function unescapeText(text: string, language: 'any' | 'shell' = 'any'): string {
  if (!text.includes('\\')) return text;
  const isShell = language === 'shell';
  return text.replace(
    escaped,
    (
      whole,
      bytes?: string,
      braced?: string,
      unit?: string,
      point?: string,
      line?: string,
      other = '',
    ) => {
      if (bytes !== undefined) return decodeBytes(bytes, isShell);
      const digits = braced ?? point;
      if (digits !== undefined)
        return String.fromCodePoint(Math.min(Number.parseInt(digits, 16), 0x10ffff));
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      if (line !== undefined) return isShell ? whole : '';
      return controls[other] ?? (isShell && !/['"?\\]/.test(other) ? whole : other);
    },
  );
}

function decodeBytes(escapes: string, isShell: boolean): string {
  const codes = escapes
    .split('\\')
    .slice(1)
    .map((digits) =>
      digits.startsWith('x') ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 8),
    );
  const bytes = Buffer.from(codes);
  const text = bytes.toString();
  if (!text.includes('\ufffd')) return text;
  if (!isShell) return bytes.toString('latin1');
  throw new SampleError("the bytes of a $'…' in the command are not UTF-8");
}
