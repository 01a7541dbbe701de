import { isLosslessNumber } from 'lossless-json';

/** A JSON object or list, as parsed; numbers may be lossless ones. */
export type Nested = Record<string, unknown> | unknown[];

export function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return isNested(value) && !Array.isArray(value);
}
