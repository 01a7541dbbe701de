import { parse } from 'lossless-json';

/**
 * The first error of a JSON text, with its place, such as `invalid JSON at line 2, column 1`;
 * `null` if there is none. Unlike JSON.parse it finds duplicate keys, knows the place on every
 * version of Node, and quotes nothing of the text.
 */
export function jsonFault(text: string): string | null {
  let doubledAt: number | undefined;
  let invalidAt: number | undefined;
  try {
    parse(text, undefined, {
      onDuplicateKey: ({ position }) => {
        doubledAt ??= position;
      },
    });
  } catch (error) {
    // The library has no field for the place.
    const message = error instanceof Error ? error.message : '';
    invalidAt = Number(/position (\d+)$/.exec(message)?.[1] ?? text.length);
  }
  const at = doubledAt ?? invalidAt;
  if (at === undefined) return null;
  const isComment = /^(?:\/\/|\/\*|#)/.test(text.slice(at));
  const invalid = isComment ? 'a comment, which JSON does not have,' : 'invalid JSON';
  const lines = text.slice(0, at).split('\n');
  const what = doubledAt === undefined ? invalid : 'duplicate key';
  return `${what} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
