import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentVariables, Machine } from '../../support/cli.js';
import { httpServer } from '../../support/raw-server.js';

/**
 * A platform that accepts all that it is sent, unless the first part of its path has an answer of
 * its own.
 */
let platform: Awaited<ReturnType<typeof httpServer>>;
const answers: Record<string, string> = {};
const machine = new Machine();
beforeAll(async () => {
  platform = await httpServer(({ path }, response) => {
    const [, row = ''] = path.split('/');
    response.end(
      answers[row] ?? '{"code":200,"msg":"ok","data":{"union_id":"u001","mobile":"138"}}',
    );
  });
});
afterAll(async () => {
  await platform.close();
  machine[Symbol.dispose]();
});

let rows = 0;
/**
 * A test's own part of the platform, the folder of its files, and the environment that names them.
 */
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
    typed: file(' union_id | a \\n----------+---\\n u001     | b\\n'),
    cause: 'line 1: this is a table for people to read, not CSV',
    next: 'Export it as CSV, as psql --csv does.',
  },
  {
    typed: `userinfo passback acme_level=$unset ${to}`,
    cause: 'the value of key "acme_level" is empty: is the variable set?',
    next: `Write 'acme_level:=""' to store an empty text, acme_level:=null to remove the key.`,
    paste: { line: `userinfo passback 'acme_level:=""' ${to}`, sends: '{"acme_level":""}' },
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
    typed: 'userinfo passback b.csv',
    cause: '"b.csv" is a file, not a pair',
    next: 'Nothing was sent. For each of its rows:\n  userinfo bulk passback b.csv',
  },
  {
    typed: `userinfo passback acme_level=gold union_id=u001 ${to}`,
    cause: 'user_info key "union_id" is reserved and cannot be passed back',
    next: 'The user is named by --union-id, the channel is that of the profile.\n',
    paste: { line: `userinfo passback acme_level=gold ${to}`, sends: '{"acme_level":"gold"}' },
  },
  {
    typed: `userinfo passback a = b ${to}`,
    cause: '"a" is not a pair such as key=text',
    next: 'Write key=text, key:=json',
    paste: { line: `userinfo passback a=b ${to}`, sends: '{"a":"b"}' },
  },
  {
    typed: `userinfo passback name=Zhang San ${to}`,
    cause: '"San" is not a pair such as key=text',
    next: 'Quote a text with spaces.',
    paste: { line: `userinfo passback 'name=two words' ${to}`, sends: '{"name":"two words"}' },
  },
  {
    typed: `userinfo passback 'a:=True' ${to}`,
    cause: 'the value of key "a" is not a JSON value',
    next: 'for plain text write a=text',
    paste: { line: `userinfo passback a=text ${to}`, sends: '{"a":"text"}' },
  },
  {
    typed: `userinfo passback tag=@me ${to}`,
    cause: 'the file "me" of key "tag" cannot be read',
    next: 'write key=\\@text',
    paste: { line: `userinfo passback 'tag=\\@me' ${to}`, sends: '{"tag":"@me"}' },
  },
  { typed: 'userinfo passback a=b', cause: 'no user is named', next: 'Add --union-id <id>' },
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
  { typed: 'userinfo read "$unset"', cause: 'the code is empty', next: 'the variable is not set' },
  {
    typed: 'userinfo read c1 --query .data',
    cause: '--query is not a JMESPath expression',
    next: "--query 'data.mobile'",
    paste: {},
  },
  {
    typed: 'userinfo read c1 -o jsn',
    cause: "argument 'jsn' is invalid",
    next: 'Add --help for usage.',
  },
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
    typed: 'userinfo read c1 -p nope',
    status: 3,
    cause: 'there is no profile "nope"',
    next: 'There are no profiles yet. Add one:\n  userinfo profile add shop\n',
  },
  {
    typed: file('用户ID,a\\nu001,b\\n'),
    cause: 'no column is named "union_id"; found "用户ID", "a"',
    next: 'Nothing was sent. If that is the column, name it:\n  userinfo bulk passback',
    paste: { sends: '{"a":"b"}' },
  },
  {
    typed: file('u001,gold\\nu002,silver\\n'),
    cause: 'no column is named "union_id"; found "u001", "gold"',
    next: 'The first line has to name the columns.',
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
    typed: 'userinfo serve -p 9999 --database /none/x.db',
    cause: '"userinfo serve" has no use for -p',
    next: 'Leave it out.\n',
  },
  {
    typed: 'userinfo profile set base_url=http://h.example -p demo',
    cause: '"userinfo profile set" has no use for -p',
    next: 'The profile is an argument: userinfo profile set NAME\n',
  },
  {
    typed: 'userinfo profile set demo base_url=http://h.example',
    cause: "too many arguments for 'set'",
    next: 'Add --help for usage.',
  },
  {
    typed: 'userinfo passback a=b —-union-id u001',
    cause: '"—-union-id" begins with a dash that is not a hyphen',
    next: 'Did you mean "--union-id"?',
    paste: { line: `userinfo passback a=b ${to}`, sends: '{"a":"b"}' },
  },
  {
    typed: file('{\n  "union_id": "u001",\n  "a": "b"\n}\n', 'a.ndjson'),
    cause: 'cannot be sent',
    next: 'Correct them.\n',
  },
  {
    typed: 'userinfo passback a=b --union-id --primary-key mobile',
    cause: 'the option "--union-id <',
    next: 'Add --help for usage.',
  },
  {
    typed: 'userinfo read c1 -p demo --profile=two',
    cause: ' is given twice',
    next: 'Remove one of the two.',
  },
  {
    typed: 'userinfo login',
    cause: 'unknown command "',
    next: 'Did you mean:\n  userinfo profile add shop\n',
  },
  {
    typed: 'userinfo profile ls',
    cause: 'unknown command "',
    next: 'Did you mean:\n  userinfo profile list\n',
  },
  {
    typed: 'userinfo --profile=nope profile list --mask',
    cause: '"userinfo profile list" has no use for --profile',
    next: 'Leave it out.\n',
  },
  ...['--code c1', 'c1 --names mobile'].map((words) => ({
    typed: `userinfo read ${words}`,
    cause: 'unknown option "--',
    next: 'It is an argument: userinfo read',
  })),
  {
    typed: 'userinfo --timeot 5s read abc',
    cause: 'unknown option "--timeot"',
    next: 'Did you mean --timeout?',
  },
  {
    typed: 'userinfo --verbose 5s read',
    cause: 'unknown command "5s"',
    next: 'The commands are read, ',
  },
  {
    typed: 'userinfo serve --fault constructor=1 --port x',
    cause: "option '--fault <list>' argument 'constructor=1' is invalid",
    next: 'The faults are latency=200ms..2s',
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
      expect(sent()).toEqual(
        sends === undefined ? [] : [expect.stringContaining(`user_info=${sends}`)],
      );
    }
    if (paste !== undefined) return;
    for (const line of commandsIn(stderr)) {
      const after = await shell(line);
      // Whatever a printed command needs, it is not what was typed.
      expect([line, after.stderr]).not.toEqual([line, stderr]);
    }
  });
});

