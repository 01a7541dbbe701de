// Apart from print.ts: only a table needs it.
import type { ChalkInstance } from 'chalk';
import { stringify } from 'lossless-json';
import { isNested, isObject, type Nested } from './parsed-json.js';
import { formatTable, leftOut, maxCells, maxRows } from './table.js';
import { showText } from './terminal-text.js';

export interface TableStyle {
  readonly colors: ChalkInstance;
  /** Width of the terminal in columns; `undefined` where nothing is to be wrapped. */
  readonly columns: number | undefined;
}

/** What a table shows of one value, in characters. */
const maxValueLength = 8_192;

/** After so many characters no further section is begun. */
const maxSectionsLength = 200_000;

/**
 * An object section by section: what is plain first, under `name` where there is one, then each object or list in
 * it under its own name.
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

/** An object as key and value; a list of objects as one column each; any other list one row each. */
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

/** A single value as text that is safe to show; of a long one the beginning, and how much more there is. */
export function showValue(value: unknown): string {
  const text = isNested(value) ? (stringify(value) ?? '') : String(value);
  if (text.length <= maxValueLength) return showText(text);
  const more = (text.length - maxValueLength).toLocaleString('en');
  return `${showText(text.slice(0, maxValueLength))}… (${more} more characters)`;
}

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
