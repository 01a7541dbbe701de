/** Another layout of the same JSON text; a text that is not a JSON object or list is unchanged. */
export interface JsonLayout {
  /** The continuation of "It was signed with user_info". */
  readonly words: string;
  readonly change: (text: string) => string;
}

const escapeUnicode = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const escapeSlashes = (text: string) => text.replaceAll('/', '\\/');
const sortMembers = (value: unknown) =>
  mapObjects(value, (members) => members.sort(([a], [b]) => (a < b ? -1 : 1)));

/** The layouts of common JSON libraries. */
export const jsonLayouts: readonly JsonLayout[] = [
  {
    words: 'with its non-ASCII characters as \\u escapes',
    change: onJson((text) => escapeUnicode(text)),
  },
  { words: 'with its slashes escaped', change: onJson((text) => escapeSlashes(text)) },
  {
    words: 'with its non-ASCII characters and slashes escaped',
    change: onJson((text) => escapeSlashes(escapeUnicode(text))),
  },
  { words: 'without the escapes that were sent in it', change: onJson((_, value) => JSON.stringify(value)) },
  { words: 'with its keys sorted', change: onJson((_, value) => JSON.stringify(sortMembers(value))) },
  {
    words: 'with its keys in the reverse order',
    change: onJson((_, value) => JSON.stringify(mapObjects(value, (members) => members.reverse()))),
  },
  { words: 'with spaces after its commas and colons', change: onJson((_, value) => writeSpaced(value)) },
  {
    words: 'with its keys sorted and spaces after its commas and colons',
    change: onJson((_, value) => writeSpaced(sortMembers(value))),
  },
  {
    words: 'with \\u escapes and spaces after its commas and colons',
    change: onJson((_, value) => escapeUnicode(writeSpaced(value))),
  },
  { words: 'on several lines', change: onJson((_, value) => JSON.stringify(value, null, 2)) },
  { words: 'on several lines', change: onJson((_, value) => JSON.stringify(value, null, 4)) },
];

function onJson(change: (text: string, value: object) => string): (text: string) => string {
  return (text) => {
    if (!/^\s*[{[]/.test(text)) return text;
    try {
      return change(text, JSON.parse(text));
    } catch {
      return text;
    }
  };
}

function mapObjects(value: unknown, change: (members: [string, unknown][]) => [string, unknown][]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    mapObjects(inner, change),
  ]);
  return Object.fromEntries(change(members));
}

/** As Python's json.dumps does by default. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${writeSpaced(inner)}`,
  );
  return `{${members.join(', ')}}`;
}
