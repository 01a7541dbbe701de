import { closingQuote } from '../support/closing-quote.js';

/** A token of a JSON text: a bracket, comma, colon, string, number or literal. */
export interface JsonToken {
  readonly start: number;
  readonly end: number;
}

/** The tokens of valid JSON, by position, without parsing their values. */
export function* jsonTokens(json: string): Generator<JsonToken> {
  const beginning = /[{}[\],:"]|[^\s{}[\],:"]+/g;
  for (let match = beginning.exec(json); match !== null; match = beginning.exec(json)) {
    const start = match.index;
    if (match[0] === '"') beginning.lastIndex = closingQuote(json, start) + 1;
    yield { start, end: beginning.lastIndex };
  }
}

/** A member of an object in a JSON text. */
export interface JsonMember {
  readonly key: string;
  /** The value as written, without white space between its tokens. */
  readonly value: string;
}

/** The members of the object in a JSON text, in order, with duplicates. */
export function* membersIn(json: string): Generator<JsonMember> {
  let key: string | undefined;
  let value = '';
  let depth = 0;
  let last = '';
  for (const { start, end } of jsonTokens(json)) {
    const token = json.slice(start, end);
    if (token === '}' || token === ']') depth -= 1;
    const endsMember = depth === 0 || (depth === 1 && token === ',');
    if (depth === 1 && token === ':') {
      key = JSON.parse(last);
      value = '';
    } else if (key !== undefined && endsMember) {
      yield { key, value };
      key = undefined;
    } else {
      value += token;
    }
    if (token === '{' || token === '[') depth += 1;
    last = token;
  }
}

/**
 * The last value of a key of the object in a JSON text, as written, without white space between its
 * tokens; `undefined` if the object has no such key.
 */
export function memberText(json: string, key: string): string | undefined {
  return [...membersIn(json)].findLast((member) => member.key === key)?.value;
}

/** Whether JSON is nested more than `maxLevels` deep; otherwise the text is not validated. */
export function isNestedBeyond(json: string, maxLevels: number): boolean {
  if (json.length <= maxLevels || !hasMoreBrackets(json, maxLevels)) return false;
  let level = 0;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') {
      index = closingQuote(json, index);
      if (index < 0) return false;
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
  for (let matches = 0; matches <= count; matches += 1) {
    if (!bracket.test(json)) return false;
  }
  return true;
}
