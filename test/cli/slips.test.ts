import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentVariables, Machine } from '../support/cli.js';
import { httpServer } from '../support/raw-server.js';

/** A platform that accepts all that it is sent, unless the first part of its path has an answer of its own. */
let platform: Awaited<ReturnType<typeof httpServer>>;
const answers: Record<string, string> = {};
const machine = new Machine();
beforeAll(async () => {
  platform = await httpServer(({ path }, response) => {
    const [, row = ''] = path.split('/');
    response.end(answers[row] ?? '{"code":200,"msg":"ok","data":{"union_id":"u001","mobile":"138"}}');
  });
});
afterAll(async () => {
  await platform.close();
  machine[Symbol.dispose]();
});

let rows = 0;
/** A test's own part of the platform, the folder of its files, and the environment that names them. */
function newRow() {
  rows += 1;
  const name = `r${rows}`;
  const folder = join(machine.folder, name);
  mkdirSync(folder);
  const url = `${platform.url}/${name}`;
  const env = { ...deploymentVariables(url), USERINFO_CONFIG_DIR: join(folder, 'config') };
  const sent = () =>
    platform.requests
      .filter(({ path }) => path.startsWith(`/${name}/`))
      .map(({ path, query, body }) => `${path}?${query} ${decodeURIComponent(body)}`);
  return { name, folder, env, sent };
}

interface Slip {
  /** A line of a shell; `userinfo` is the program, `$d` a folder for files. */
  readonly typed: string;
  readonly cause: string;
  readonly next: string;
  /** Usage, unless given. */
  readonly status?: number;
  /** What the printed command, or this one, sends; nothing if it is one that calls no platform. */
  readonly paste?: { readonly line?: string; readonly sends?: string };
}

const to = '--union-id u001';
const file = (text: string, name = 'a.csv') =>
  `printf '${text}' > $d/${name}; userinfo bulk passback $d/${name}`;

