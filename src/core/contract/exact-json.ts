// JSON of an answer, with numbers that have the value that was sent.
import { isLosslessNumber, isSafeNumber, LosslessNumber } from 'lossless-json';
import { type JsonToken, jsonTokens } from './json-tokens.js';
import { mayBeValue } from './masking.js';

/** A parsed JSON object or list; numbers may be lossless numbers of lossless-json. */
export type Nested = Record<string, unknown> | unknown[];

/** Whether a parsed value is an object or a list. */
export function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value);
}

/** Whether a parsed value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isNested(value) && !Array.isArray(value);
}

/**
 * A number that JavaScript may write otherwise: 16 digits or more, a fraction, an exponent, or -0.
 */
const mayBeWrittenOtherwise = /(?:^|[[:,])\s*(?:-0|-?\d{16}|-?\d+[.eE])/;
/**
 * A number that JavaScript may not hold: 16 digits or more, or an exponent. With fewer digits it
 * holds each number.
 */
const mayBeRounded = /[[:,]\s*-?(?:\d(?:\.?\d){15}|\d[\d.]*[eE])/;

/**
 * Parses the JSON of an answer: numbers that JavaScript would write otherwise become lossless
 * numbers. Of duplicate keys the last one wins, as in JSON.parse.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseExact(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!mayBeWrittenOtherwise.test(json)) return value;
  return parseLossless(json);
}

/** JSON as a program of JavaScript takes it. */
export interface PlainJson {
  readonly value: unknown;
  /** Where a number that JavaScript would round became text, as a JMESPath expression names it. */
  readonly textPaths: readonly string[];
}

/**
 * Parses the JSON of an answer: a number that JavaScript would round becomes text, as it is
 * written.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parsePlain(json: string): PlainJson {
  if (!mayBeRounded.test(json)) return { value: JSON.parse(json), textPaths: [] };
  const paths = new Set<string>();
  return { value: toPlain(parseExact(json), '', paths), textPaths: [...paths] };
}

/** The number of JavaScript with the same value; without one, the text of the number. */
export function plainNumber(number: LosslessNumber): number | string {
  const digits = number.toString();
  return isSafeNumber(digits) ? Number(digits) : digits;
}

/** Adds the paths of numbers that become text. */
function toPlain(value: unknown, path: string, paths: Set<string>): unknown {
  if (isLosslessNumber(value)) {
    const plain = plainNumber(value);
    if (typeof plain === 'string') paths.add(path);
    return plain;
  }
  if (Array.isArray(value)) return value.map((item) => toPlain(item, `${path}[]`, paths));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(
    ([key, member]) => [key, toPlain(member, memberPath(path, key), paths)] as const,
  );
  return Object.fromEntries(members);
}

/** The path of a member; a key that may be a value is masked. */
function memberPath(path: string, key: string): string {
  const name = mayBeValue(key) ? '****' : queryName(key);
  if (path === '') return name;
  return `${path}.${name}`;
}

/** A key as a JMESPath expression names it. */
export function queryName(key: string): string {
  if (/^[A-Za-z_]\w*$/.test(key)) return key;
  return JSON.stringify(key);
}

/** Parses valid JSON: a number that JavaScript would write otherwise becomes a lossless number. */
function parseLossless(json: string): unknown {
  return new LosslessParser(json).parse();
}

/**
 * Not lossless-json's own parser: it joins a text character by character, which takes 40 times its
 * size.
 */
class LosslessParser {
  readonly #json: string;
  readonly #tokens: Iterator<JsonToken>;

  constructor(json: string) {
    this.#json = json;
    this.#tokens = jsonTokens(json);
  }

  parse(): unknown {
    return this.#value(this.#next());
  }

  /** The next token as written; empty at the end of the text. */
  #next(): string {
    const { start = 0, end = 0 } = this.#tokens.next().value ?? {};
    return this.#json.slice(start, end);
  }

  /** The value that begins with this token. */
  #value(token: string): unknown {
    if (token === '{') return Object.fromEntries(this.#members());
    if (token === '[') return [...this.#items()];
    return parseScalar(token);
  }

  *#members(): Generator<[key: string, value: unknown]> {
    for (let token = this.#next(); token !== '}'; token = this.#next()) {
      if (token === ',') continue;
      this.#next(); // the colon
      yield [JSON.parse(token), this.#value(this.#next())];
    }
  }

  *#items(): Generator<unknown> {
    for (let token = this.#next(); token !== ']'; token = this.#next())
      if (token !== ',') yield this.#value(token);
  }
}

function parseScalar(token: string): unknown {
  const value: unknown = JSON.parse(token);
  if (typeof value !== 'number') return value;
  // Above 2^53 several integers are one number: even one that is printed alike may be another.
  const isBeyond = Number.isInteger(value) && !Number.isSafeInteger(value);
  if (isBeyond || String(value) !== token) return new LosslessNumber(token);
  return value;
}
