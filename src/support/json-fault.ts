import { parse } from 'lossless-json';

/** Where a JSON text is wrong, both counted from 1; `doubled`: a key stands twice in one object, with two values. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly doubled: boolean;
}

/** The first fault of a text, or `null`. Unlike JSON.parse it finds doubled keys, and knows where on every Node. */
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
    };
  }
}
