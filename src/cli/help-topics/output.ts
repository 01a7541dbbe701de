import { outputFormats } from '../options.js';
import { formatColumns } from './columns.js';

const meanings: Readonly<Record<(typeof outputFormats)[number], string>> = {
  table: 'for people; the default',
  json: 'an answer byte for byte as it was received; lists one object a line',
  yaml: 'the same data as YAML',
  csv: 'one row for each thing, a column for each single value in it',
};

const rows = outputFormats.map((format) => [format, meanings[format]] as const);

export const outputTopic = `Output: -o <format>, --json for -o json, or USERINFO_OUTPUT

${formatColumns(rows)}
Data goes to stdout; messages, warnings and questions go to stderr. Numbers are
printed as they were received, however long (9007199254740993, 1.00).

csv prints the data of an answer, without its code and msg: the exit status
tells them. A nested value has its path as the name of its column:
basic_info.mobile. A cell is the text as it was received, also where it begins
with =, +, - or @: a spreadsheet would run such a cell as a formula. Import the
columns as text.

On a terminal, a character that could act on it is printed as an escape such as
\\u001b, in every format. Files and pipes get the exact text; yaml has such
characters as escapes everywhere, as YAML demands.

A table shows the first 8,192 characters of a long value, and the first 2,000
rows; it says how much it leaves out. The other formats print everything.

--query <expression> prints what a JMESPath expression (jmespath.org) selects
of the whole answer, or of the whole list, in any format:

  userinfo read "$code" --query data.basic_info.mobile
  userinfo read "$code" -o csv --query 'data.{id: union_id, level: level}'
  userinfo admin user list --tenant-code acme --query '[].union_id' --json

As a table, a single value is printed bare. In a query, numbers are those of
JavaScript: 1.00 is 1, and a number that JavaScript cannot hold exactly, such as
one beyond 2^53, comes as text ("9007199254740993"). An expression that does not
suit the answer ends with status 2, once all of the answer is printed.
`;
