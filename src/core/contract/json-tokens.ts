import { closingQuote } from '../support/closing-quote.js';

/** A token of a JSON text: a bracket, comma, colon, string, number or literal. */
export interface JsonToken {
  readonly start: number;
  readonly end: number;
}

/** The tokens of valid JSON, by position, without parsing their values. */
export function* jsonTokens(json: string): Generator<JsonToken> {
  const beginning = /[{}[\],:"]|[^\s{}[\],:"]+/g;
  for (let found = beginning.exec(json); found !== null; found = beginning.exec(json)) {
    const start = found.index;
    if (found[0] === '"') beginning.lastIndex = closingQuote(json, start) + 1;
    yield { start, end: beginning.lastIndex };
  }
}

/**
 * The members of the object in a JSON text, in order, with duplicates: each key, and its value as
 * written, on one line.
 */
export function* membersIn(json: string): Generator<[key: string, value: string]> {
  let key: string | undefined;
  let value = '';
  let depth = 0;
  let last = '';
  for (const { start, end } of jsonTokens(json)) {
    const token = json.slice(start, end);
    if (token === '}' || token === ']') depth -= 1;
    if (depth === 1 && token === ':') [key, value] = [JSON.parse(last), ''];
    else if (key !== undefined && (depth === 0 || (depth === 1 && token === ','))) {
      yield [key, value];
      key = undefined;
    } else value += token;
    if (token === '{' || token === '[') depth += 1;
    last = token;
  }
}

/**
 * The last value of a key of the object in a JSON text, on one line, its numbers and escapes as
 * they are.
 */
export function memberText(json: string, key: string): string | undefined {
  return [...membersIn(json)].findLast(([name]) => name === key)?.[1];
}

/** Whether JSON is nested more than `maxLevels` deep; otherwise the text is not validated. */
export function isNestedBeyond(json: string, maxLevels: number): boolean {
  if (json.length <= maxLevels || !hasMoreBrackets(json, maxLevels)) return false;
  let level = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') {
      at = closingQuote(json, at);
      if (at < 0) return false;
    } else if (character === '{' || character === '[') {
      level += 1;
      if (level > maxLevels) return true;
    } else if (character === '}' || character === ']') level -= 1;
  }
  return false;
}

/** Whether more than `count` objects and arrays begin in JSON: fewer cannot be nested deeper. */
function hasMoreBrackets(json: string, count: number): boolean {
  const bracket = /[[{]/g;
  for (let found = 0; found <= count; found += 1) if (!bracket.test(json)) return false;
  return true;
}
