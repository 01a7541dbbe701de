// Only a file with an error needs lossless-json.

import { parse } from 'lossless-json';

/** The position of an error in JSON text, from 1. `doubled`: a key occurs twice in one object. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly doubled: boolean;
  /** Whether a comment is there, which JSON does not have. */
  readonly isComment: boolean;
}

/**
 * The first error of a text, or `null`. Unlike JSON.parse it detects duplicate keys, and reports the position on
 * every version of Node.
 */
export function findJsonFault(text: string): JsonFault | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const before = text.slice(0, Number(/position (\d+)$/.exec(message)?.[1] ?? text.length));
    const lines = before.split('\n');
    return {
      line: lines.length,
      column: (lines.at(-1) ?? '').length + 1,
      doubled: message.startsWith('Duplicate key'),
      isComment: /^(?:\/\/|\/\*|#)/.test(text.slice(before.length)),
    };
  }
}