interface Noticed {
  readonly typed: string;
  readonly says: string;
  readonly sends: string;
}

const noticed: readonly Noticed[] = [
  {
    typed: `printf '{"a":"b"}' > $d/a.json; userinfo passback --user-info @$d/a.json ${to}`,
    says: '',
    sends: '{"a":"b"}',
  },
  {
    typed: file('union_id,a,,\\nu001,b,,\\n'),
    says: 'line 1: the last 2 columns have no name: their empty cells are skipped\n',
    sends: '{"a":"b"}',
  },
  {
    typed: file('sep=;\\r\\nunion_id;a\\r\\nu001;b\\r\\n'),
    says: 'line 1 sets the delimiter, as Excel reads it: ;\n',
    sends: '{"a":"b"}',
  },
  {
    typed: file('SEP=\\t,\\nunion_id\\ta\\nu001\\tb,c\\n'),
    says: 'line 1 sets the delimiter, as Excel reads it: a tab\n',
    sends: '{"a":"b,c"}',
  },
  {
    typed: file('union_id,a,b\\r\\nu001,x,\\r\\n,,\\r\\n"",,""\\r\\n\\r\\n'),
    says: '2 rows without a value were skipped\n',
    sends: '{"a":"x"}',
  },
  {
    typed: `${file('sep=,\\r\\nunion_id;a\\r\\nu001;b\\r\\n')} --delimiter ';'`,
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
    const { status } = await machine.shell(
      `cd '${folder}'; userinfo bulk passback a.csv --failed f.csv`,
      { env },
    );
    expect(status).toBe(6);
    expect(existsSync(join(folder, 'f.csv'))).toBe(true);
    expect(readFileSync(join(folder, 'f.csv'), 'utf8')).toBe(
      'userinfo_reason,union_id,a,,\n40401 no such user,u001,b,,\n',
    );
  });
});

describe('--query', () => {
  it.each<[string, string, number, RegExp]>([
    [
      'data.nothing',
      'null\n',
      1,
      /^error: --query selects nothing\nWithout it, all is printed.\n$/,
    ],
    ['data.mobile', '138\n', 0, /^$/],
  ])('fails if it selects nothing: %s', async (query, printed, exit, says) => {
    const { env } = newRow();
    const { status, stdout, stderr } = await machine.run(
      ['read', 'c1', 'mobile', '--query', query],
      { env },
    );
    expect([status, stdout]).toEqual([exit, printed]);
    expect(stderr).toMatch(says);
  });

  it('prints nothing of a refusal', async () => {
    const { env, name } = newRow();
    answers[name] = '{"code":40106,"msg":"code is used","data":{}}';
    const { status, stdout, stderr } = await machine.run(
      ['read', 'c1', 'mobile', '--query', 'data.mobile'],
      { env },
    );
    expect([status, stdout]).toEqual([4, '']);
    expect(stderr).toContain('40106 "code is used"');
    expect(stderr).not.toContain('selects nothing');
  });
});

