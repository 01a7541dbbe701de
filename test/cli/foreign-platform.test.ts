import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { deploymentVariables, Machine } from '../support/cli.js';
import { foreignPlatform } from '../support/foreign-platform.js';

const machine = new Machine();
let platform: Awaited<ReturnType<typeof foreignPlatform>>;

beforeAll(async () => {
  platform = await foreignPlatform();
});
beforeEach(() => platform.requests.splice(0));
afterAll(async () => {
  machine[Symbol.dispose]();
  await platform.close();
});

const run = (...args: string[]) => machine.run(args, { env: deploymentVariables(platform.url) });

describe('a success with other types than those of §4.1', () => {
  it('is printed as it came, with a warning for each, and ends with status 0', async () => {
    const done = await run('read', 'empty', '--json');
    expect(done).toMatchObject({
      status: 0,
      stdout:
        '{"code":200,"msg":"ok","data":{"union_id":"u1","basic_info":[],"extension_info":[],"login_device_info":[]}}\n',
      stderr:
        'warning: "basic_info" is an array, not an object\nwarning: "extension_info" is an array, not an object\n',
    });
    const named = await run('read', 'named', 'mobile,level,name');
    expect(named.stderr).toBe(
      'warning: "mobile" is null, not text\nwarning: "level" is a number, not text\n',
    );
    expect(named).toMatchObject({ status: 0, stdout: expect.stringMatching(/│ level +│ 3/) });
  });

  it('is the outcome ok of a row; the summary counts each difference once', async () => {
    const rows = join(machine.folder, 'codes.csv');
    const codes = [...Array<string>(40).fill('empty'), 'nulls', 'digits', 'letters'];
    writeFileSync(rows, `code\n${codes.join('\n')}\n`);
    const done = await run('bulk', 'read', rows, '--json');
    expect(done.status).toBe(6);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ok: 41,
      failed: 1,
      unknown: 1,
      warnings: {
        '"basic_info" is an array, not an object': 40,
        '"extension_info" is an array, not an object': 40,
        '"login_device_info" is null, not an array': 1,
      },
    });
    expect(platform.requests).toHaveLength(codes.length);
    const results = readFileSync(`${rows}.results.ndjson`, 'utf8').trim().split('\n');
    expect(results.filter((line) => line.includes('"extension_info":[]'))).toHaveLength(40);
    expect(results.find((line) => line.includes('"failed"'))).toContain(
      '"code":40106,"msg":"code expired"',
    );
    const unknown = JSON.parse(results.find((line) => line.includes('"unknown"')) ?? '');
    expect(unknown).toMatchObject({ body: expect.stringContaining('"SIGN_INVALID"') });
    // By it the operator finds the request: each line has that of its row.
    const sent = new Map(
      platform.requests.map(({ parameters }) => [parameters.get('random'), parameters.get('code')]),
    );
    const named = results.map((line) => JSON.parse(line) as { line: number; request_id: string });
    expect(named.map(({ request_id }) => sent.get(request_id))).toEqual(
      named.map(({ line }) => codes[line - 2]),
    );
    const again = await run('bulk', 'read', rows, '--restart');
    expect(again.stderr).toContain(
      'warning: "extension_info" is an array, not an object, in 40 rows\n',
    );
  });
});

describe('a refusal in the words of a gateway', () => {
  it('is a refusal: exit status 4, with what it says', async () => {
    const done = await run('read', 'gateway', '--json');
    expect(done).toMatchObject({
      status: 4,
      stdout: '{"code":40001,"message":"bad sign \\u001b[31m","request_id":"r-18"}\n',
    });
    expect(JSON.parse(done.stderr).error.message).toBe(
      'the service answered 40001 "bad sign \\u001b[31m"',
    );
    expect((await run('read', 'unexplained')).stderr).toContain(
      'the service answered 1001 without a msg',
    );
  });
});

