import { isNested, isObject } from './parsed-json.js';
import { formatSections, showValue, type TableStyle } from './section.js';
import { formatTable, leftOut, maxCells, maxRows } from './table.js';

/**
 * Any data as a person reads it: an object section by section, a list of objects a row each, any other list an entry
 * a row, a single value as it is.
 */
export function formatDataTable(data: unknown, style: TableStyle): string {
  if (!isNested(data)) return `${showValue(data)}\n`;
  if (Object.keys(data).length === 0) return '(none)\n';
  if (!Array.isArray(data)) return formatSections(data, null, style).join('\n');
  return data.every(isObject) ? formatRecords(data, style) : formatEntries(data, style);
}

function formatRecords(records: readonly Record<string, unknown>[], { columns }: TableStyle): string {
  const shown = records.slice(0, maxRows);
  const head = [...new Set(shown.flatMap((record) => Object.keys(record)))];
  const names = head.slice(0, maxCells);
  const rows = shown.map((record) => names.map((name) => showValue(record[name] ?? '')));
  return formatTable(rows, columns, head.map(showValue)) + leftOut(records.length - shown.length, 'rows');
}

function formatEntries(list: readonly unknown[], { columns }: TableStyle): string {
  const rows = list.map((entry) => (Array.isArray(entry) ? entry.map(showValue) : [showValue(entry)]));
  return formatTable(rows, columns);
}