const refused: readonly Slip[] = [
  {
    typed: file('union_id, acme_level\\nu001, gold\\n'),
    cause: 'line 1: the name of column 2, " acme_level", has a space before it',
    next: 'Nothing was sent. Correct it in the header',
  },
  {
    typed: `${file('union_id,acme_level \\nu001,gold\\n')} --no-preflight`,
    cause: 'the name of column 2, "acme_level ", has a space after it',
    next: 'Nothing was sent. Correct it',
  },
  {
    typed: file('{"line":2,"union_id":"u001","outcome":"failed","error":"x"}\\n', 'a.csv.results.ndjson'),
    cause: 'line 1: the row is the outcome of another run',
    next: 'Nothing was sent. Give its input',
  },
  ...['=110101199003070000', ':=13900139000.0'].map((value) => ({
    typed: `userinfo passback id_card${value} ${to}`,
    cause: 'the value of key "id_card" is a number that a spreadsheet damaged',
    next: 'Give all of its digits',
  })),
  {
    typed: file(' union_id | a \\n----------+---\\n u001     | b\\n'),
    cause: 'line 1: this is a table for people to read, not CSV',
    next: 'Export it as CSV, as psql --csv does.',
  },
  {
    typed: 'userinfo read abc mobile,“chat_nickname”,“chat_sex”',
    cause: 'the name "“chat_nickname”" is in quotes',
    next: 'Corrected, or as it is:\n  userinfo read abc mobile,chat_nickname,chat_sex\n',
  },
  { typed: 'userinfo read c1 --format csv', cause: 'unknown option "--format"', next: '"--output"' },
  { typed: `${file('')} --format json`, cause: "argument 'json' is invalid", next: '"-o json"' },
  {
    typed: `userinfo read c1 --base-url '"https://h.example"'`,
    cause: '--base-url is not an absolute http or https URL',
    next: 'Give the URL alone, without what is around it.',
  },
  {
    typed: `userinfo sign verify 'https://mail.example/?url=https%3A%2F%2Fh.example%2F%3Fa%3D1%26sign%3D2&data=5'`,
    cause: 'the request has no app_sign and no sign',
    next: 'Its parameter "url" is an address with parameters: give that one.',
  },
  {
    typed: `userinfo passback 'a =b' ${to}`,
    cause: 'the key "a " has a space after it',
    next: 'Nothing was sent. Corrected, or as it is:\n  userinfo passback a=b ',
  },
  {
    typed: `userinfo passback --user-info '{" a":"b"}' ${to}`,
    cause: 'the key " a" has a space before it',
    next: 'Correct it',
  },
  {
    typed: `userinfo passback acme_level=$unset ${to}`,
    cause: 'the value of key "acme_level" is empty: is the variable set?',
    next: 'To store an empty value, or to remove the key:\n',
    paste: { sends: '{"acme_level":""}' },
  },
  ...[';', '&', ', ', ','].map((delimiter) => ({
    typed: `userinfo passback 'acme_level=gold${delimiter}age=28' ${to}`,
    cause: 'the value of key "acme_level" has another pair',
    next: `\n  userinfo passback 'acme_level:="gold${delimiter}age=28"' ${to}\n`,
    paste: { sends: '{"acme_level":"gold","age":"28"}' },
  })),
  ...['% acme_level', 'export acme_level'].map((key) => ({
    typed: `userinfo passback '${key}=gold' ${to}`,
    cause: 'begins with a prompt or a mark',
    next: 'Corrected, or as it is:\n',
    paste: { sends: '{"acme_level":"gold"}' },
  })),
  {
    typed: `userinfo passback 'acme_level="gold" # level' ${to}`,
    cause: 'has a comment after it',
    next: 'Corrected, or as it is:\n',
    paste: { sends: '{"acme_level":"gold"}' },
  },
  ...['all', '*'].map((name) => ({
    typed: `userinfo read abc '${name}'`,
    cause: 'is no name',
    next: 'Without names, everything is read.',
  })),
  {
    typed: file('union_id,a\\nu001,#####\\n'),
    cause: 'stands for a missing value',
    next: 'To send it as it is:',
  },
  { typed: file('union_id,a\\nu001,"=SUM(A1)"\\n'), cause: 'is a formula', next: 'To send it as it is:' },
  {
    typed: file('union_id,a\\nu001,b\\nunion_id,a\\n'),
    cause: 'line 3: the row is the header again',
    next: 'Remove it.',
  },
  {
    typed: 'userinfo passback c=d --union-id a=b',
    cause: '--union-id is a pair',
    next: 'Give the ID of the user after --union-id, then the pair.',
  },
  ...['{"union_id":"u001"}', '"union_id": "u001"', 'union_id: u001'].map((id) => ({
    typed: `userinfo passback a=b --union-id '${id}'`,
    cause: '--union-id ',
    next: 'Corrected, or as it is:\n',
    paste: { sends: '{"a":"b"}' },
  })),
  ...['"acme_level": "?",', 'acme_level: ?', 'acme_level：?', 'acme_level＝?', '{acme_level: ?}'].flatMap(
    (pair) =>
      ['gold', '0123'].map((value) => ({
        typed: `userinfo passback '${pair.replace('?', value)}' ${to}`,
        cause: 'is not a pair with a key',
        next: 'As a pair:\n',
        paste: { sends: `{"acme_level":"${value}"}` },
      })),
  ),
  {
    typed: `userinfo passback '"union_id":"u001"' a=b`,
    cause: 'is not a pair with a key',
    next: 'As a pair:\n',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: 'userinfo read abc mobile --query data.moblie',
    cause: 'the name "moblie" in --query has no special meaning: did you mean "mobile"?',
    next: 'Corrected, or as it is:\n',
  },
  ...[
    ['mobile --query data.basic_info.mobile', 'mobile --query data.mobile'],
    ['mobile --query mobile', 'mobile --query data.mobile'],
    ['--query basic_info.mobile', '--query data.basic_info.mobile'],
    ['--query data.mobile', '--query data.basic_info.mobile'],
  ].map(([typed, instead]) => ({
    typed: `userinfo read abc ${typed}`,
    cause: '--query does not look where the answer has "mobile"',
    next: `Corrected, or as it is:\n  userinfo read abc ${instead}\n`,
  })),
  {
    typed: 'userinfo read abc mobile --query data.chat_nickname',
    cause: 'the name "chat_nickname" in --query is none that the read asks for',
    next: '\n  userinfo read abc mobile --query data.chat_nickname chat_nickname\n',
  },
  {
    typed: `userinfo read abc '["mobile", "age"]'`,
    cause: 'is JSON',
    next: '\n  userinfo read abc mobile,age\n',
  },
  {
    typed: 'userinfo passback mobile=13800138000 --union-id "$unset" --primary-key mobile',
    cause: '--union-id is empty: is the variable set?',
    next: 'Nothing was sent.',
  },
  {
    typed: file('union_id,a\\n u001,b\\nu002 ,b\\n'),
    cause: 'line 2: "union_id" has a space before it\nline 3: "union_id" has a space after it',
    next: 'Nothing was sent. Correct it. To send it as it is:\n  userinfo bulk passback',
  },
  {
    typed: `userinfo passback mobile=1.38E+10 ${to}`,
    cause: 'the value of key "mobile" is a number that a spreadsheet damaged',
    next: 'Give all of its digits: ',
    paste: { line: `userinfo passback mobile:='"1.38E+10"' ${to}`, sends: '{"mobile":"1.38E+10"}' },
  },
  {
    typed: file('union_id,mobile\\nu001,13900139000.0\\n'),
    cause: '"mobile" is a number that a spreadsheet damaged',
    next: 'To send it as it is:\n  userinfo bulk passback',
    paste: { sends: '{"mobile":"13900139000.0"}' },
  },
  {
    typed: `${file('union_id,moblie,age\\nu001,138,1\\n')} --types age:number`,
    cause: '"moblie": the key has no special meaning; did you mean "mobile"?',
    next: 'Nothing was sent. Rename it, or send it as it is:\n  userinfo bulk passback',
    paste: { sends: '{"moblie":"138","age":1}' },
  },
  {
    typed: "printf 'union_id,moblie\\nu001,138\\n' | userinfo bulk passback -",
    cause: '"moblie": the key has no special meaning; did you mean "mobile"?',
    next: '--types moblie:text',
  },
  {
    typed: file('{"union_id":"u001","id_crad":"1"}\\n', 'a.ndjson'),
    cause: '"id_crad": the key has no special meaning; did you mean "id_card"?',
    next: 'send it as it is:\n  userinfo bulk passback',
    paste: { sends: '{"id_crad":"1"}' },
  },
  {
    typed: file('[\\n  {"union_id":"u001","a":"b"}]\\n', 'a.json'),
    cause: 'the input is a JSON array, not a row on each line',
    next: "\n  jq -c '.[]' ",
  },
  {
    typed: `${file('m\\0,\\0a\\0\\n\\0x\\0,\\0b\\0\\n\\0')} --primary-key m`,
    cause: 'it looks like utf-16le without a byte-order mark',
    next: 'Nothing was sent. Name its encoding:\n  userinfo bulk passback',
    paste: { sends: '{"m":"x","a":"b"}' },
  },
  {
    typed: file('union_id,a,,\\nu001,b,,x\\n'),
    cause: 'line 2: the cell of column 4 has a value, but the column has no name',
    next: 'Nothing was sent. Name the column in the header',
  },
  {
    typed: file('sep=;\\nunion_id;a\\nu001;b\\n'),
    cause: 'line 2: there is one column, "union_id;a"',
    next: 'Nothing was sent. Name the delimiter:\n  userinfo bulk passback',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: "printf 'code\\n1.38E+10\\n' > $d/c.csv; userinfo bulk read $d/c.csv",
    cause: '"code" is a number that a spreadsheet damaged',
    next: 'format the column as text. To send it as it is:\n',
  },
  {
    typed: 'userinfo read abc my_moblie moblie_x,moblie',
    cause: 'the name "moblie" has no special meaning: did you mean "mobile"?',
    next: 'Corrected, or as it is:\n  userinfo read abc my_moblie moblie_x,mobile\n  userinfo read abc my_moblie moblie_x,moblie --any-name\n',
  },
  { typed: 'userinfo read abc Mobile', cause: 'did you mean "mobile"?', next: 'Nothing was sent.' },
  {
    typed: 'userinfo read abc mobile、id_card',
    cause: 'the name "mobile、id_card" is more than one name',
    next: 'Corrected, or as it is:\n  userinfo read abc mobile,id_card\n',
  },
  { typed: "userinfo read abc 'mobile\nage'", cause: 'line break', next: 'Nothing was sent. Correct it.\n' },
  { typed: 'userinfo read abc -- -p', cause: '"-p" after --', next: 'Put options before the --.' },
  {
    typed: "printf 'code\\nabc\\n' > $d/c.csv; userinfo bulk read $d/c.csv moblie",
    cause: 'did you mean "mobile"?',
    next: 'Nothing was sent.',
  },
  {
    typed: `userinfo passback moblie_x=2 moblie=1 ${to}`,
    cause: 'the key "moblie" has no special meaning: did you mean "mobile"?',
    next: `\n  userinfo passback moblie_x=2 mobile=1 ${to}\n  userinfo passback moblie_x=2 moblie=1 ${to} --any-name\n`,
    paste: { sends: '{"moblie_x":"2","mobile":"1"}' },
  },
  ...['null', `\${LEVEL}`, '{{level}}', 'undefined', '#N/A'].map((text) => ({
    typed: `userinfo passback 'acme_level=${text}' ${to}`,
    cause: 'the value of key "acme_level" stands for a missing value',
    next: 'Nothing was sent. Correct it. To send it as it is:\n',
    paste: { line: `userinfo passback 'acme_level:="${text}"' ${to}`, sends: `{"acme_level":"${text}"}` },
  })),
  ...['138 0013 8000', '138-0013-8000', '(138)00138000'].map((text) => ({
    typed: `userinfo passback 'mobile=${text}' ${to}`,
    cause: 'the value of key "mobile" is not digits alone',
    next: 'Corrected, or as it is:\n  userinfo passback mobile=13800138000 ',
    paste: { line: `userinfo passback mobile=13800138000 ${to}`, sends: '{"mobile":"13800138000"}' },
  })),
  ...['+8613800138000', '+86 138 0013 8000'].map((text) => ({
    typed: `userinfo passback 'mobile=${text}' --primary-key mobile`,
    cause: 'the value of key "mobile" ',
    next: 'Corrected, or as it is:\n  userinfo passback mobile=13800138000 --primary-key mobile\n',
    paste: { line: `userinfo passback 'mobile:="${text}"' ${to}`, sends: `{"mobile":"${text}"}` },
  })),
  {
    typed: file('union_id,mobile\\nu001,138 0013 8000\\n'),
    cause: 'line 2: "mobile" is not digits alone',
    next: 'Nothing was sent. Correct it. To send it as it is:\n  userinfo bulk passback',
    paste: { sends: '{"mobile":"138 0013 8000"}' },
  },
  ...['1.5E+10', '"1,38E+10"', '-5E+11'].map((cell) => ({
    typed: file(`union_id,acme_no\\nu001,${cell}\\n`),
    cause: 'line 2: "acme_no" is a number that a spreadsheet damaged',
    next: 'format the column as text. To send it as it is:\n  userinfo bulk passback',
    paste: { sends: `{"acme_no":"${cell.replaceAll('"', '')}"}` },
  })),
  ...[
    ['1001.0', 'is a number that a spreadsheet damaged', 'Give all of its digits'],
    ['1.00123E+17', 'is a number that a spreadsheet damaged', 'Give all of its digits'],
    ['user:1001', 'begins with its name', 'Corrected, or as it is:'],
    ['u1;', 'has a delimiter after it', 'Corrected, or as it is:'],
    ['u001,u002', 'has more than one user', 'Correct it.'],
    ['u001;u002', 'has more than one user', 'Correct it.'],
  ].map(([id, cause, next]) => ({
    typed: `userinfo passback a=b --union-id '${id}'`,
    cause: `--union-id ${cause}`,
    next: `Nothing was sent. ${next}`,
  })),
  ...[
    ['a.ndjson', '{"union_id":"u001","a ":"b"}\\n', 'line 1: the key "a " has a space after it'],
    ['a.ndjson', '{"union_id":"u001","mobile":139.0}\\n', 'line 1: "mobile" is a number that a spreadsheet'],
    ['a.csv', 'union_id,a\\n"u001,u002",b\\n', '"union_id" has more than one user'],
    ['a.csv', 'union_id,a\\n1001.0,b\\n', 'is a number that a spreadsheet damaged'],
  ].map(([name, text = '', cause = '']) => ({ typed: file(text, name), cause, next: 'Nothing was sent.' })),
  {
    typed: 'userinfo read abc "mob$(printf \'\\342\\200\\213\')ile"',
    cause: 'the name "mob\\u200bile" has no special meaning: did you mean "mobile"?',
    next: 'Corrected:\n  userinfo read abc mobile\n',
  },
  {
    typed: `userinfo passback acme_level==gold ${to}`,
    cause: 'the value of key "acme_level" begins with "="',
    next: 'Nothing was sent. Corrected, or as it is:\n',
    paste: { sends: '{"acme_level":"gold"}' },
  },
  ...[
    ['card', 'union_id,card\\nu001,6222021234567890000\\nu002,6222029876543210000\\n'],
    ['union_id', 'union_id,a\\n6222021234567890000,x\\n6222029876543210000,y\\n'],
  ].map(([column, text = '']) => ({
    typed: file(text),
    cause: `the numbers of column "${column}" were rounded to 15 digits`,
    next: 'Nothing was sent. Export them as text. To send them as they are:\n  userinfo bulk passback',
  })),
  {
    typed: "printf ' CODE=abc\\n' | userinfo read -",
    cause: 'the code begins with its name',
    next: 'Nothing was sent. Correct it. To send it as it is:\n',
  },
  ...['code0123456789abcdef0123', '-- abc%2Bdef', "'mobile-x y1'"].map((code) => ({
    typed: `userinfo read ${code}`,
    cause: 'the code ',
    next: 'Nothing was sent. Corrected, or as it is:\n',
  })),
  {
    typed: 'userinfo passback b.csv',
    cause: '"b.csv" is a file: for each of its rows, userinfo bulk passback b.csv',
    next: 'Nothing was sent.',
  },
  {
    typed: "printf 'code\\nabc\\n' > $d/c.csv; userinfo read $d/c.csv mobile",
    cause: '/c.csv" is a file: for each of its rows, userinfo bulk read /',
    next: 'Nothing was sent.',
  },
  {
    typed: 'userinfo passback --from b.csv',
    cause: 'unknown option "--from"',
    next: 'For the rows of a file: userinfo bulk passback FILE',
  },
  {
    typed: 'userinfo passback a=user:1 --primary-key a',
    cause: 'the value of "a" begins with its name',
    next: 'Corrected, or as it is:\n  userinfo passback a=1 --primary-key a\n',
  },
  { typed: 'userinfo read " $unset"', cause: 'the code is white space alone', next: 'Nothing was sent.' },
  {
    typed: 'userinfo passback acme_level=gold union_id=u001',
    cause: '"union_id" cannot be passed back',
    next: 'Name the user with --union-id u001\n',
    paste: { line: `userinfo passback acme_level=gold ${to}`, sends: '{"acme_level":"gold"}' },
  },
  {
    typed: `userinfo passback a = b ${to}`,
    cause: '"a" is not a pair with a key',
    next: 'Write a pair without spaces: a=…',
    paste: { line: `userinfo passback a=b ${to}`, sends: '{"a":"b"}' },
  },
  {
    typed: `userinfo passback name=Zhang San ${to}`,
    cause: '"San" is not a pair with a key',
    next: "Quote a text with spaces: 'name=two words'",
    paste: { line: `userinfo passback 'name=two words' ${to}`, sends: '{"name":"two words"}' },
  },
  {
    typed: 'userinfo passback "a=b --union-id u001"',
    cause: 'the value of key "a" contains an option',
    next: 'Corrected, or as it is:\n  userinfo passback a=b --union-id u001\n',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: `userinfo passback 'a:=True' ${to}`,
    cause: 'the value of key "a" is not a JSON value',
    next: 'for plain text write a=text',
    paste: { line: `userinfo passback a=text ${to}`, sends: '{"a":"text"}' },
  },
  ...['01', '1,000', 'NaN', "'single'", ''].map((json) => ({
    typed: `userinfo passback "a:=${json}" ${to}`,
    cause: 'the value of key "a" is not a JSON value',
    next: 'Write := for a number, true, false, null',
  })),
  {
    typed: `userinfo passback --user-info {"acme_level":"gold"} ${to}`,
    cause: '--user-info is JSON without double quotes: the shell took them off',
    next: 'Put it in single quotes: --user-info',
    paste: {
      line: `userinfo passback --user-info '{"acme_level":"gold"}' ${to}`,
      sends: '{"acme_level":"gold"}',
    },
  },
  {
    typed: `userinfo passback a=b a=c ${to}`,
    cause: 'the key "a" is given twice',
    next: 'Remove one of the two.',
  },
  {
    typed: `userinfo passback tag=@me ${to}`,
    cause: 'the file "me" of key "tag" cannot be read',
    next: 'write key=\\@text',
    paste: { line: `userinfo passback 'tag=\\@me' ${to}`, sends: '{"tag":"@me"}' },
  },
  { typed: 'userinfo passback a=b', cause: 'the user is not named', next: 'Add --union-id <id>' },
  ...[
    ['mobile', 'such as mobile=...'],
    ['1001', 'Did you mean --primary-key acme_no?'],
    ['union_id', 'Name the user by --union-id <id>.'],
  ].map(([key, next = '']) => ({
    typed: `userinfo passback acme_no=1001 a=b --primary-key ${key}`,
    cause: `--primary-key "${key}": no pair has this key`,
    next,
  })),
  {
    typed: `userinfo passback ${to}`,
    cause: 'nothing to pass back',
    next: 'Give pairs such as acme_level=gold',
  },
  {
    typed: `userinfo passback 'a={"b":{"c":1}}' --user-info '{"x":1}' ${to}`,
    cause: 'pairs and --user-info are both given',
    next: 'use one of them',
  },
  {
    typed: 'userinfo read mobile abc',
    cause: '"mobile" is the name of information, not a code',
    next: 'Nothing was sent. The code comes first, then the names.',
  },
  { typed: 'userinfo read "$unset"', cause: 'the code is empty', next: 'the variable is not set' },
  { typed: 'userinfo read c1 mobile，gps', cause: 'mobile，gps', next: 'Separate names by the ASCII comma' },
  {
    typed: 'userinfo read c1 --query .data',
    cause: '--query is not a JMESPath expression',
    next: "--query 'data.mobile'",
    paste: {},
  },
  {
    typed: "userinfo read c1 --query 'lenght(data)'",
    cause: 'there is no function lenght()',
    next: 'Examples are in:',
    paste: {},
  },
  { typed: 'userinfo read c1 -o jsn', cause: "argument 'jsn' is invalid", next: 'Did you mean "json"?' },
  {
    typed: 'USERINFO_OUTPUT=xml; userinfo read c1 --timeout 5',
    cause: "option '--timeout <duration>' argument '5' is invalid",
    next: '500ms, 5s, 2m',
  },
  {
    typed: 'userinfo read c1 --attempts 0',
    cause: "option '--attempts <n>' argument '0' is invalid.",
    next: 'Give a number from 1.',
  },
  {
    typed: 'userinfo read c1 --environment prod',
    cause: "argument 'prod' is invalid. Allowed choices are test, production.",
    next: '"production"?',
  },
  {
    typed: 'userinfo read c1 --base-url https//h.example',
    cause: 'is not an absolute http or https URL',
    next: 'a colon and two slashes',
  },
  {
    typed: 'userinfo read c1 --base-url https://h.example:99999',
    cause: 'is not an absolute http or https URL',
    next: 'The port is a number up to 65535',
  },
  {
    typed: 'userinfo read c1 --base-url https://h.example/api/v1/server',
    cause: 'the base URL (--base-url) contains /api/v1/server',
    next: 'Give what comes before it: https://h.example',
  },
  {
    typed: 'userinfo read c1 --base-url http://h.example',
    cause: 'is plain http: personal data would be sent unencrypted',
    next: 'Use https.',
  },
  ...['add x', 'import $d/p.json'].map((command) => ({
    typed: `printf '{"name":"x","environment":"test","base_url":"https://h.example/api/v1","tenant_code":"t","channel":"c","app_key":"k"}' > $d/p.json
      userinfo profile ${command} ${command.startsWith('add') ? '--base-url https://h.example/api/v1 --tenant-code t --channel c --app-key k ' : ''}--app-secret-env S`,
    cause: 'the base URL contains /api/v1',
    next: 'Give what comes before it: https://h.example',
  })),
  {
    typed: `userinfo profile add x ${'--base-url https://h.example --tenant-code t --channel c --app-key k'} --app-secret-env '$SECRET'`,
    cause: '--app-secret-env is not the name of an environment variable',
    next: "the variable's name, not the secret itself",
  },
  {
    typed: 'userinfo profile add x --app-secret hunter2',
    cause: 'the app secret is never accepted as an argument',
    next: 'Use --app-secret-stdin',
  },
  {
    typed: 'userinfo read c1 -p nope',
    status: 3,
    cause: 'there is no profile "nope"',
    next: 'There are no profiles yet. Add one:\n  userinfo profile add shop\n',
  },
  {
    typed: `printf 'Union_ID,a\\nu001,b\\n' > $d/a.csv; userinfo bulk passback $d/a.csv`,
    cause: 'no column is named "union_id"; found "Union_ID", "a"',
    next: 'Nothing was sent. If that is the column, name it:\n  userinfo bulk passback',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: file('用户ID,a\\nu001,b\\n'),
    cause: 'no column is named "union_id"; found "用户ID", "a"',
    next: 'Name that of user IDs with --union-id-column',
    paste: { line: 'userinfo bulk passback $d/a.csv --union-id-column 用户ID', sends: '{"a":"b"}' },
  },
  {
    typed: file('u001,gold\\nu002,silver\\n'),
    cause: 'no column is named "union_id"; found "u001", "gold"',
    next: 'The first line has to name the columns.',
  },
  {
    typed: `${file('union_id,mobile,age\\nu001,1.38E+10,1\\n')} --types age:number`,
    cause: 'is a number that a spreadsheet damaged',
    next: '--types age:number,mobile:text',
    paste: { sends: '{"mobile":"1.38E+10","age":1}' },
  },
  {
    typed: `${file('union_id,a\\nu001,b\\n,c\\n')} --dry-run`,
    cause: 'line 3: ',
    next: 'Correct them.\n',
  },
  {
    typed: file('union_id,a\\nu001,b\\n,c\\n'),
    cause: 'line 3: ',
    next: 'Correct them. To send the others:\n  userinfo bulk passback',
  },
  ...[';', '|', '\\t'].map((delimiter) => ({
    typed: file(`union_id${delimiter}a\\nu001${delimiter}b\\n`),
    cause: 'there is one column',
    next: 'Nothing was sent. Name the delimiter:\n  userinfo bulk passback',
    paste: { sends: '{"a":"b"}' },
  })),
  {
    typed: `${file('union_id,a\\nu001,b\\n')} $d/b.csv`,
    cause: "too many arguments for 'passback'",
    next: 'Run each file on its own.',
  },
  {
    typed: "printf 'code\\nabc\\n' > $d/c.csv; userinfo bulk read $d/c.csv $d/c.csv",
    cause: '/c.csv" is a second file',
    next: 'Run each file on its own.',
  },
  {
    typed: `${file('union_id,a\\nu001,b\\n')} --failed $d/a.csv`,
    cause: 'the input and --failed are the same file',
    next: 'Nothing was sent. Name another file with --failed.',
  },
  { typed: `${file('')}`, cause: 'is empty', next: 'Nothing was sent.' },
  { typed: 'userinfo bulk passback $d/none.csv', cause: 'no such file', next: 'Nothing was sent.' },
  {
    typed: `${file('union_id,a\\nu001,b\\n')} --encoding cp936`,
    cause: '"cp936" is not an encoding that is known',
    next: 'gbk',
  },
  {
    typed: `${file('union_id,a\\nu001,b\\n')} --rate 100`,
    cause: "option '--rate <n/s>' argument '100' is invalid",
    next: 'Write it as 100/s.',
  },
  {
    typed: `${file('union_id,a\\nu001,b\\n')} --resume --restart`,
    cause: "option '--resume' cannot be used with option '--restart'",
    next: 'Add --help for usage.',
  },
  {
    typed: `${file('PK\\003\\004xx', 'a.xlsx')}`,
    cause: 'the input is an Excel workbook or another zip file, not text',
    next: 'Save the sheet as "CSV UTF-8 (comma delimited)"',
  },
  {
    typed: 'userinfo serve -p 9999 --database /none/x.db',
    cause: '"userinfo serve" has no use for -p',
    next: 'Did you mean "--port"?\n',
  },
  {
    typed: 'userinfo profile set base_url=http://h.example -p demo',
    cause: '"userinfo profile set" has no use for -p',
    next: 'The profile is an argument: userinfo profile set NAME\n',
  },
  {
    typed: 'userinfo profile set demo base_url=http://h.example',
    cause: "too many arguments for 'set'",
    next: 'Did you mean --base-url http://h.example?',
  },
  // An option that is the value of another, that is given twice, that has another dash, or that follows --.
  ...['--union-id --primary-key mobile', '--primary-key -p', '--union-id -- x', '--user-info --help'].map(
    (options) => ({
      typed: `userinfo passback a=b ${options}`,
      cause: `the option "${options.split(' ')[0]} <`,
      next: 'Add --help for usage.',
    }),
  ),
  ...[
    '-p demo --profile=two',
    '--base-url http://a --base-url http://b',
    '--env test --environment test',
  ].map((options) => ({
    typed: `userinfo read c1 ${options}`,
    cause: ' is given twice',
    next: 'Remove one of the two.',
  })),
  {
    typed: 'userinfo passback a=b —-union-id u001',
    cause: '"—-union-id" begins with a dash that is not a hyphen',
    next: 'Did you mean "--union-id"?',
    paste: { line: `userinfo passback a=b ${to}`, sends: '{"a":"b"}' },
  },
  ...['read -- c1 mobile -p two', 'read c1 -- --profile=two', 'passback -- a=b --union-id u001'].map(
    (line) => ({
      typed: `userinfo ${line}`,
      cause: ' after -- is taken as a name',
      next: 'Put options before the --.',
    }),
  ),
  {
    typed: 'userinfo read --code c1',
    cause: 'unknown option "--code"',
    next: 'The code is the first argument: userinfo read "$code"',
  },
  {
    typed: 'userinfo read --union-id u001',
    cause: 'unknown option "--union-id"',
    next: 'A read takes a code that was issued for the user',
  },
  {
    typed: 'userinfo passback mobile=138 --primary-key Mobile',
    cause: '--primary-key "Mobile": no pair has this key',
    next: 'Did you mean --primary-key mobile?',
  },
  {
    typed: 'userinfo passback a=b --primary-key mobile=138',
    cause: '--primary-key takes the key alone',
    next: 'Give the pair as an argument: mobile=… --primary-key mobile',
  },
  {
    typed: file('| union_id | a |\n| u001 | b |\n'),
    cause: 'line 1: this is a table for people to read, not CSV',
    next: 'Export it as CSV',
  },
  {
    typed: file('{\n  "union_id": "u001",\n  "a": "b"\n}\n', 'a.ndjson'),
    cause: 'cannot be sent',
    next: 'Correct them.\n',
  },
  ...[
    ['login', 'profile add shop'],
    ['init', 'profile add shop'],
    ['config', 'profile show'],
    ['whoami', 'profile show'],
    ['get', 'read "$code"'],
    ['status', 'doctor'],
    ['test', 'doctor'],
    ['mock', 'serve --demo'],
    ['code issue', 'admin code issue --tenant-code acme --union-id u001'],
    ['version', '--version'],
  ].map(([word, instead]) => ({
    typed: `userinfo ${word}`,
    cause: `unknown command "${word?.split(' ')[0]}"`,
    next: `Did you mean:\n  userinfo ${instead}\n`,
    ...(word === 'mock' && { paste: { line: 'userinfo serve --demo --help' } }),
  })),
  {
    typed: 'userinfo --profile=nope profile list --mask',
    cause: '"userinfo profile list" has no use for --profile',
    next: 'Leave it out.\n',
  },
  {
    typed: 'userinfo --timeot 5s read abc',
    cause: 'unknown option "--timeot"',
    next: 'Did you mean "--timeout"?',
  },
  {
    typed: 'userinfo --verbose 5s read',
    cause: 'unknown command "5s"',
    next: 'The commands are read, ',
  },
  {
    typed: 'userinfo help bluk',
    cause: 'there is no command, topic or option "bluk"',
    next: 'Did you mean:\n  userinfo help bulk\n',
    paste: {},
  },
  {
    typed: 'userinfo serve --fault constructor=1 --port x',
    cause: "option '--fault <list>' argument 'constructor=1' is invalid",
    next: 'The faults are latency=200ms..2s',
  },
  {
    typed: `userinfo passback --user-info "{'a':'b'}" ${to}`,
    cause: '--user-info is JSON without double quotes: it has other quotes',
    next: 'Put it in single quotes: --user-info',
  },
  {
    typed: 'userinfo profile add x --secret s3cret',
    cause: 'unknown option "--secret"',
    next: 'Replace the secret that you typed.',
  },
  { typed: 'userinfo help csv', cause: 'option "csv"', next: 'listed by:\n  userinfo --help\n' },
];

