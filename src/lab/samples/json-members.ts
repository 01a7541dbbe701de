/** A JSON object, or null: what a text from outside has at a place is not known. */
export type UnknownObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): UnknownObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as UnknownObject)
    : null;
}

export function asObjects(value: unknown): UnknownObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A value as text: nothing for null and for what is missing. */
function scalarText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The enabled ones of a list of `{name, value}` (HAR) or `{key, value}` (Postman). */
export function namedValues(list: unknown): (readonly [name: string, value: string])[] {
  return asObjects(list).flatMap(({ name, key, value, disabled }) => {
    const known = asText(name) ?? asText(key) ?? '';
    return known === '' || disabled === true ? [] : [[known, scalarText(value)] as const];
  });
}
