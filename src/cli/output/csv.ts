// Apart from print.ts: only -o csv needs csv-stringify.
import { stringify } from 'csv-stringify/sync';
import { isNested, isObject } from './parsed-json.js';

/** A single value of nested data, and the keys and places that lead to it. */
interface Leaf {
  readonly path: readonly (string | number)[];
  /** As it is written; nothing for null. */
  readonly text: string;
}

/**
 * Data as CSV: a list of objects as a row each under one header, an object as one such row, anything else without a
 * header. What is nested has columns of its own, named as a query would name them: `basic_info.mobile`.
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

/** The single values of data, in its order. An empty object or list has none. */
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
