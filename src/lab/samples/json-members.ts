import { isObject } from '../../core/support/json.js';

/** A JSON object from outside: whether it has a member, and of which type, is not known. */
export type UnknownObject = Readonly<Record<string, unknown>>;

/** The value where it is a JSON object; null for any other. */
export function asObject(value: unknown): UnknownObject | null {
  return isObject(value) ? value : null;
}

/** The JSON objects of a list; none where the value is no list. */
export function asObjects(value: unknown): UnknownObject[] {
  if (!Array.isArray(value)) return [];
  return value.map(asObject).filter((item) => item !== null);
}

/** The value where it is a string; null for any other. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The value where it is a number; undefined for any other. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A value as text: nothing for null and for what is missing. */
function scalarText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

type NamedValue = readonly [name: string, value: string];

/**
 * The pairs of a list of `{name, value}` (HAR) or `{key, value}` (Postman), without those that are
 * disabled or have no name.
 */
export function namedValues(list: unknown): NamedValue[] {
  return asObjects(list)
    .filter(({ disabled }) => disabled !== true)
    .map(
      ({ name, key, value }): NamedValue => [asText(name) ?? asText(key) ?? '', scalarText(value)],
    )
    .filter(([name]) => name !== '');
}
