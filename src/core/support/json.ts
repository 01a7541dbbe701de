import { parse } from 'lossless-json';

/** Whether a value has keys and values: an object that is not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of JSON text; `undefined` for text that is not JSON. */
export function jsonValueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The first error of a JSON text, with its place, such as `invalid JSON at line 2, column 1`;
 * `null` if there is none. Unlike JSON.parse it finds duplicate keys, knows the place on every
 * version of Node, and quotes nothing of the text.
 */
export function jsonFault(text: string): string | null {
  let duplicateKey: number | undefined;
  try {
    parse(text, undefined, {
      onDuplicateKey: ({ position }) => {
        duplicateKey ??= position;
      },
    });
  } catch (error) {
    if (duplicateKey !== undefined) return `duplicate key ${locationIn(text, duplicateKey)}`;
    // The library has no field for the position.
    const { message } = error as Error;
    const position = Number(/position (\d+)$/.exec(message)?.[1] ?? text.length);
    const isComment = /^(?:\/\/|\/\*|#)/.test(text.slice(position));
    const fault = isComment ? 'a comment, which JSON does not have,' : 'invalid JSON';
    return `${fault} ${locationIn(text, position)}`;
  }
  if (duplicateKey === undefined) return null;
  return `duplicate key ${locationIn(text, duplicateKey)}`;
}

/** A position in a text, for people: `at line 2, column 1`. */
function locationIn(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  const column = (lines.at(-1) ?? '').length + 1;
  return `at line ${lines.length}, column ${column}`;
}
