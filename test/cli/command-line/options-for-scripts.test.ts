import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OutputFormat, outputFormats } from '../../../src/cli/command-line/options.js';
import { ServedMachine } from '../../support/served.js';

let machine: ServedMachine;
let code: string;

beforeAll(async () => {
  machine = await ServedMachine.create();
  await machine.run(['passback', 'acme_level=gold', "quote=it's $HOME", '--union-id', 'u001']);
  code = await machine.issueCode('--uses', 'unlimited');
});

afterAll(() => machine[Symbol.asyncDispose]());

describe('read -o', () => {
  const json = '{"code":200,"msg":"ok","data":{"union_id":"u001","mobile":"13800138000"}}\n';
  const inFormat: Readonly<Record<OutputFormat, string>> = {
    table:
      '200 ok\ndata\n┌──────────┬─────────────┐\n│ union_id │ u001        │\n' +
      '│ mobile   │ 13800138000 │\n└──────────┴─────────────┘\n',
    json,
    ndjson: json,
    yaml: 'code: 200\nmsg: ok\ndata:\n  union_id: u001\n  mobile: "13800138000"\n',
    csv: 'union_id,mobile\nu001,13800138000\n',
  };

  it.each(outputFormats)('%s prints what was read', async (format) => {
    const done = await machine.run(['read', code, 'mobile', '-o', format]);
    expect(done).toMatchObject({ status: 0, stdout: inFormat[format], stderr: '' });
  });

  it.each(outputFormats)('%s prints a preview, too', async (format) => {
    const done = await machine.run(['read', code, '--dry-run', '-o', format, '--query', 'method']);
    const inQuotes = /^"?GET"?\n$/;
    expect(done).toMatchObject({ status: 0, stdout: expect.stringMatching(inQuotes) });
  });

  it('csv prints nothing of a refusal', async () => {
    const done = await machine.run(['read', 'nobody', '-o', 'csv']);
    expect(done).toMatchObject({ status: 4, stdout: '', stderr: expect.stringContaining('40106') });
  });
});

describe('--query', () => {
  it.each([
    [['--query', 'data.mobile'], '13800138000\n'],
    [['--query', 'data.mobile', '--json'], '"13800138000"\n'],
    [['--query', '[code, data.mobile]', '-o', 'csv'], '200\n13800138000\n'],
    [
      ['--query', '{id: data.union_id, level: data.level}', '-o', 'yaml'],
      'id: u001\nlevel: null\n',
    ],
    [['--query', 'data.*'], '┌─────────────┐\n│ u001        │\n│ 13800138000 │\n└─────────────┘\n'],
  ])('%j prints what it selects', async (args, stdout) => {
    const done = await machine.run(['read', code, 'mobile', ...args]);
    expect(done).toMatchObject({ status: 0, stdout, stderr: '' });
  });

  it('prints the answer if the query does not fit it', async () => {
    const done = await machine.run(['read', code, '--json', '--query', 'length(code)']);
    expect(done.stderr).toContain('All data was printed');
    expect(done.status).toBe(2);
    expect(JSON.parse(done.stdout).data.union_id).toBe('u001');
    expect((await machine.run(['help', 'output'])).stdout).toContain('ends with status 2, after');
  });

  it('works for admin and profile, too', async () => {
    const database = ['--database', machine.database];
    const users = ['admin', 'user', 'list', '--tenant-code', 'acme', ...database];
    expect((await machine.run([...users, '--query', '[].union_id', '--json'])).stdout).toBe(
      '["u001"]\n',
    );
    expect((await machine.run([...users, '-o', 'csv', '--query', '[].[union_id]'])).stdout).toBe(
      'u001\n',
    );
    expect((await machine.run(['profile', 'list', '--query', '[?active].name | [0]'])).stdout).toBe(
      'local\n',
    );
    const shown = await machine.run([
      ...'profile show -o csv --query'.split(' '),
      '{app: app_key.value}',
    ]);
    expect(shown.stdout).toMatch(/^app\napp_\w+\n$/);
  });
});

describe('read -', () => {
  it.each([
    ['without a line break', ''],
    ['with one', '\n'],
    ['with one of Windows', '\r\n'],
  ])('takes the code from standard input, %s at its end', async (_, end) => {
    const done = await machine.run(['read', '-', 'mobile', '--query', 'data.mobile'], {
      stdin: code + end,
    });
    expect(done).toMatchObject({ status: 0, stdout: '13800138000\n' });
  });

  it('sends nothing if the input is empty', async () => {
    const done = await machine.run(['read', '-'], { stdin: '\n' });
    expect(done.stderr).toContain('standard input contains no code\n');
    expect(done.status).toBe(2);
  });
});