describe('a msg with personal data and what was sent', () => {
  const env = () => ({ env: deploymentVariables(platform.url) });
  const ways: Readonly<Record<string, () => Promise<string>>> = {
    'the error of a read': async () => (await run('read', 'telling')).stderr,
    '--verbose': async () => (await run('read', 'telling', '--verbose')).stderr,
    'an error as JSON': async () => (await run('read', 'telling', '-o', 'json')).stderr,
    'the summary of a bulk run': async () => {
      const codes = machine.file('telling.csv', 'code\ntelling\n');
      return (await machine.run(['bulk', 'read', codes, '--restart'], env())).stderr;
    },
    'the message of an error of the SDK': async () => {
      const client = UserInfoClient.fromEnv({}, deploymentVariables(platform.url));
      const error = await client.read({ code: 'telling' }).catch((failure: Error) => failure);
      await client.close();
      return (error as Error).message;
    },
  };

  it.each(Object.entries(ways))('is masked in %s', async (_, shown) => {
    const text = await shown();
    expect(text).toContain('40106');
    for (const secret of ['13800138000', 'ming@mail', 'secret-code', '0123456789'])
      expect(text).not.toContain(secret);
  });

  it('is exact on stdout, as it was received', async () => {
    expect((await run('read', 'telling', '--json')).stdout).toContain('13800138000');
  });
});

describe('an answer that is not an envelope', () => {
  it('is named by its code and messages, and printed with --json', async () => {
    const done = await run('read', 'letters');
    expect(done).toMatchObject({ status: 5, stdout: '' });
    expect(done.stderr).toContain('code "A001", message "bad sign", error "SIGN_INVALID"');
    const json = await run('read', 'letters', '--json', '--mask');
    expect(json.status).toBe(5);
    expect(JSON.parse(JSON.parse(json.stdout).body)).toMatchObject({
      code: 'A001',
      details: { mobile: '138****8000' },
    });
    const page = await run('read', 'page', '--json');
    expect(page.status).toBe(5);
    expect(JSON.parse(page.stdout).body).toContain('Not here: /x?code=');
  });

  it('is printed with --verbose on stderr, masked and safe on a terminal', async () => {
    const letters = await run('read', 'letters', '--verbose');
    expect(letters).toMatchObject({ status: 5, stdout: '' });
    expect(letters.stderr).toContain('<   {"code":"A001",');
    expect(letters.stderr).not.toContain('13800138000');
    const page = await run('read', 'page', '--verbose');
    expect(page.stderr).toContain(
      '<   <html><body>Not here: /x?code=****&amp;sign=****&mobile=****</body>\\u001b[31m',
    );
  });
});

it.each([
  ['--union-id', ['passback', 'mobile=138', '--primary-key', 'mobile', '--union-id', '']],
  ['--primary-key', ['passback', 'mobile=138', '--primary-key=', '--union-id', 'u1']],
  ['--primary-key', ['bulk', 'passback', 'rows.csv', '--primary-key', '']],
  ['--scope', ['read', 'empty', '--scope', '']],
  ['--union-id', ['sign', 'explain', 'passback', 'mobile=138', '--union-id', '']],
])('an empty %s is refused, as of a variable that is not set: %j', async (option, args) => {
  const done = await run(...args);
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).toContain(`error: ${option} is empty: is the variable set?\n`);
  expect(platform.requests).toHaveLength(0);
});

it('the table has the whole envelope, and values as they came', async () => {
  const traced = await run('read', 'traced');
  expect(traced.stdout).toMatch(/^1001 bad sign\nenvelope\n/);
  expect(traced.stdout).toMatch(
    /│ data +│ expected sign over a=1 │\n│ request_id +│ r-18 +│\n│ ts +│ 1\.50/,
  );
  const gateway = await run('read', 'gateway');
  expect(gateway.stdout).toMatch(
    /^40001\nenvelope\n.*\n│ message +│ bad sign \\u001b\[31m │\n│ request_id +│ r-18/,
  );
  const blanks = await run('read', 'blanks');
  expect(blanks.stdout).toMatch(/│ chat_nickname │ ␣␣e\u0301␣ +│\n│ chat_sex +│ a b\\u3000/);
});
