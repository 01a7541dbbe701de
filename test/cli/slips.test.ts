import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';
import { runHere, typeHere } from '../support/in-process.js';

/** A platform that accepts all that it is sent, and keeps it by the first part of its path. */
const received = new Map<string, string[]>();
const answers: Record<string, string> = {};
const platform = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    const [, row = ''] = (request.url ?? '').split('/');
    received.set(row, [...(received.get(row) ?? []), `${request.url} ${decodeURIComponent(body)}`]);
    response.end(answers[row] ?? '{"code":200,"msg":"ok","data":{"union_id":"u001","mobile":"138"}}');
  });
});
const machine = new Machine();
beforeAll(() => new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  platform.close();
  platform.closeAllConnections();
  machine[Symbol.dispose]();
});

let rows = 0;
/** A test's own part of the platform, the folder of its files, and the environment that names them. */
function newRow() {
  rows += 1;
  const name = `r${rows}`;
  const folder = join(machine.folder, name);
  mkdirSync(folder);
  const env = {
    USERINFO_BASE_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}/${name}`,
    USERINFO_TENANT_CODE: 't',
    USERINFO_CHANNEL: 'c',
    USERINFO_APP_KEY: 'k',
    USERINFO_APP_SECRET: 's',
    USERINFO_CONFIG_DIR: join(folder, 'config'),
  };
  return { name, folder, env, sent: () => received.get(name) ?? [] };
}

interface Slip {
  /** A line of a shell; `userinfo` is the program, `$d` a folder for files. */
  readonly typed: string;
  readonly cause: string;
  readonly next: string;
  /** What the printed command, or this one, sends. */
  readonly paste?: { readonly line?: string; readonly sends: string };
}

const to = '--union-id u001';
const file = (text: string, name = 'a.csv') =>
  `printf '${text}' > $d/${name}; userinfo passback --from $d/${name}`;

const refused: readonly Slip[] = [
  {
    typed: file('union_id, acme_level\\nu001, gold\\n'),
    cause: 'line 1: column 2 is named " acme_level", with a space before it',
    next: 'Nothing was sent. Take it off in the header',
  },
  {
    typed: `${file('union_id,acme_level \\nu001,gold\\n')} --no-preflight`,
    cause: 'column 2 is named "acme_level ", with a space after it',
    next: 'Nothing was sent. Take it off',
  },
  {
    typed: file('{"union_id":"u001","a ":"b"}\\n', 'a.ndjson'),
    cause: 'line 1: the key "a " has a space after it',
    next: 'Nothing was sent.',
  },
  {
    typed: `userinfo passback 'a =b' ${to}`,
    cause: 'the key "a " has a space after it',
    next: 'Nothing was sent. Take it off',
  },
  {
    typed: `userinfo passback 'a: =1' ${to}`,
    cause: 'the key "a: " has a space after it',
    next: 'Take it off',
  },
  {
    typed: `userinfo passback --user-info '{" a":"b"}' ${to}`,
    cause: 'the key " a" has a space before it',
    next: 'Take it off',
  },
  {
    typed: `userinfo passback mobile=$unset ${to}`,
    cause: 'the value of key "mobile" is empty: is the variable set?',
    next: 'Nothing was sent. To store an empty value, write mobile:=\'""\'',
    paste: { line: `userinfo passback mobile:='""' ${to}`, sends: '{"mobile":""}' },
  },
  {
    typed: 'userinfo passback mobile=13800138000 --union-id "$unset" --primary-key mobile',
    cause: '--union-id is empty: is the variable set?',
    next: 'Nothing was sent.',
  },
  {
    typed: 'userinfo passback a=b --union-id " u001"',
    cause: '--union-id has a space before it',
    next: 'Take it off',
  },
  {
    typed: 'userinfo passback "mobile=138 " --primary-key mobile',
    cause: 'the value of "mobile" has a space after it',
    next: 'Nothing was sent.',
  },
  {
    typed: file('union_id,a\\n u001,b\\nu002 ,b\\n'),
    cause: 'line 2: "union_id" has a space before it\nline 3: "union_id" has a space after it',
    next: 'Nothing was sent. Take it off in the file',
  },
  {
    typed: `userinfo passback mobile=1.38E+10 ${to}`,
    cause: 'the value of key "mobile" is a number that a spreadsheet damaged',
    next: 'Give all of its digits.',
    paste: { line: `userinfo passback mobile:='"1.38E+10"' ${to}`, sends: '{"mobile":"1.38E+10"}' },
  },
  {
    typed: `userinfo passback id_card:=13900139000.0 ${to}`,
    cause: 'the value of key "id_card" is a number that a spreadsheet damaged',
    next: 'Nothing was sent.',
  },
  {
    typed: file('union_id,mobile\\nu001,13900139000.0\\n'),
    cause: 'the cell of column "mobile" is a number that a spreadsheet damaged',
    next: 'To send it as it is: --types mobile:text',
    paste: {
      line: 'userinfo passback --from $d/a.csv --types mobile:text',
      sends: '{"mobile":"13900139000.0"}',
    },
  },
  {
    typed: file('{"union_id":"u001","mobile":13900139000.0}\\n', 'a.ndjson'),
    cause: 'line 1: "mobile" is a number that a spreadsheet damaged',
    next: 'Nothing was sent.',
  },
  {
    typed: `${file('union_id,moblie,age\\nu001,138,1\\n')} --types age:number`,
    cause: '"moblie": the key has no special meaning; did you mean "mobile"?',
    next: 'Nothing was sent. Rename it, or send it as it is:\n  userinfo passback',
    paste: { sends: '{"moblie":"138","age":1}' },
  },
  {
    typed: "printf 'union_id,moblie\\nu001,138\\n' | userinfo passback --from -",
    cause: '"moblie": the key has no special meaning; did you mean "mobile"?',
    next: '--types moblie:text',
  },
  {
    typed: file('{"union_id":"u001","id_crad":"1"}\\n', 'a.ndjson'),
    cause: '"id_crad": the key has no special meaning; did you mean "id_card"?',
    next: 'send it as it is:\n  userinfo passback',
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
    next: 'Nothing was sent. Name its encoding:\n  userinfo passback',
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
    next: 'Nothing was sent. Name the delimiter:\n  userinfo passback',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: "printf 'code\\n1.38E+10\\n' > $d/c.csv; userinfo read --from $d/c.csv",
    cause: 'the cell of column "code" is a number that a spreadsheet damaged',
    next: 'save it as CSV.\n',
  },
  {
    typed: 'userinfo read code=abc',
    cause: 'the code begins with "code="',
    next: 'Give what follows the = sign alone.',
  },
  {
    typed: "printf ' CODE=abc\\n' | userinfo read -",
    cause: 'the code begins with "code="',
    next: 'Nothing was sent.',
  },
  { typed: 'userinfo read " $unset"', cause: 'the code is white space alone', next: 'Nothing was sent.' },
];

/** The command that a hint ends with. */
const commandIn = (stderr: string) => /^ {2}(userinfo .*)$/m.exec(stderr)?.[1] ?? '';

describe('a slip is refused before anything is sent', () => {
  it.concurrent.each(refused)('$typed', async ({ typed, cause, next, paste }) => {
    const { folder, env, sent } = newRow();
    const shell = (line: string) => typeHere(`d='${folder}'\n${line}`, { env });
    const { status, stdout, stderr } = await shell(typed);
    expect(stderr).toContain(cause);
    expect(stderr).toContain(next);
    expect([status, stdout, sent()]).toEqual([2, '', []]);
    if (paste === undefined) return;
    const pasted = await shell(paste.line ?? commandIn(stderr));
    expect([pasted.status, pasted.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(sent()).toEqual([expect.stringContaining(`user_info=${paste.sends}`)]);
  });
});

interface Noticed {
  readonly typed: string;
  readonly says: string;
  readonly sends: string;
}

const noticed: readonly Noticed[] = [
  {
    typed: `userinfo passback acme_level=$unset ${to}`,
    says: 'warning: the value of key "acme_level" is empty: is the variable set?',
    sends: '{"acme_level":""}',
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
  it.concurrent.each(noticed)('$typed', async ({ typed, says, sends }) => {
    const { folder, env, sent } = newRow();
    const { status, stderr } = await typeHere(`d='${folder}'\n${typed}`, { env });
    expect(stderr.split(says)).toHaveLength(2);
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
    const { stderr } = await shell("userinfo passback --from 'my users.json'");
    const line = /^ {2}(jq .*)$/m.exec(stderr)?.[1] ?? '';
    expect((await shell(line)).status).toBe(0);
    expect((await shell("userinfo passback --from 'my users.rows.ndjson'")).status).toBe(0);
    expect(sent()).toEqual([expect.stringContaining('user_info={"a":"b"}')]);
  });

  it('keeps the columns without a name in the file of failed rows', async () => {
    const { folder, env, name } = newRow();
    answers[name] = '{"code":40401,"msg":"no such user","data":{}}';
    writeFileSync(join(folder, 'a.csv'), 'union_id,a,,\nu001,b,,\n');
    const { status } = await machine.shell(`cd '${folder}'; userinfo passback --from a.csv --failed f.csv`, {
      env,
    });
    expect(status).toBe(6);
    expect(existsSync(join(folder, 'f.csv'))).toBe(true);
    expect(readFileSync(join(folder, 'f.csv'), 'utf8')).toBe('union_id,a,,\nu001,b,,\n');
  });

  it('shows white space at the ends of a value in a table', async () => {
    const { env, name } = newRow();
    answers[name] = '{"code":200,"msg":"ok","data":{" acme_level":" gold","b c":"d e"}}';
    const { stdout } = await runHere(['read', 'c1'], { env });
    expect(stdout).toContain('│ ␣acme_level │ ␣gold │');
    expect(stdout).toContain('│ b c         │ d e   │');
  });
});

describe('a code', () => {
  it.concurrent.each([`read ' abc'`, `read "abc\n"`, `read - <<E\n abc \nE`])(
    'is trimmed: %s',
    async (line) => {
      const { env, sent } = newRow();
      const { status, stderr } = await typeHere(`userinfo ${line}`, { env });
      expect([status, stderr]).toEqual([0, 'the code has white space around it, which is not sent\n']);
      expect(sent()).toEqual([expect.stringMatching(/[?&]code=abc&/)]);
    },
  );
});

describe('--query', () => {
  it.concurrent.each<[string, string, RegExp]>([
    [
      'data.basic_info.mobile',
      'null\n',
      /^--query selects nothing; there is code, msg, data.union_id, data.mobile\n$/,
    ],
    ['data.mobile', '138\n', /^$/],
  ])('says what there is if it selects nothing: %s', async (query, printed, says) => {
    const { env } = newRow();
    const { status, stdout, stderr } = await runHere(['read', 'c1', 'mobile', '--query', query], { env });
    expect([status, stdout]).toEqual([0, printed]);
    expect(stderr).toMatch(says);
  });

  it('prints nothing of a refusal', async () => {
    const { env, name } = newRow();
    answers[name] = '{"code":40106,"msg":"code is used","data":{}}';
    const { status, stdout, stderr } = await runHere(['read', 'c1', '--query', 'data.mobile'], { env });
    expect([status, stdout]).toEqual([4, '']);
    expect(stderr).toContain('40106 "code is used"');
    expect(stderr).not.toContain('selects nothing');
  });
});

const values = '--base-url https://h.example --tenant-code t --channel c --app-key k';

describe('a secret', () => {
  it.concurrent.each<[string, string, readonly string[]]>([
    ['quotes', '"abc"', ['warning: the app secret is in quotes']],
    ['curly quotes', '“abc”', ['warning: the app secret is in quotes']],
    ['a name', 'APP_SECRET=abc', ['warning: the app secret begins with a name and =']],
    ['a zero-width space', 'ab\u200bc', ['warning: the app secret contains an invisible character']],
    ['a space', 'abc ', ['warning: the app secret ends with white space']],
    ['the padding of Base64', 'YWJj==', []],
  ])('with %s is stored, and what mends it is said', async (_, secret, warnings) => {
    const { env } = newRow();
    const add = ['profile', 'add', 'shop', ...values.split(' '), '--app-secret-stdin'];
    const done = await runHere(add, { env, stdin: secret });
    const said = done.stderr.split('\n').filter((line) => line.startsWith('warning:'));
    expect([done.status, said]).toEqual([0, warnings]);
    expect(done.stderr).not.toContain(secret);
    const mend = 'userinfo profile set shop --app-secret-stdin';
    if (warnings.length === 0) return expect(done.stderr).not.toContain('Set it again');
    expect(done.stderr).toContain(`\nSet it again:\n  ${mend}\n`);
    const again = await typeHere(`printf abc | ${mend}`, { env });
    expect([again.status, again.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
  });

  it.concurrent.each([
    [
      '--app-secret-env NOSUCH',
      'NOSUCH, which should hold the app secret, is not set',
      'from the variable NOSUCH (not set here)',
    ],
    [
      '--app-secret-command true',
      'the command that should print the app secret printed nothing',
      '(not run here: ',
    ],
  ])('that is not there is said at once: %s', async (source, warning, shown) => {
    const { env: all } = newRow();
    const env = { USERINFO_CONFIG_DIR: all.USERINFO_CONFIG_DIR };
    const added = await typeHere(`userinfo profile add shop ${values} ${source}`, { env });
    expect([added.status, added.stderr]).toEqual([0, expect.stringContaining(warning)]);
    const set = await typeHere(`userinfo profile set shop ${source}`, { env });
    expect(set.stderr).toContain(warning);
    expect((await typeHere('userinfo profile show', { env })).stdout).toContain(shown);
    expect((await typeHere('userinfo doctor', { env })).stdout).toContain(warning.replace(/^NOSUCH/, ''));
  });

  it.runIf(process.platform !== 'win32')('is not echoed by --app-secret-stdin on a terminal', async () => {
    const { env } = newRow();
    await typeHere(`userinfo profile add shop ${values} --app-secret-env PATH`, { env });
    const set = ['profile', 'set', 'shop', '--app-secret-stdin'];
    const done = await machine.onTerminal(set, [['App secret', 'visible-secret']], { env });
    expect([done.status, done.stdout]).toEqual([0, expect.not.stringContaining('visible-secret')]);
    expect(readFileSync(join(env.USERINFO_CONFIG_DIR, 'profiles.json'), 'utf8')).toContain('visible-secret');
  });
});

describe('a name that does not exist', () => {
  it.concurrent.each<[string, string, string | null]>([
    ['passback a=b --env production', 'unknown option "--env"', '--environment'],
    ['passback a=b --prod', 'unknown option "--prod"', '--environment'],
    ['passback a=b --curl', 'unknown option "--curl"', '--print-curl'],
    ['passback a=b --header x', 'unknown option "--header"', '--print-curl'],
    ['passback a=b --dry', 'unknown option "--dry"', '--dry-run'],
    ['passback a=b --unionId u', 'unknown option "--unionId"', '--union-id'],
    ['read --from c.csv --types code:text', 'unknown option "--types"', null],
    ['read c --code x', 'unknown option "--code"', null],
    ['read c --colour', 'unknown option "--colour"', '--color'],
    ['passback --from a.csv --restrat', 'unknown option "--restrat"', null],
    ['passback a=b -q data', 'unknown short option "-q"', '--query'],
    ['passback a=b -v', 'unknown short option "-v"', '--verbose'],
    ['profile rm shop', 'unknown command "rm"', 'delete'],
    ['profile ls', 'unknown command "ls"', 'list'],
    ['profile current', 'unknown command "current"', 'show'],
    ['version', 'unknown command "version"', '--version'],
  ])('%s', async (line, cause, meant) => {
    const { env, sent } = newRow();
    const { status, stdout, stderr } = await typeHere(`userinfo ${line}`, { env });
    expect([status, stdout, sent()]).toEqual([2, '', []]);
    expect(stderr).toContain(cause);
    if (meant === null) expect(stderr).not.toContain('Did you mean');
    else expect(stderr).toContain(`\nDid you mean "${meant}"?\n`);
    expect(stderr).not.toMatch(/--yes|--restart|--allow-http|--take-over|--no-|Put --/);
  });

  it('is a short option: the help lists those that exist', async () => {
    const { stderr } = await runHere(['passback', 'a=b', '-k', 'u001']);
    expect(stderr).toContain(
      'unknown short option "-k"\nThe options are listed by:\n  userinfo passback --help\n',
    );
  });

  it('is a command of a group: its siblings are listed', async () => {
    const { stderr } = await runHere(['profile', 'frobnicate']);
    expect(stderr).toContain(
      'The commands are add, list, show, use, set, rename, delete, export, import, path.\n',
    );
  });
});