describe('--dry-run', () => {
  it('shows what would be sent, masked, and sends nothing', async () => {
    const logged = machine.log;
    const args = 'passback mobile=13912345678 acme_level=silver --union-id u001 --dry-run'.split(
      ' ',
    );
    const done = await machine.run([...args, '--json']);
    expect(done).toMatchObject({ status: 0, stderr: expect.stringContaining('--reveal') });
    expect(JSON.parse(done.stdout)).toMatchObject({
      method: 'PUT',
      url: `${machine.url}/api/v1/server/user/passback_user_info`,
      query: { tenant_code: 'acme', channel: 'web', sign: expect.stringMatching(/^[0-9a-f]{8}…$/) },
      form: { union_id: 'u001', user_info: '{"mobile":"139****5678","acme_level":"****"}' },
    });
    const revealed = await machine.run([...args, '--json', '--reveal']);
    expect(revealed.stderr).toBe('');
    expect(JSON.parse(revealed.stdout)).toMatchObject({
      query: { sign: expect.stringMatching(/^[0-9a-f]{32}$/) },
      form: { user_info: '{"mobile":"13912345678","acme_level":"silver"}' },
    });
    expect((await machine.run([...args])).stdout).toMatch(/│ user_info │ {"mobile":"139\*{4}5678"/);
    expect(machine.log).toBe(logged);
  });

  it('refuses a request that breaks a rule', async () => {
    const done = await machine.run(['passback', 'channel=x', '--union-id', 'u001', '--dry-run']);
    expect(done).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('cannot be passed back'),
    });
  });
});

describe('--print-curl', () => {
  it('prints a command that curl can run once', async () => {
    const printed = await machine.run(['read', code, 'mobile', '--print-curl', '--reveal']);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    const ran = await machine.shell(printed.stdout);
    expect(JSON.parse(ran.stdout).data).toEqual({ union_id: 'u001', mobile: '13800138000' });
    expect(JSON.parse((await machine.shell(printed.stdout)).stdout).code).toBe(40105);
  });

  it('masks the values by default, with a notice', async () => {
    const { stdout, stderr } = await machine.run(['read', code, '--print-curl']);
    expect(stdout).toContain(`code=${code.slice(0, 3)}****${code.slice(-4)}&`);
    expect(stderr).toContain('--reveal');
    expect(stdout).not.toMatch(/[0-9a-f]{32}/);
  });

  it('writes all values exactly', { timeout: 60_000 }, async () => {
    const value = fc
      .array(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom("'", '"', '\\', '$(id)', '`', '@', '\n', '%', '张三'),
        ),
      )
      .map((parts) => parts.join('').replaceAll('\0', '').toWellFormed());
    const key = fc.stringMatching(/^t_[\p{L}\w '"&=+]{0,8}$/u);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { minKeys: 6, maxKeys: 12 }), async (pairs) => {
        const json = JSON.stringify(pairs);
        const args = 'passback --user-info - --union-id u001 --print-curl --reveal'.split(' ');
        const printed = await machine.run(args, { stdin: json });
        const ran = await machine.shell(printed.stdout);
        expect(JSON.parse(ran.stdout)).toMatchObject({ code: 200 });
        expect((await machine.record()).extension_info).toMatchObject(pairs);
      }),
      { numRuns: 2 },
    );
  });
});

const excluded: readonly (readonly [line: string, options: readonly string[]])[] = [
  ['bulk passback a.csv', ['--resume --restart']],
  ['bulk passback -', ['--resume', '--restart']],
  ['read c', ['--dry-run --print-curl', '--json -o yaml']],
  ['profile add x --from f', ['--signing-preset default', '--signing-module m.mjs']],
  ['profile set x --signing-module m.mjs', ['--signing-preset default']],
  ['profile set x --app-secret-stdin', ['--app-secret-env A', '--app-secret-command c']],
  ['profile set x --app-secret-env A', ['--app-secret-command c']],
];
const lines = excluded.flatMap(([line, options]) => options.map((more) => `${line} ${more}`));
it.each(lines)('options that exclude each other are refused: %s', async (line) => {
  const { status, stderr } = await machine.run(line.split(' '));
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/ cannot be used with | a stream cannot/),
  ]);
});
