import { parse } from 'lossless-json';

/**
 * The first error of a JSON text, with its place, such as `invalid JSON at line 2, column 1`; `null` if there is none.
 * Unlike JSON.parse it finds duplicate keys, knows the place on every version of Node, and quotes nothing of the text.
 */
export function jsonFault(text: string): string | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const before = text.slice(0, Number(/position (\d+)$/.exec(message)?.[1] ?? text.length));
    const isComment = /^(?:\/\/|\/\*|#)/.test(text.slice(before.length));
    const invalid = isComment ? 'a comment, which JSON does not have,' : 'invalid JSON';
    const what = message.startsWith('Duplicate key') ? 'duplicate key' : invalid;
    const lines = before.split('\n');
    return `${what} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  }
}
