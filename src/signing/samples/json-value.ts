import { type Header, SampleError } from './captured-request.js';

/** A JSON object, or null: what a file from outside has at a place is not known. */
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

/** Members of a list of `{name, value}` or `{key, value}`, changed by `replace`; disabled ones are left out. */
export function namedValues(value: unknown, replace = (text: string) => text): Header[] {
  return asObjects(value).flatMap((item): Header[] => {
    const name = asText(item.name) ?? asText(item.key);
    if (name === null || name === '' || item.disabled === true) return [];
    return [[replace(name), replace(scalarText(item.value))]];
  });
}

/** A value as text: nothing for null and for what is missing. */
export function scalarText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Pairs as the text of a query or a form. */
export function joinPairs(pairs: readonly Header[]): string {
  return pairs.map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('=')).join('&');
}

/** Values of a tool's variables by name. */
export interface VariableValues {
  get(name: string): string | undefined;
}

const variable = /\{\{([^{}]{1,200})\}\}/g;
/** Maximum length of a text whose variables are replaced: variables can name each other. */
const mostCharacters = 1_000_000;

/**
 * A text with the variables of a tool replaced; a value may name others, two levels deep.
 *
 * @throws SampleError for a variable whose value the text does not have
 */
export function replaceVariables(text: string, variables: VariableValues, hint: string): string {
  let replaced = text;
  for (let level = 0; level < 3 && replaced.includes('{{'); level++) {
    let length = replaced.length;
    const isLast = level === 2;
    replaced = replaced.replace(variable, (whole, given: string) => {
      const value = isLast ? undefined : variables.get(given.trim().replace(/^_\./, ''));
      length += value?.length ?? 0;
      if (value !== undefined && length < mostCharacters) return value;
      throw new SampleError(`the request holds ${whole.slice(0, 60)}, a variable without a value`, hint);
    });
  }
  return replaced;
}