const values =
  '--environment test --base-url https://h.example --tenant-code t --channel c --app-key k7f3c9';

describe('what a profile would store', () => {
  const rest = (option: string, all = values) => all.replace(new RegExp(`${option} \\S+`), '');
  it.each([
    ['--tenant-code', '  ', 'is white space alone'],
    ['--channel', '', 'is empty'],
    [
      '--header',
      'X-Trace=command:',
      'X-Trace is neither a value nor the name of a variable or a command',
    ],
    [
      '--header',
      'X-Trace=env:a b',
      'X-Trace is neither a value nor the name of a variable or a command',
    ],
    [
      '--header',
      'X-Trace=command,expires=0:t',
      'X-Trace: expires must be a number of seconds from 1 to ',
    ],
  ])('is refused: %s %j', async (option, text, says) => {
    const { env } = newRow();
    const args = [...rest(option).trim().split(/ +/), option, text, '--app-secret-env', 'S'];
    const done = await machine.run(['profile', 'add', 'x', ...args], { env });
    expect(done).toMatchObject({ status: 2, stderr: expect.stringContaining(says) });
    expect(existsSync(join(env.USERINFO_CONFIG_DIR, 'profiles.json'))).toBe(false);
  });

  it.each([
    ['--header', 'Authorization=Bearer abc', 'Authorization=env:AUTHORIZATION'],
    ['--header', 'Authorization: Bearer abc', 'Authorization=env:AUTHORIZATION'],
    ['--header', 'X-Gateway=9f86d081884c7d659a2feaa0c55ad015', 'X-Gateway=env:X_GATEWAY'],
  ])('is no secret, and the hint says how to do without: %s %j', async (option, text, instead) => {
    const { env } = newRow();
    const add = [
      'profile',
      'add',
      'x',
      ...values.split(' '),
      '--app-secret-env',
      'S',
      option,
      'X-A=b',
    ];
    const { status, stderr } = await machine.run([...add, option, text], { env });
    expect(stderr).toContain('does not store a secret in plain text');
    expect(status).toBe(2);
    expect(stderr).toContain(`such as --header ${instead},`);
    expect((await machine.run([...add, option, instead], { env })).status).toBe(0);
  });

  it.each(['sk_live_51Habc', 'a1b2c3d4e5f6', 'ABCDEF0123456789'])(
    'is no secret as a name: %s',
    async (text) => {
      const { env } = newRow();
      const add = ['profile', 'add', 'x', ...values.split(' '), '--app-secret-env', text];
      const { status, stdout, stderr } = await machine.run(add, { env });
      expect(stderr).toContain('not the name of a variable that is set');
      expect(status).toBe(2);
      expect(stdout + stderr).not.toContain(text);
      expect((await machine.run(add, { env: { ...env, [text]: 's' } })).status).toBe(0);
    },
  );
});

describe('a secret', () => {
  it.each<[string, string, readonly string[]]>([
    ['white space around it', ' abc', ['warning: the app secret has white space around it']],
    ['what may be a name', 'shop=abc', []],
    ['the app key', 'k7f3c9', ['warning: the app secret is the app key']],
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
  ])(
    'that is not there is reported, by doctor alone if a command prints it: $source',
    async (row) => {
      const { env: all } = newRow();
      const env = { USERINFO_CONFIG_DIR: all.USERINFO_CONFIG_DIR };
      const { source, warns, cause, shown } = row;
      const says = warns ? expect.stringContaining(cause) : expect.not.stringContaining('warning');
      const added = await machine.type(`userinfo profile add shop ${values} ${source}`, { env });
      expect([added.status, added.stderr]).toEqual([0, says]);
      const set = await machine.type(`userinfo profile set shop ${source}`, { env });
      expect([set.status, set.stderr]).toEqual([0, says]);
      expect((await machine.type('userinfo profile show', { env })).stdout).toContain(shown);
      expect((await machine.type('userinfo doctor', { env })).stdout).toContain(
        cause.replace(/^NOSUCH/, ''),
      );
    },
  );

  it.runIf(process.platform !== 'win32')(
    'is not echoed by --app-secret-stdin on a terminal',
    async () => {
      const { env } = newRow();
      await machine.type(`userinfo profile add shop ${values} --app-secret-env PATH`, { env });
      const set = ['profile', 'set', 'shop', '--app-secret-stdin'];
      const done = await machine.onTerminal(set, [['App secret', 'visible-secret']], { env });
      expect([done.status, done.stdout]).toEqual([
        0,
        expect.not.stringContaining('visible-secret'),
      ]);
      expect(readFileSync(join(env.USERINFO_CONFIG_DIR, 'profiles.json'), 'utf8')).toContain(
        'visible-secret',
      );
      // Nor is it asked for where no prompt can hide it.
      const shown = await machine.inBash([
        `userinfo profile add p ${values} --app-secret-stdin --no-input | cat`,
      ]);
      expect(shown.stdout).toContain(
        'standard input is a terminal, which would show the app secret',
      );
    },
  );
});

