/** A JSON object as it is written: JSON.parse moves names that look like integers, and drops doubled ones. */
export class JsonMembers {
  readonly entries: readonly (readonly [name: string, value: unknown])[];

  constructor(entries: JsonMembers['entries']) {
    this.entries = entries;
  }

  /** The first name that stands twice, if any. */
  get doubled(): string | undefined {
    const names = this.entries.map(([name]) => name);
    return names.find((name, index) => names.indexOf(name) < index);
  }
}

const stringOrNumber = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/**
 * Reads JSON with its objects as `JsonMembers`, and its numbers as the text they are written with.
 *
 * @throws SyntaxError, whose message may quote the text
 */
export function parseInOrder(text: string): unknown {
  JSON.parse(text);
  let count = 0;
  // In valid JSON a string before a colon is a name. With a number in front each is unlike all others.
  const numbered = text.replace(stringOrNumber, (whole, string?: string, colon?: string) => {
    if (string === undefined) return `"${whole}"`;
    return colon === undefined ? whole : `"${count++}:${string.slice(1)}${colon}`;
  });
  return JSON.parse(numbered, (_name, value) =>
    isObject(value) ? new JsonMembers(membersOf(value)) : value,
  );
}

function membersOf(numbered: object): [string, unknown][] {
  return Object.entries(numbered).map(([name, value]) => [name.slice(name.indexOf(':') + 1), value]);
}

function isObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonMembers)
  );
}
