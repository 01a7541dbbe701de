import { outputFormats } from '../options.js';
import { formatColumns } from './columns.js';

const meanings: Readonly<Record<(typeof outputFormats)[number], string>> = {
  table: 'for people; the default',
  json: 'an answer byte for byte as it was received; lists one object a line',
  yaml: 'the same data as YAML',
  csv: 'one row for each thing, a column for each single value in it',
  env: "variables for a POSIX shell: userinfo_mobile='13800138000'",
};

const rows = outputFormats.map((format) => [format, meanings[format]] as const);

export const outputTopic = `Output: -o <format>, --json for -o json, or USERINFO_OUTPUT

${formatColumns(rows)}
Data goes to stdout; messages, warnings and questions go to stderr. Numbers are
printed as they were received, however long (9007199254740993, 1.00).

csv and env print the data of an answer, without its code and msg: the exit
status tells them. What is nested has its path in its name:
basic_info.mobile is a column of csv, userinfo_basic_info_mobile a variable.

  eval "$(userinfo read "$code" mobile,acme_level -o env)"
  echo "$userinfo_mobile is $userinfo_acme_level"

In names of variables "_" stands for what a shell does not allow there; of two
that are then the same, the second ends in _2. Every name begins with userinfo_,
so that none can be PATH or another that the shell listens to.

--query <expression> prints what a JMESPath expression (jmespath.org) selects
of the whole answer, or of the whole list, in any format:

  userinfo read "$code" --query data.basic_info.mobile
  userinfo read "$code" -o csv --query 'data.{id: union_id, level: level}'
  userinfo admin user list --tenant-code acme --query '[].union_id' --json

As a table, a single value is printed bare, what could act on a terminal as an
escape. Where an expression computes or compares, numbers are taken as
JavaScript takes them: to about 16 digits. An expression that does not suit the
answer ends with status 2, once all of the answer is printed.
`;