it('a variable that nothing reads, but is near one of a target, is warned of', async () => {
  const { env, sent } = newRow();
  const more = { env: { ...env, USERINFO_ENV: 'production' } };
  const { status, stderr } = await machine.run(['passback', 'a=b', '--union-id', 'u001'], more);
  expect([status, sent().length]).toEqual([0, 1]);
  expect(stderr).toContain(
    'nothing reads the variable USERINFO_ENV: did you mean USERINFO_ENVIRONMENT?',
  );
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
  expect(open.stderr).toContain('(mode 0644)\nRestrict it:\n');
  expect(open.status).toBe(0);
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

it.each(['ALL_PROXY', 'all_proxy'])(
  'a proxy in %s is not read, and named where the host is not reached',
  async (name) => {
    const { env } = newRow();
    const more = {
      ...env,
      USERINFO_BASE_URL: 'http://127.0.0.1:9',
      [name]: 'socks5://127.0.0.1:1',
    };
    const { status, stderr } = await machine.run(['read', 'c1', '--attempts', '1'], { env: more });
    expect([status, stderr]).toEqual([5, expect.stringContaining(`${name} is not read.`)]);
  },
);

it('a variable of an option that has none is warned of', async () => {
  const { env } = newRow();
  const done = await machine.run(['read', 'c1'], { env: { ...env, USERINFO_TIMEOUT: 'abc' } });
  const says = 'warning: nothing reads the variable USERINFO_TIMEOUT: the option is --timeout\n';
  expect(done).toMatchObject({ status: 0, stderr: says });
});

it.runIf(process.platform !== 'win32')(
  'USERINFO_MASK masks what a terminal shows, and no pipe',
  async () => {
    const { env: all } = newRow();
    const env = { ...all, USERINFO_MASK: '1' };
    expect((await machine.run(['read', 'c1'], { env, shows: true })).stdout).toMatch(
      /mobile +│ \*{4}/,
    );
    expect((await machine.run(['read', 'c1'], { env })).stdout).toMatch(/mobile +│ 138/);
    const { status, stderr } = await machine.run(['read', 'c1'], {
      env: { ...env, USERINFO_MASK: 'sometimes' },
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('Write 1 or 0')]);
  },
);

describe('a name that does not exist', () => {
  it.each<[string, string, string]>([
    ['raed c1', 'unknown command "raed"', 'read'],
    ['passback a=b --union_id=u', 'unknown option "--union_id"', '--union-id'],
    ['passback a=b -q data', 'unknown option "-q"', '--query'],
    ['read c --endpoint-url https://h.example', 'unknown option "--endpoint-url"', '--base-url'],
  ])('%s', async (line, cause, meant) => {
    const { env, sent } = newRow();
    const { status, stdout, stderr } = await machine.type(`userinfo ${line}`, { env });
    expect([status, stdout, sent()]).toEqual([2, '', []]);
    expect(stderr).toContain(cause);
    expect(stderr).toContain(`\nDid you mean ${meant}?\n`);
    const [, wrong = ''] = /"(.+)"/.exec(cause) ?? [];
    const corrected = await machine.type(`userinfo ${line.replace(wrong, meant)}`, { env });
    expect(corrected.stderr).not.toMatch(/unknown (?:option|command)/);
  });

  it.each(['--app-secert=s3cret', '--tokn=s3cret'])(
    'is shown without its value: %s',
    async (option) => {
      const { stderr } = await machine.run(['passback', 'a=b', option]);
      expect(stderr).toContain(`unknown option "${option.split('=')[0]}"`);
      expect(stderr).not.toContain('s3cret');
    },
  );

  it('is a short option: the help lists those that exist', async () => {
    const { stderr } = await machine.run(['passback', 'a=b', '-z', 'u001']);
    expect(stderr).toContain('The options are listed by:\n  userinfo passback --help\n');
  });

  it('is a command of a group: its siblings are listed', async () => {
    const { stderr } = await machine.run(['profile', 'frobnicate']);
    expect(stderr).toContain('The commands are add, list, ');
  });
});