/** The commands that a hint has. */
const commandsIn = (stderr: string) =>
  [...stderr.matchAll(/^ {2}(userinfo .*)$/gm)].map(([, line = '']) => line);
const commandIn = (stderr: string) => commandsIn(stderr)[0] ?? '';

describe('a slip is refused before anything is sent', () => {
  it.each(refused)('$typed', async ({ typed, cause, next, status: wanted = 2, paste }) => {
    const { folder, env, sent } = newRow();
    const shell = (line: string) => machine.type(`d='${folder}'\n${line}`, { env });
    const { status, stdout, stderr } = await shell(typed);
    expect(stderr).toContain(cause);
    expect(stderr).toContain(next);
    expect([status, stdout, sent()]).toEqual([wanted, '', []]);
    if (paste !== undefined) {
      const pasted = await shell(paste.line ?? commandIn(stderr));
      expect([pasted.status, pasted.stderr]).toEqual([0, expect.not.stringContaining('error')]);
      const { sends } = paste;
      expect(sent()).toEqual(sends === undefined ? [] : [expect.stringContaining(`user_info=${sends}`)]);
    }
    for (const line of commandsIn(stderr)) {
      const isAsItIs = /^(?!.* - ).* --any-name(?: -- |$)/.test(line);
      if (paste !== undefined && !isAsItIs) continue;
      const before = sent().length;
      const after = await shell(line);
      // Whatever a printed command needs, it is not what was typed; a valid text that looks like a slip is sent.
      expect([line, after.stderr]).not.toEqual([line, stderr]);
      // Of a file, there are the results of the first by now.
      if (isAsItIs && !(before > 0 && line.includes(' bulk ')))
        expect([line, sent().length]).toEqual([line, before + 1]);
    }
  });
});

