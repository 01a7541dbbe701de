import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import { jsonTokens } from '../../protocol/json-tokens.js';

/** A parsed JSON object or list; numbers may be lossless numbers of lossless-json. */
export type Nested = Record<string, unknown> | unknown[];

/**
 * Parses valid JSON and keeps the digits of numbers; of duplicate keys the last one wins, as in JSON.parse. Not by
 * lossless-json's own parser: it joins a text character by character, which takes 40 times its size.
 */
export function parseLossless(json: string): unknown {
  const tokens = jsonTokens(json);
  const next = (): string => {
    const { start = 0, end = 0 } = tokens.next().value ?? {};
    return json.slice(start, end);
  };
  const parseFrom = (token: string): unknown => {
    if (token === '{') return Object.fromEntries(members());
    if (token === '[') return [...items()];
    return parseScalar(token);
  };
  function* members(): Generator<[key: string, value: unknown]> {
    for (let token = next(); token !== '}'; token = next()) {
      if (token === ',') continue;
      next(); // the colon
      yield [JSON.parse(token), parseFrom(next())];
    }
  }
  function* items(): Generator<unknown> {
    for (let token = next(); token !== ']'; token = next()) if (token !== ',') yield parseFrom(token);
  }
  return parseFrom(next());
}

/** A number whose digits JavaScript would write otherwise becomes a lossless number. */
function parseScalar(token: string): unknown {
  const value: unknown = JSON.parse(token);
  return typeof value === 'number' && String(value) !== token ? new LosslessNumber(token) : value;
}

export function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return isNested(value) && !Array.isArray(value);
}

/** A key as a JMESPath expression names it. */
export function queryName(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
}
