import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deploymentFlags, deploymentVariables, Machine } from '../../support/cli.js';
import { httpServer, writtenBy } from '../../support/raw-server.js';

let platform: Awaited<ReturnType<typeof httpServer>>;
let env: Readonly<Record<string, string>>;
const machine = new Machine();
beforeAll(async () => {
  platform = await httpServer((request, response) => response.end(writtenBy(request)));
  env = deploymentVariables(platform.url);
});
beforeEach(() => void platform.requests.splice(0));
afterAll(async () => {
  await platform.close();
  machine[Symbol.dispose]();
});

const run = (
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; stdin?: string } = {},
) => machine.run(args, { ...options, env: { ...env, ...options.env } });
const onTerminal = (
  args: readonly string[],
  dialogue: readonly (readonly [prompt: string, answer: string | null])[],
  more: Readonly<Record<string, string>> = {},
) => machine.onTerminal(args, dialogue, { env: { NO_COLOR: '1', ...env, ...more } });

const doubtfulRead = ['read', 'abc\u200b', 'moblie'];
const doubtfulPassback = ['passback', 'note="secret text"', '--union-id', '$ID'];

describe.skipIf(process.platform === 'win32')('on a terminal', () => {
  it('a doubtful text is shown, and sent if the answer is yes', async () => {
    const done = await onTerminal(doubtfulRead, [['Send it as it is?', 'y']]);
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('the code, "abc\\u200b", has an invisible character (U+200B)');
    expect(done.stdout).toContain(
      'the name "moblie" is almost "mobile", which has a special meaning',
    );
    expect(platform.requests.length).toBe(1);
  });

  it.each(['n', ''])('nothing is sent if the answer is %j', async (answer) => {
    const done = await onTerminal(doubtfulPassback, [['Send it as it is?', answer]]);
    expect([done.status, platform.requests]).toEqual([2, []]);
    expect(done.stdout).toContain('--union-id, "$ID", stands for a missing value');
    expect(done.stdout).toContain('the value of key "note", "\\"secret␣text\\"", is in quotes');
    expect(done.stdout).toContain('error: not confirmed');
  });

  it('the question about production is asked besides', async () => {
    const done = await onTerminal(
      doubtfulPassback,
      [
        ['Send it as it is?', 'y'],
        ['in production', 'n'],
      ],
      { USERINFO_ENVIRONMENT: 'production' },
    );
    expect([done.status, platform.requests]).toEqual([2, []]);
  });

  it.each(['--yes', '--no-input'])(
    'with %s a line says it, and the request is sent',
    async (option) => {
      const done = await onTerminal([...doubtfulPassback, option], []);
      expect([done.status, platform.requests.length]).toEqual([0, 1]);
      expect(done.stdout).toContain('warning: --union-id stands for a missing value');
    },
  );

  it.each(['--dry-run', '--print-curl'])('%s only says it', async (option) => {
    const done = await onTerminal([...doubtfulPassback, option], []);
    expect([done.status, platform.requests]).toEqual([0, []]);
    expect(done.stdout).toContain('warning: --union-id stands for a missing value');
  });

  it('a file is asked about once', async () => {
    const rows = machine.file('asked.csv', 'union_id,note\nu1,"“a”"\nnull,"“b”"\nu3,c\n');
    const args = ['bulk', 'passback', rows];
    const refused = await onTerminal(args, [['Send the rows as they are?', 'n']]);
    expect([refused.status, platform.requests]).toEqual([2, []]);
    expect(refused.stdout).toContain('"note" is in quotes, in 2 rows, first in line 2');
    expect(refused.stdout).toContain('"union_id" stands for a missing value, in line 3');
    const sent = await onTerminal(args, [['Send the rows as they are?', 'y']]);
    expect([sent.status, platform.requests.length]).toEqual([0, 3]);
  });

  it('a profile with a doubtful value is stored if the answer is yes', async () => {
    const values = deploymentFlags(platform.url).with(-1, '“a1”');
    const add = [
      ...'profile add asked --environment test'.split(' '),
      ...values,
      '--app-secret-env',
      'S',
    ];
    const refused = await onTerminal(add, [['Store it as it is?', 'n']]);
    expect(refused.status).toBe(2);
    expect(refused.stdout).toContain('the app key, "“a1”", is in quotes');
    expect(existsSync(machine.profileFile)).toBe(false);
    expect((await onTerminal(add, [['Store it as it is?', 'y']])).status).toBe(0);
    const set = ['profile', 'set', 'asked', '--channel', 'null'];
    expect((await onTerminal(set, [['Store it as it is?', 'n']])).status).toBe(2);
    const { asked } = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles;
    expect(asked).toMatchObject({ app_key: '“a1”', channel: 'web' });
    // It was asked about when it was stored.
    const read = await machine.onTerminal(['read', 'c1', '-p', 'asked'], [], { env: { S: 's' } });
    expect(read).toMatchObject({ status: 0, stdout: expect.not.stringContaining('quotes') });
  });
});

