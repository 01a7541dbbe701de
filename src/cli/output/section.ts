import type { ChalkInstance } from 'chalk';
import { stringify } from 'lossless-json';
import { isNested, isObject, type Nested } from './nested.js';
import { formatTable } from './table.js';
import { showText } from './terminal-text.js';

export interface TableStyle {
  readonly colors: ChalkInstance;
  /** Width of the terminal in columns; `undefined` where nothing is to be wrapped. */
  readonly columns: number | undefined;
}

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
  return [
    ...(plain.length > 0 ? [formatSection(name, Object.fromEntries(plain), style)] : []),
    ...nested.map(([key, value]) => formatSection(key, value, style)),
  ];
}

/** An object as key and value; a list of objects as one column each; any other list one row each. */
function formatSection(name: string | null, value: Nested, style: TableStyle): string {
  const heading = name === null ? '' : `${style.colors.bold(showText(name))}\n`;
  if (Object.keys(value).length === 0) return `${heading}(none)\n`;
  if (!Array.isArray(value)) {
    const rows = Object.entries(value).map(([key, field]) => [showText(key), showValue(field)]);
    return heading + formatTable(rows, style.columns);
  }
  const numbers = value.map((_, index) => `#${index + 1}`);
  if (!value.every(isObject)) {
    const rows = value.map((item, index) => [numbers[index] ?? '', showValue(item)]);
    return heading + formatTable(rows, style.columns);
  }
  const keys = [...new Set(value.flatMap((fields) => Object.keys(fields)))];
  const rows = keys.map((key) => [showText(key), ...value.map((fields) => showValue(fields[key] ?? ''))]);
  return heading + formatTable(rows, style.columns, value.length === 1 ? [] : ['', ...numbers]);
}

/** A single value as text that is safe to show. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  return showText(isNested(value) ? (stringify(value) ?? '') : String(value));
}
