import { stringify } from 'csv-stringify/sync';
import { isNested, isRecord, queryName } from '../../core/contract/exact-json.js';

/**
 * Formats data as CSV: a list of objects as one row per object below a header, an object as one
 * such row, anything else without a header. Nested values have their own columns, named by their
 * query path: `basic_info.mobile`.
 */
export function formatCsv(data: unknown): string {
  const list = Array.isArray(data) ? data : [data];
  if (!list.every(isRecord))
    return stringify(list.map((entry) => Array.from(flatten(entry), ([, text]) => text)));
  const rows = list.map((record) => new Map(flatten(record)));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (columns.length === 0) return '';
  return stringify([columns, ...rows.map((row) => columns.map((column) => row.get(column) ?? ''))]);
}

/**
 * The single values in data, each with its query path; null is empty text. An empty object or list
 * has none.
 */
function* flatten(data: unknown, path = ''): Generator<[path: string, text: string]> {
  if (!isNested(data)) {
    yield [path, String(data ?? '')];
  } else if (Array.isArray(data)) {
    for (const [index, value] of data.entries()) yield* flatten(value, `${path}[${index}]`);
  } else {
    for (const [key, value] of Object.entries(data)) {
      const name = queryName(key);
      yield* flatten(value, path === '' ? name : `${path}.${name}`);
    }
  }
}