describe('without a terminal', () => {
  it('a line says what is doubtful, without the text, which may be personal data', async () => {
    const { status, stderr } = await run(doubtfulPassback);
    expect([status, platform.requests.length]).toEqual([0, 1]);
    expect(stderr).toBe(
      'warning: --union-id stands for a missing value\nwarning: the value of key "note" is in quotes\n',
    );
  });

  it('the rows of a file are counted by column, and sent', async () => {
    const rows = machine.file(
      'counted.csv',
      'union_id,moblie,note\nu1,1, a\n"""u2""",2,1.38E+10\nu3,3,b \n',
    );
    const { status, stderr } = await run(['bulk', 'passback', rows]);
    expect([status, platform.requests.length]).toEqual([0, 3]);
    expect(stderr.split('\n').filter((line) => line.startsWith('warning'))).toEqual([
      'warning: the key "moblie" is almost "mobile", which has a special meaning',
      'warning: "note" has white space around it, in 2 rows, first in line 2',
      'warning: "union_id" is in quotes, in line 3',
      'warning: "note" is a number that a spreadsheet shortened, in line 3',
    ]);
  });

  it.each([
    ['a stream', ['-']],
    ['a file whose rows are not checked', ['unchecked.csv', '--no-preflight', '--restart']],
  ])('the rows of %s are counted at the end', async (_, from) => {
    const rows = 'union_id,a\nunion_id,a\nu1,"""b"""\n';
    machine.file('unchecked.csv', rows);
    const { status, stderr } = await run(['bulk', 'passback', ...from], { stdin: rows });
    expect([status, platform.requests.length]).toEqual([0, 2]);
    expect(stderr).toContain(
      'warning: "union_id" is the name of information or of a column, in line 2\n',
    );
    expect(stderr).toContain('warning: "a" is in quotes, in line 3\n');
  });

  it('the outcomes of a run are sent as rows of another, and said to be', async () => {
    const rows = machine.file(
      'r.ndjson',
      '{"line":2,"union_id":"u1","outcome":"failed","error":"x"}\n',
    );
    const { status, stderr } = await run(['bulk', 'passback', rows]);
    expect([status, platform.requests.length]).toEqual([0, 1]);
    expect(stderr).toContain('warning: the rows are the outcomes of another run\n');
  });

  it('columns that --types names are meant as they are', async () => {
    const rows = machine.file('typed.csv', 'union_id,moblie\n"""u1""","""2"""\n');
    const { stderr } = await run([
      'bulk',
      'passback',
      rows,
      '--types',
      'union_id:text,moblie:text',
    ]);
    expect([platform.requests.length, stderr]).toEqual([1, expect.not.stringContaining('warning')]);
  });

  it('a preview of a file only says it', async () => {
    const rows = machine.file('preview.csv', 'union_id,a\n"""u1""",b\n');
    const { status, stderr } = await run(['bulk', 'passback', rows, '--dry-run']);
    expect([status, platform.requests]).toEqual([0, []]);
    expect(stderr).toContain('warning: "union_id" is in quotes, in line 2\n');
  });
});

