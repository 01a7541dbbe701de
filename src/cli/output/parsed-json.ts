import { isLosslessNumber, parse } from 'lossless-json';

/** A JSON object or list, as parsed; numbers may be lossless ones. */
export type Nested = Record<string, unknown> | unknown[];

/** Received JSON, numbers kept as they were written; a doubled key is the last one, as for JSON.parse. */
export function parseLoosely(json: string): unknown {
  return parse(json, null, { onDuplicateKey: ({ newValue }) => newValue });
}

export function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return isNested(value) && !Array.isArray(value);
}