interface Noticed {
  readonly typed: string;
  readonly says: string;
  readonly sends: string;
}

const noticed: readonly Noticed[] = [
  { typed: `userinfo passback a=b ${to} --env test`, says: '', sends: '{"a":"b"}' },
  {
    typed: `printf '{"a":"b"}' > $d/a.json; userinfo passback --user-info @$d/a.json ${to}`,
    says: '',
    sends: '{"a":"b"}',
  },
  {
    typed: file('union_id,a,,\\nu001,b,,\\n'),
    says: 'line 1: the last 2 columns have no name: skipped where empty\n',
    sends: '{"a":"b"}',
  },
  {
    typed: `${file('sep=;\\r\\nunion_id;a\\r\\nu001;b\\r\\n')} --delimiter ';'`,
    says: 'line 1 names a delimiter, as Excel reads it: it is skipped\n',
    sends: '{"a":"b"}',
  },
];

describe('what is skipped or doubtful is said, and sent', () => {
  it.each(noticed)('$typed', async ({ typed, says, sends }) => {
    const { folder, env, sent } = newRow();
    const { status, stderr } = await machine.type(`d='${folder}'\n${typed}`, { env });
    expect([stderr, stderr.split(says).length]).toEqual([stderr, says === '' ? 0 : 2]);
    expect(status).toBe(0);
    expect(sent()).toEqual([expect.stringContaining(`user_info=${sends}`)]);
  });
});

