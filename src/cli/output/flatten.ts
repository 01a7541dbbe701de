import { isNested } from './nested.js';

/** A single value of nested data, and the keys and places that lead to it. */
export interface Leaf {
  readonly path: readonly (string | number)[];
  /** As it is written; nothing for null. */
  readonly text: string;
}

/** The single values of data, in its order. An empty object or list has none. */
export function* flatten(data: unknown, path: Leaf['path'] = []): Generator<Leaf> {
  if (!isNested(data)) {
    yield { path, text: data === null || data === undefined ? '' : String(data) };
    return;
  }
  const entries = Array.isArray(data) ? data.entries() : Object.entries(data);
  for (const [key, value] of entries) yield* flatten(value, [...path, key]);
}
