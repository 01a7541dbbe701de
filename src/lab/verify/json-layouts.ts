/** The layouts of common JSON libraries; a text that is not a JSON object or list is unchanged. */
export const jsonLayouts: readonly (readonly [
  how: string,
  write: (value: object, text: string) => string,
])[] = [
  ['with its non-ASCII characters as \\u escapes', (_, text) => escapeUnicode(text)],
  ['with its slashes escaped', (_, text) => escapeSlashes(text)],
  [
    'with its non-ASCII characters and slashes escaped',
    (_, text) => escapeSlashes(escapeUnicode(text)),
  ],
  ['without the escapes that were sent in it', (value) => JSON.stringify(value)],
  ['with its keys sorted', (value) => JSON.stringify(sortMembers(value))],
  [
    'with its keys in the reverse order',
    (value) => JSON.stringify(mapMembers(value, (members) => members.reverse())),
  ],
  ['with spaces after its commas and colons', writeSpaced],
  [
    'with its keys sorted and spaces after its commas and colons',
    (value) => writeSpaced(sortMembers(value)),
  ],
  [
    'with \\u escapes and spaces after its commas and colons',
    (value) => escapeUnicode(writeSpaced(value)),
  ],
  ['on several lines', (value) => JSON.stringify(value, null, 2)],
  ['on several lines', (value) => JSON.stringify(value, null, 4)],
];

function escapeUnicode(text: string): string {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/');
}

/** JSON with the members of each object sorted by name. */
function sortMembers(value: unknown): unknown {
  return mapMembers(value, (members) => members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Member = [name: string, value: unknown];

function mapMembers(value: unknown, change: (members: Member[]) => Member[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapMembers(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(
    ([name, inner]): Member => [name, mapMembers(inner, change)],
  );
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