describe('a slip of a file', () => {
  it('is a JSON array: the printed command makes rows of it (needs jq)', async ({ skip }) => {
    const { folder, env, sent } = newRow();
    if ((await machine.shell('jq --version')).status !== 0) skip();
    const shell = (line: string): ReturnType<typeof machine.shell> =>
      machine.shell(`cd '${folder}'\n${line}`, { env });
    writeFileSync(join(folder, 'my users.json'), '[{"union_id":"u001","a":"b"}]');
    const { stderr } = await shell("userinfo bulk passback 'my users.json'");
    const line = /^ {2}(jq .*)$/m.exec(stderr)?.[1] ?? '';
    expect((await shell(line)).status).toBe(0);
    expect((await shell("userinfo bulk passback 'my users.rows.ndjson'")).status).toBe(0);
    expect(sent()).toEqual([expect.stringContaining('user_info={"a":"b"}')]);
  });

  it('keeps the columns without a name in the file of failed rows', async () => {
    const { folder, env, name } = newRow();
    answers[name] = '{"code":40401,"msg":"no such user","data":{}}';
    writeFileSync(join(folder, 'a.csv'), 'union_id,a,,\nu001,b,,\n');
    const { status } = await machine.shell(`cd '${folder}'; userinfo bulk passback a.csv --failed f.csv`, {
      env,
    });
    expect(status).toBe(6);
    expect(existsSync(join(folder, 'f.csv'))).toBe(true);
    expect(readFileSync(join(folder, 'f.csv'), 'utf8')).toBe('union_id,a,,\nu001,b,,\n');
  });

  it('shows white space at the ends of a value in a table', async () => {
    const { env, name } = newRow();
    answers[name] = '{"code":200,"msg":"ok","data":{" acme_level":" gold","b c":"d e"}}';
    const { stdout } = await machine.run(['read', 'c1'], { env });
    expect(stdout).toContain('│ ␣acme_level │ ␣gold │');
    expect(stdout).toContain('│ b c         │ d e   │');
  });
});

