// Apart from print.ts: only -o csv needs csv-stringify.
import { stringify } from 'csv-stringify/sync';
import { isNested, isObject } from './parsed-json.js';

/** A single value in nested data, and the path to it. */
interface Leaf {
  readonly path: readonly (string | number)[];
  /** Its text in CSV; empty for null. */
  readonly text: string;
}

/**
 * Formats data as CSV: a list of objects as one row per object below a header, an object as one such row, anything
 * else without a header. Nested values have their own columns, named by their query path: `basic_info.mobile`.
 */
export function formatCsv(data: unknown): string {
  const list = Array.isArray(data) ? data : [data];
  if (!list.every(isObject)) return stringify(list.map((entry) => Array.from(flatten(entry), textOf)));
  const rows = list.map(
    (record) => new Map(Array.from(flatten(record), (leaf) => [columnOf(leaf), leaf.text])),
  );
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (columns.length === 0) return '';
  return stringify([columns, ...rows.map((row) => columns.map((column) => row.get(column) ?? ''))]);
}

/** The single values in data, in order. An empty object or list has none. */
function* flatten(data: unknown, path: Leaf['path'] = []): Generator<Leaf> {
  if (!isNested(data)) {
    yield { path, text: data === null || data === undefined ? '' : String(data) };
    return;
  }
  const entries = Array.isArray(data) ? data.entries() : Object.entries(data);
  for (const [key, value] of entries) yield* flatten(value, [...path, key]);
}

function textOf({ text }: Leaf): string {
  return text;
}

function columnOf({ path }: Leaf): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    const field = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
    return name === '' ? field : `${name}.${field}`;
  }, '');
}