describe('a number that a spreadsheet shortened, in a column that names users,', () => {
  it.each<[string, string, readonly string[], string]>([
    ['CSV', 'union_id,a\nu1,b\n1.38E+10,b\n', [], 'union_id'],
    ['NDJSON', '{"union_id":"u1","a":"b"}\n{"union_id":1.38E+10,"a":"b"}\n', [], 'union_id'],
    [
      'CSV',
      'id,no,a\nu1,1,b\nu2,1.38E+10,b\n',
      ['--union-id-column', 'id', '--primary-key', 'no'],
      'no',
    ],
  ])(
    'stops the run before the first row, and --types sends it: %s %j %j',
    async (format, rows, options, column) => {
      const file = machine.file(`short.${format.toLowerCase()}`, rows);
      const args = ['bulk', 'passback', file, ...options, '--restart'];
      const stopped = await run(args);
      expect([stopped.status, platform.requests]).toEqual([2, []]);
      expect(stopped.stderr).toMatch(
        new RegExp(`^line [23]: "${column}" is a number that a spreadsheet shortened\n`),
      );
      expect(stopped.stderr).toContain(`--types ${column}:text\n`);
      const sent = await run([...args, '--types', `${column}:text`]);
      expect([sent.status, platform.requests.length]).toEqual([0, 2]);
      expect(decodeURIComponent(platform.requests[1]?.body ?? '')).toContain('1.38E+10');
    },
  );

  it('is one row of a stream that is not sent', async () => {
    const { status } = await run(['bulk', 'passback', '-'], {
      stdin: 'union_id,a\n1.38E+10,b\nu2,b\n',
    });
    expect([status, platform.requests.length]).toEqual([6, 1]);
  });
});

describe('white space around a code, an ID or a setting is cut off, and said', () => {
  it.each([
    ['the code', ['read', ' c1\t'], /[?&]code=c1&/],
    ['--scope', ['read', 'c1', '--scope', ' s'], /[?&]scope=s&/],
    ['--channel', ['read', 'c1', '--channel', 'web '], /[?&]channel=web&/],
    ['--tenant-code', ['read', 'c1', '--tenant-code', '\u00a0acme'], /[?&]tenant_code=acme&/],
    ['--app-key', ['read', 'c1', '--app-key=k1\n'], /[?&]app_key=k1&/],
    ['--union-id', ['passback', 'a=b', '--union-id', ' u1'], /union_id=u1&/],
  ])('%s', async (what, args, sent) => {
    const { status, stderr } = await run(args);
    expect([status, stderr]).toEqual([0, `${what} has white space around it, which is cut off\n`]);
    expect(platform.requests.map(({ query, body }) => `?${query}&${body}`)).toEqual([
      expect.stringMatching(sent),
    ]);
  });

  it('of an option that has nothing else, the option is missing', async () => {
    const { status, stderr } = await run(['passback', 'a=b', '--union-id', '  ']);
    expect([status, platform.requests]).toEqual([2, []]);
    expect(stderr).toContain('--union-id is white space alone\nNothing was sent.');
  });

  it('but not around a value, nor around that of the primary key', async () => {
    const { status, stderr } = await run(['passback', 'no= 7 ', 'a= b', '--primary-key', 'no']);
    expect([status, stderr.split('\n')]).toEqual([
      0,
      [
        'warning: the value of key "no" has white space around it',
        'warning: the value of key "a" has white space around it',
        '',
      ],
    ]);
    expect(platform.requests.map(({ body }) => new URLSearchParams(body).get('user_info'))).toEqual(
      ['{"no":" 7 ","a":" b"}'],
    );
  });
});

describe('the names of the platform', () => {
  const platformFile = () => machine.file('wx.json', { chat_prefix: 'wx_' });
  const says =
    'warning: the name "wx_nicknam" is almost "wx_nickname", which has a special meaning\n';
  beforeAll(async () => {
    for (const name of ['wx', 'other']) {
      const values = [
        '--environment',
        'test',
        ...deploymentFlags(platform.url),
        '--app-secret-env',
        'S',
      ];
      const own = name === 'wx' ? ['--platform', platformFile()] : [];
      await machine.run(['profile', 'add', name, ...values, ...own]);
    }
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['-p', ['-p', 'wx'], {}, 'other'],
    ['USERINFO_PROFILE', [], { USERINFO_PROFILE: 'wx' }, 'other'],
    ['--platform', ['-p', 'other', '--platform', 'wx.json'], {}, 'other'],
  ])('are those of the profile, by way of %s', async (_, flags, more, active) => {
    await machine.run(['profile', 'use', active]);
    const read = ['read', 'c1', 'wx_nicknam', ...flags];
    const { status, stderr } = await machine.run(read, { env: { S: 's', ...more } });
    expect([status, stderr]).toEqual([0, expect.stringContaining(says)]);
    const inQuery = [...read.with(2, 'wx_avatar'), '--query', 'data.wx_nicknam'];
    const { stderr: query } = await machine.run(inQuery, { env: { S: 's', ...more } });
    expect(query).toContain('the name in --query "wx_nicknam" is almost');
    if (flags.includes('--platform')) return;
    const help = await machine.run(['read', '--help', ...flags], { env: more });
    expect(help.stdout).toContain('wx_nickname');
  });
});
