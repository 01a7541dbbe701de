import { parse } from 'lossless-json';

/** Received JSON, numbers kept as they were written; a doubled key is the last one, as for JSON.parse. */
export function parseLoosely(json: string): unknown {
  return parse(json, null, { onDuplicateKey: ({ newValue }) => newValue });
}
