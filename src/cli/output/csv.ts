import { stringify } from 'csv-stringify/sync';
import { flatten, type Leaf } from './flatten.js';
import { isObject } from './nested.js';

/**
 * Data as CSV: a list of objects as a row each under one header, an object as one such row, anything else without a
 * header. What is nested has columns of its own, named as a query would name them: `basic_info.mobile`.
 */
export function formatCsv(data: unknown): string {
  const list = Array.isArray(data) ? data : [data];
  if (!list.every(isObject)) return stringify(list.map(cellsOf));
  const rows = list.map((record) => new Map(leavesOf(record)));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (columns.length === 0) return '';
  return stringify([columns, ...rows.map((row) => columns.map((column) => row.get(column) ?? ''))]);
}

function leavesOf(record: Record<string, unknown>): [string, string][] {
  return Array.from(flatten(record), ({ path, text }) => [columnName(path), text]);
}

function cellsOf(entry: unknown): string[] {
  return Array.from(flatten(entry), ({ text }) => text);
}

function columnName(path: Leaf['path']): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    const field = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
    return name === '' ? field : `${name}.${field}`;
  }, '');
}
