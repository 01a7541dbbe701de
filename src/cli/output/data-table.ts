import { isNested, isObject } from './nested.js';
import { formatSections, showValue, type TableStyle } from './section.js';
import { formatTable } from './table.js';
import { showText } from './terminal-text.js';

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
  const head = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const rows = records.map((record) => head.map((name) => showValue(record[name] ?? '')));
  return formatTable(rows, columns, head.map(showText));
}

function formatEntries(list: readonly unknown[], { columns }: TableStyle): string {
  const rows = list.map((entry) => (Array.isArray(entry) ? entry.map(showValue) : [showValue(entry)]));
  return formatTable(rows, columns);
}
