// Apart from print.ts: only a table needs it.
import type { ChalkInstance } from 'chalk';
import { stringify } from 'lossless-json';
import { isNested, isObject, type Nested } from './parsed-json.js';
import { formatTable, leftOut, maxCells, maxRows } from './table.js';
import { showText } from './terminal-text.js';

export interface TableStyle {
  readonly colors: ChalkInstance;
  /** Width of the terminal in columns; `undefined` for no wrapping. */
  readonly columns: number | undefined;
}

/** Maximum number of characters shown of one value. */
const maxValueLength = 8_192;

/** Number of characters after which no further section is shown. */
const maxSectionsLength = 200_000;

/**
 * Formats an object in sections: its single values first, under `name` if it is not null, then each nested object
 * or list under its key.
 */
export function formatSections(
  object: Record<string, unknown>,
  name: string | null,
  style: TableStyle,
): string[] {
  const entries = Object.entries(object);
  const plain = entries.filter(([, value]) => !isNested(value));
  const nested = entries.filter((entry): entry is [string, Nested] => isNested(entry[1]));
  const sections = plain.length > 0 ? [formatSection(name, Object.fromEntries(plain), style)] : [];
  let shown = 0;
  for (let length = 0; shown < nested.length && length < maxSectionsLength; shown += 1) {
    const [key, value] = nested[shown] as [string, Nested];
    const section = formatSection(key, value, style);
    length += section.length;
    sections.push(section);
  }
  return shown === nested.length ? sections : [...sections, leftOut(nested.length - shown, 'sections')];
}

/**
 * Formats an object as keys and values, a list of objects as one column per object, any other list as one row per
 * entry.
 */
function formatSection(name: string | null, value: Nested, style: TableStyle): string {
  const heading = name === null ? '' : `${style.colors.bold(showValue(name))}\n`;
  if (Object.keys(value).length === 0) return `${heading}(none)\n`;
  if (!Array.isArray(value)) {
    const rows = Object.entries(value).map(([key, field]) => [showValue(key), showValue(field)]);
    return heading + formatTable(rows, style.columns);
  }
  if (!value.every(isObject)) {
    const rows = value.map((item, index) => [`#${index + 1}`, showValue(item)]);
    return heading + formatTable(rows, style.columns);
  }
  const shown = value.slice(0, maxCells - 1);
  const keys = [...new Set(shown.flatMap((fields) => Object.keys(fields)))];
  const rows = keys.map((key) => [showValue(key), ...shown.map((fields) => showValue(fields[key] ?? ''))]);
  const head = value.length === 1 ? [] : ['', ...shown.map((_, index) => `#${index + 1}`)];
  return heading + formatTable(rows, style.columns, head) + leftOut(value.length - shown.length, 'columns');
}

/**
 * Formats a value as text that is safe to show; a long text is cut, with the number of characters that are left
 * out.
 */
export function showValue(value: unknown): string {
  const text = isNested(value) ? (stringify(value) ?? '') : String(value);
  if (text.length <= maxValueLength) return showText(text);
  const more = (text.length - maxValueLength).toLocaleString('en');
  return `${showText(text.slice(0, maxValueLength))}… (${more} more characters)`;
}

/**
 * Formats data for a person: an object in sections, a list of objects as one row per object, any other list as one
 * row per entry, a single value as its text.
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
