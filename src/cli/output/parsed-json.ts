import { isLosslessNumber, parse } from 'lossless-json';

/** A parsed JSON object or list; numbers may be lossless numbers of lossless-json. */
export type Nested = Record<string, unknown> | unknown[];

/** Parses received JSON and keeps the digits of numbers; of duplicate keys the last one wins, as in JSON.parse. */
export function parseLoosely(json: string): unknown {
  return parse(json, null, { onDuplicateKey: ({ newValue }) => newValue });
}

export function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return isNested(value) && !Array.isArray(value);
}