describe('a code', () => {
  it.each([`read ' abc'`, `read "abc\n"`, `read - <<E\n abc \nE`])('is trimmed: %s', async (line) => {
    const { env, sent } = newRow();
    const { status, stderr } = await machine.type(`userinfo ${line}`, { env });
    expect([status, stderr]).toEqual([0, 'the code has white space around it, which is not sent\n']);
    expect(sent()).toEqual([expect.stringMatching(/[?&]code=abc&/)]);
  });
});

describe('--query', () => {
  it.each<[string, string, number, RegExp]>([
    ['data.nothing', 'null\n', 1, /^error: --query selects nothing\nWithout it, all is printed.\n$/],
    ['data.mobile', '138\n', 0, /^$/],
  ])('fails if it selects nothing: %s', async (query, printed, exit, says) => {
    const { env } = newRow();
    const { status, stdout, stderr } = await machine.run(['read', 'c1', 'mobile', '--query', query], { env });
    expect([status, stdout]).toEqual([exit, printed]);
    expect(stderr).toMatch(says);
  });

  it('prints nothing of a refusal', async () => {
    const { env, name } = newRow();
    answers[name] = '{"code":40106,"msg":"code is used","data":{}}';
    const { status, stdout, stderr } = await machine.run(['read', 'c1', 'mobile', '--query', 'data.mobile'], {
      env,
    });
    expect([status, stdout]).toEqual([4, '']);
    expect(stderr).toContain('40106 "code is used"');
    expect(stderr).not.toContain('selects nothing');
  });
});

const values = '--environment test --base-url https://h.example --tenant-code t --channel c --app-key k7f3c9';

