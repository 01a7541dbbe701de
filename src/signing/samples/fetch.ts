import { type CapturedRequest, type Header, SampleError } from './captured-request.js';
import { asObject, asText, scalarText } from './json-value.js';
import { foundAll, partsBehind, type SampleFormat } from './sample-format.js';

export const fetchCall: SampleFormat = {
  name: 'a fetch call',
  from: '"Copy as fetch" of browsers, JavaScript with constants',
  find: ({ text }) => foundAll('call', partsBehind(/\bfetch\s*\(\s*(?=["'`])/g, text), readCall),
};

function readCall(text: string): CapturedRequest {
  const reader = new LiteralReader(text);
  const url = asText(reader.value());
  if (url === null) throw new SampleError('the fetch call has no URL');
  const given = reader.takes(',') && !reader.isAt(')') ? asObject(reader.value()) : null;
  const body = asText(given?.body);
  return {
    method: (asText(given?.method) ?? 'GET').toUpperCase(),
    url,
    headers: Object.entries(asObject(given?.headers) ?? {}).map(
      ([name, value]): Header => [name, scalarText(value)],
    ),
    body,
  };
}

const literalPart =
  /\s*(?:\/\/[^\n]*\n\s*)?(?:"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`|([\w$.+-]+)|([\s\S]))/y;

/** Nested objects are followed this deep. */
const mostDepth = 20;

/** Reads constants of JavaScript: texts, numbers, `null`, objects and lists of these. */
class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAt(mark: string): boolean {
    const before = this.#at;
    const is = this.takes(mark);
    this.#at = before;
    return is;
  }

  takes(mark: string): boolean {
    const before = this.#at;
    if (this.#next()[5] === mark) return true;
    this.#at = before;
    return false;
  }

  /** @throws SampleError for an expression, or if the text ends */
  value(depth = 0): unknown {
    const [, double, single, template, word, mark] = this.#next();
    const quoted = double ?? single ?? template;
    if (template?.includes('${')) throw expression();
    if (quoted !== undefined) {
      if (this.isAt('+')) throw expression();
      return unescapeText(quoted);
    }
    if (word !== undefined && /^(?:null|undefined|true|false|[\d.+-]+)$/.test(word)) {
      return word === 'null' || word === 'undefined' ? null : word;
    }
    if (mark === '{' && depth < mostDepth) return this.#object(depth + 1);
    if (mark === '[' && depth < mostDepth) {
      const items: unknown[] = [];
      while (!this.takes(']')) {
        items.push(this.value(depth + 1));
        this.takes(',');
      }
      return items;
    }
    throw expression();
  }

  #object(depth: number): unknown {
    const members: (readonly [name: string, value: unknown])[] = [];
    while (!this.takes('}')) {
      const [, double, single, , word] = this.#next();
      const name = double ?? single ?? word;
      if (name === undefined || !this.takes(':')) throw expression();
      members.push([unescapeText(name), this.value(depth)]);
      this.takes(',');
    }
    return Object.fromEntries(members);
  }

  #next(): RegExpExecArray {
    literalPart.lastIndex = this.#at;
    const part = literalPart.exec(this.#text);
    if (part === null) throw new SampleError('the fetch call ends in the middle');
    this.#at = literalPart.lastIndex;
    return part;
  }
}

function expression(): SampleError {
  return new SampleError(
    'the fetch call has an expression, whose value only the script knows',
    'Copy the request from the network panel of the browser: it has the values.',
  );
}

const controls: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
};

function unescapeText(text: string): string {
  return text.replace(
    /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|(\r?\n)|([\s\S]))/gi,
    (_, point?: string, unit?: string, byte?: string, line?: string, other = '') => {
      if (point !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(point, 16), 0x10ffff));
      const code = unit ?? byte;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return line === undefined ? (controls[other] ?? other) : '';
    },
  );
}