describe('what a profile would store', () => {
  const rest = (option: string, all = values) => all.replace(new RegExp(`${option} \\S+`), '');
  it.each([
    ['--tenant-code', 'acme,', 'has a delimiter after it'],
    ['--tenant-code', 'acme (test)', 'has a remark in brackets\nDid you mean "acme"?'],
    ['--tenant-code', 'ac me', 'has a space or a delimiter inside'],
    ['--tenant-code', '{"tenant_code":"acme"}', 'is JSON'],
    ['--channel', 'https://h.example/web', 'is a URL'],
    ['--app-key', 'app_key=k1', 'begins with its name'],
    ['--app-key', 'App key: k1', 'begins with its name'],
    ['--app-key', '$env:APP_KEY', 'stands for a missing value'],
    ['--header', 'X-Trace=command:', 'X-Trace is neither a value nor the name of a variable or a command'],
    ['--header', 'X-Trace=env:a b', 'X-Trace is neither a value nor the name of a variable or a command'],
    ['--header', 'X-Trace=command,expires=0:t', 'X-Trace: expires is not the seconds from 1 to '],
  ])('is refused: %s %j', async (option, text, says) => {
    const { env } = newRow();
    const args = [...rest(option).trim().split(/ +/), option, text, '--app-secret-env', 'S'];
    const done = await machine.run(['profile', 'add', 'x', ...args], { env });
    expect(done).toMatchObject({ status: 2, stderr: expect.stringContaining(says) });
    expect(existsSync(join(env.USERINFO_CONFIG_DIR, 'profiles.json'))).toBe(false);
    for (const app of ['create --tenant-code t --channel c', 'set --app-key k']) {
      if (option === '--header' || (app.startsWith('set') && option !== '--channel')) continue;
      const line = `admin app ${rest(option, app)} --database none.db`.split(/ +/);
      const stored = await machine.run([...line, option, text], { env });
      expect(stored).toMatchObject({ status: 2, stderr: expect.stringContaining(says) });
      expect(existsSync(join(machine.folder, 'none.db'))).toBe(false);
    }
  });

  it.each([
    ['--header', 'Authorization=Bearer abc', 'Authorization=env:AUTHORIZATION'],
    ['--header', 'Authorization: Bearer abc', 'Authorization=env:AUTHORIZATION'],
    ['--header', 'X-Gateway=9f86d081884c7d659a2feaa0c55ad015', 'X-Gateway=env:X_GATEWAY'],
  ])('is no secret, and the printed command does without: %s %j', async (option, text, instead) => {
    const { env } = newRow();
    const add = ['profile', 'add', 'x', ...values.split(' '), '--app-secret-env', 'S', option, 'X-A=b'];
    const { status, stderr } = await machine.run([...add, option, text], { env });
    expect([status, stderr]).toEqual([2, expect.stringContaining('does not store a secret in plain text')]);
    const [printed = ''] = stderr.match(/userinfo profile add .*/) ?? [];
    expect(printed).toContain(` ${option} ${instead}`);
    expect((await machine.type(printed, { env })).status).toBe(0);
  });

  it.each(['sk_live_51Habc', 'a1b2c3d4e5f6', 'ABCDEF0123456789'])(
    'is no secret as a name: %s',
    async (text) => {
      const { env } = newRow();
      const add = ['profile', 'add', 'x', ...values.split(' '), '--app-secret-env', text];
      const { status, stdout, stderr } = await machine.run(add, { env });
      expect([status, stderr]).toEqual([
        2,
        expect.stringContaining('not the name of a variable that is set'),
      ]);
      expect(stdout + stderr).not.toContain(text);
      expect((await machine.run(add, { env: { ...env, [text]: 's' } })).status).toBe(0);
    },
  );

  const around = [
    '"abc"',
    '“abc”',
    'APP_SECRET=abc',
    'secret: abc',
    'ab\u200bc',
    'abc ',
    'key\nabc',
    'k\tabc',
    'a\0b\0',
  ];
  it.each([...around, '{"secret":"abc"}', 'ab****yz', '<secret>', 'undefined', '••••••'])(
    'is no secret: %j',
    async (text) => {
      const { env } = newRow();
      const add = ['profile', 'add', 'x', ...values.split(' '), '--app-secret-stdin'];
      const done = await machine.run(add, { env, stdin: text });
      expect(done).toMatchObject({ status: 2, stderr: expect.stringContaining('the app secret ') });
      expect(done.stderr).not.toContain(text);
    },
  );
});

describe('a secret', () => {
  it.each<[string, string, readonly string[]]>([
    ['what may be a name', 'shop=abc', ['warning: the app secret begins with a name']],
    ['the app key', 'k7f3c9', ['warning: the app secret is the app key']],
    ['a letter of a language', 'abcé', ['warning: the app secret has letters that are not ASCII']],
    ['the padding of Base64', 'YWJj==', []],
  ])('with %s is stored, and what fixes it is said', async (_, secret, warnings) => {
    const { env } = newRow();
    const add = ['profile', 'add', 'shop', ...values.split(' '), '--app-secret-stdin'];
    const done = await machine.run(add, { env, stdin: secret });
    const said = done.stderr.split('\n').filter((line) => line.startsWith('warning:'));
    expect([done.status, said]).toEqual([0, warnings]);
    expect(done.stderr).not.toContain(secret);
    const fix = 'userinfo profile set shop --app-secret-stdin';
    if (warnings.length === 0) return expect(done.stderr).not.toContain('Set it again');
    expect(done.stderr).toContain(`\nEnter it again:\n  ${fix}\n`);
    const again = await machine.type(`printf abc | ${fix}`, { env });
    expect([again.status, again.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
  });

  it.each([
    {
      source: '--app-secret-env NOSUCH',
      warns: true,
      cause: 'NOSUCH, which should hold the app secret, is not set',
      shown: 'from the variable NOSUCH (not set here)',
    },
    {
      source: '--app-secret-command true',
      warns: false,
      cause: 'the command that should print the app secret printed nothing',
      shown: '(not run here: ',
    },
  ])('that is not there is reported, by doctor alone if a command prints it: $source', async (row) => {
    const { env: all } = newRow();
    const env = { USERINFO_CONFIG_DIR: all.USERINFO_CONFIG_DIR };
    const { source, warns, cause, shown } = row;
    const says = warns ? expect.stringContaining(cause) : expect.not.stringContaining('warning');
    const added = await machine.type(`userinfo profile add shop ${values} ${source}`, { env });
    expect([added.status, added.stderr]).toEqual([0, says]);
    const set = await machine.type(`userinfo profile set shop ${source}`, { env });
    expect([set.status, set.stderr]).toEqual([0, says]);
    expect((await machine.type('userinfo profile show', { env })).stdout).toContain(shown);
    expect((await machine.type('userinfo doctor', { env })).stdout).toContain(cause.replace(/^NOSUCH/, ''));
  });

  it.runIf(process.platform !== 'win32')('is not echoed by --app-secret-stdin on a terminal', async () => {
    const { env } = newRow();
    await machine.type(`userinfo profile add shop ${values} --app-secret-env PATH`, { env });
    const set = ['profile', 'set', 'shop', '--app-secret-stdin'];
    const done = await machine.onTerminal(set, [['App secret', 'visible-secret']], { env });
    expect([done.status, done.stdout]).toEqual([0, expect.not.stringContaining('visible-secret')]);
    expect(readFileSync(join(env.USERINFO_CONFIG_DIR, 'profiles.json'), 'utf8')).toContain('visible-secret');
    // Nor is it asked for where no prompt can hide it.
    const shown = await machine.inBash([
      `userinfo profile add p ${values} --app-secret-stdin --no-input | cat`,
    ]);
    expect(shown.stdout).toContain('standard input is a terminal, which would show the app secret');
  });
});

it('a variable that nothing reads, but is near one of a target, stops a call', async () => {
  const { env, sent } = newRow();
  const more = { env: { ...env, USERINFO_ENV: 'production' } };
  const { status, stderr } = await machine.run(['passback', 'a=b', '--union-id', 'u001'], more);
  expect([status, sent()]).toEqual([2, []]);
  expect(stderr).toContain('nothing reads the variable USERINFO_ENV: did you mean USERINFO_ENVIRONMENT?');
});

it('a profile file that others can read is warned of, with the command that restricts it', async () => {
  const { env: all } = newRow();
  const env = { USERINFO_CONFIG_DIR: all.USERINFO_CONFIG_DIR };
  const add = ['profile', 'add', 'shop', '--base-url', all.USERINFO_BASE_URL, '--app-secret-stdin'];
  const values = ['--tenant-code', 't', '--channel', 'c', '--app-key', 'k'];
  await machine.run([...add, ...values], { env, stdin: 's' });
  const path = join(all.USERINFO_CONFIG_DIR, 'profiles.json');
  chmodSync(path, 0o644);
  const open = await machine.run(['read', 'c1'], { env });
  expect(open).toMatchObject({ status: 0, stderr: expect.stringContaining('(mode 0644)\nRestrict it:\n') });
  chmodSync(path, 0o600);
  expect(await machine.run(['read', 'c1'], { env })).toMatchObject({ status: 0, stderr: '' });
  writeFileSync(path, `// of the shop\n${readFileSync(path, 'utf8')}`);
  const comment = await machine.run(['read', 'c1'], { env });
  expect(comment.stderr).toContain('a comment, which JSON does not have, at line 1, column 1');
});

it('a refused timestamp is answered with how far the clocks are apart', async () => {
  const { env } = newRow();
  let ahead = 3_600;
  const late = await httpServer((_, response) => {
    response.setHeader('Date', new Date(Date.now() + ahead * 1000).toUTCString());
    response.end('{"code":40104,"msg":"timestamp is outside the allowed window"}');
  });
  const at = { ...env, USERINFO_BASE_URL: late.url };
  const behind = await machine.run(['read', 'c1'], { env: at });
  expect(behind.stderr).toMatch(
    /The clock of this machine is (?:3600|3599) s behind that of the service: set it\./,
  );
  ahead = 0;
  const same = await machine.run(['read', 'c1'], { env: at });
  await late.close();
  expect(same.stderr).toContain('tell the operator that the service has another time');
});

it('a proxy in ALL_PROXY is not read, and named where the host is not reached', async () => {
  const { env } = newRow();
  const more = { ...env, USERINFO_BASE_URL: 'http://127.0.0.1:9', ALL_PROXY: 'socks5://127.0.0.1:1' };
  const { status, stderr } = await machine.run(['read', 'c1', '--attempts', '1'], { env: more });
  expect([status, stderr]).toEqual([5, expect.stringContaining('ALL_PROXY is not read.')]);
});

it('a variable of an option that has none is warned of', async () => {
  const { env } = newRow();
  const done = await machine.run(['read', 'c1'], { env: { ...env, USERINFO_TIMEOUT: 'abc' } });
  const says = 'warning: nothing reads the variable USERINFO_TIMEOUT: the option is --timeout\n';
  expect(done).toMatchObject({ status: 0, stderr: says });
});

it.runIf(process.platform !== 'win32')('USERINFO_MASK masks what a terminal shows, and no pipe', async () => {
  const { env: all } = newRow();
  const env = { ...all, USERINFO_MASK: '1' };
  expect((await machine.run(['read', 'c1'], { env, shows: true })).stdout).toMatch(/mobile +│ \*{4}/);
  expect((await machine.run(['read', 'c1'], { env })).stdout).toMatch(/mobile +│ 138/);
  const { status, stderr } = await machine.run(['read', 'c1'], {
    env: { ...env, USERINFO_MASK: 'sometimes' },
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining('Write 1 or 0')]);
});

describe('a name that does not exist', () => {
  it.each<[string, string, string | null]>([
    ['raed c1', 'unknown command "raed"', 'read'],
    ['passbak a=b --union-id u', 'unknown command "passbak"', 'passback'],
    ['passback a=b --union_id u', 'unknown option "--union_id"', '--union-id'],
    ['passback a=b -u u001', 'unknown option "-u"', '--union-id'],
    ['passback a=b --user u001', 'unknown option "--user"', '--union-id'],
    ['passback a=b --id u001', 'unknown option "--id"', '--union-id'],
    ['passback a=b --force', 'unknown option "--force"', null],
    ['read c --insecure', 'unknown option "--insecure"', '--ca-file'],
    ['read c -k', 'unknown option "-k"', '--ca-file'],
    ['read -help', 'unknown option "-help"', '--help'],
    ['sign solve --file f.txt', 'unknown option "--file"', '--sample'],
    ['admin code issue --tenant acme', 'unknown option "--tenant"', '--tenant-code'],
    ['passback --data {} --union-id u', 'unknown option "--data"', '--user-info'],
    ['passback a=b --prod', 'unknown option "--prod"', '--environment'],
    ['passback a=b --curl', 'unknown option "--curl"', '--print-curl'],
    ['passback a=b --dry', 'unknown option "--dry"', '--dry-run'],
    ['passback a=b --unionId u', 'unknown option "--unionId"', '--union-id'],
    ['bulk read c.csv --types code:text', 'unknown option "--types"', null],
    ['bulk passback a.csv --restrat', 'unknown option "--restrat"', null],
    ['passback a=b -q data', 'unknown option "-q"', '--query'],
    ['passback a=b -v', 'unknown option "-v"', '--verbose'],
    ['profile rm shop', 'unknown command "rm"', 'delete'],
    ['profile ls', 'unknown command "ls"', 'list'],
    ['profile current', 'unknown command "current"', 'show'],
    ['constructor', 'unknown command "constructor"', null],
  ])('%s', async (line, cause, meant) => {
    const { env, sent } = newRow();
    const { status, stdout, stderr } = await machine.type(`userinfo ${line}`, { env });
    expect([status, stdout, sent()]).toEqual([2, '', []]);
    expect(stderr).toContain(cause);
    if (meant === null) expect(stderr).not.toContain('Did you mean');
    else {
      expect(stderr).toContain(`\nDid you mean "${meant}"?\n`);
      const [, wrong = ''] = /"(.+)"/.exec(cause) ?? [];
      const corrected = await machine.type(`userinfo ${line.replace(wrong, meant)}`, { env });
      expect(corrected.stderr).not.toMatch(/unknown (?:option|command)/);
    }
    expect(stderr).not.toMatch(/--yes|--restart|--allow-http|--take-over|--no-|Put --/);
  });

  it('is a short option: the help lists those that exist', async () => {
    const { stderr } = await machine.run(['passback', 'a=b', '-z', 'u001']);
    expect(stderr).toContain('unknown option "-z"\nThe options are listed by:\n  userinfo passback --help\n');
  });

  it('is a command of a group: its siblings are listed', async () => {
    const { stderr } = await machine.run(['profile', 'frobnicate']);
    expect(stderr).toContain('The commands are add, list, ');
  });
});
