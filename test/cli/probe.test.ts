import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { createTestService } from '../../src/service/index.js';
import { Machine } from '../support/cli.js';
import { wholeBasicInfo } from '../support/spec-names.js';

const secret = 'never-to-be-seen-4711';
const keys = { tenant_code: 'acme', channel: 'web', app_key: 'app-1' };
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const pathOf = (operation: string) => `/api/v1/server/user/${operation}`;

/** How the platform below signs, as a recipe. */
const signing = {
  app_sign: { message: ['$param:app_key', '$secret'], steps: ['md5'] },
  sign: { message: ['$values', '$secret'], params: { pairSep: '' }, steps: ['md5'] },
};

/** Parameters with both signatures, unless they are given. */
function signed(given: Readonly<Record<string, string>>): Record<string, string> {
  const query: Record<string, string> = { app_sign: md5(`${given.app_key}${secret}`), ...given };
  const values = Object.entries(query)
    .filter(([name]) => name !== 'sign')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value);
  return { sign: md5(values.join('') + secret), ...query };
}

/** A platform that knows nothing of this project: PHP behind a gateway of its own. */
class PhpPlatform {
  readonly requests: { method: string; path: string; parameters: Record<string, string> }[] = [];
  /** Uses left of each code that it issued. */
  readonly codes = new Map<string, number>();
  user: Record<string, unknown> = {};
  /** Answers the next requests instead. */
  instead: ((parameters: Record<string, string>) => [status: number, body: string] | undefined) | null = null;
  /** Lead of its clock, in milliseconds. */
  ahead = 0;
  url = '';
  readonly #server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const { pathname, searchParams } = new URL(message.url ?? '', 'http://php');
    const form = new URLSearchParams(String(Buffer.concat(chunks)));
    const parameters = Object.fromEntries([...searchParams, ...form]);
    const { method = '' } = message;
    this.requests.push({ method, path: pathname, parameters });
    const [status, body] = this.instead?.(parameters) ?? [200, this.#answer(method, pathname, parameters)];
    const date = new Date(Date.now() + this.ahead).toUTCString();
    response.writeHead(status, { 'content-type': 'text/html; charset=UTF-8', date }).end(body);
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(method: string, path: string, given: Record<string, string>): string {
    const isRead = path === pathOf('user_info_for_third');
    // The gateway has other envelopes.
    if (!isRead && path !== pathOf('passback_user_info')) return '{"code":9404,"message":"no route"}';
    if (method !== (isRead ? 'GET' : 'PUT')) return '{"code":9405,"message":"bad method"}';
    const refuse = (code: number, msg: string) => JSON.stringify({ code, msg, data: [] });
    for (const name of [
      ...Object.keys(keys),
      'random',
      'timestamp',
      'app_sign',
      'sign',
      isRead ? 'code' : 'user_info',
    ])
      if (!given[name]) return refuse(1001, 'param error');
    if ((given.random ?? '').length < 8 || given.timestamp?.length !== 10) return refuse(1001, 'param error');
    if (given.app_key !== keys.app_key || given.tenant_code !== keys.tenant_code)
      return refuse(-2, 'app error');
    if (Math.abs(Math.floor((Date.now() + this.ahead) / 1000) - Number(given.timestamp)) > 120)
      return refuse(1005, 'time error');
    const { app_sign: _, sign, ...others } = given;
    const { app_sign = '' } = signed(others);
    if (given.app_sign !== app_sign || sign !== signed({ ...others, app_sign }).sign)
      return refuse(1003, 'sign error');
    const succeed = (data: string) => `{"code":200,"msg":"ok","data":${data}}`;
    if (!isRead) return this.#write(given, refuse, succeed);
    const left = this.codes.get(given.code ?? '') ?? 0;
    if (left === 0) return refuse(1006, 'code error');
    this.codes.set(given.code ?? '', left - 1);
    const all: Record<string, unknown> = { mobile: '13800001111', wx_nickname: 'Ming', ...this.user };
    const names = given.info_name?.split(',');
    if (names !== undefined) {
      const lists = { device_info: [], location_info: [] };
      const values = names.map((name) => [name, { ...all, ...lists }[name] ?? null]);
      return succeed(JSON.stringify({ union_id: 'u1', ...Object.fromEntries(values) }));
    }
    const basic_info = wholeBasicInfo('wx_', { mobile: '13800001111', wx_nickname: 'Ming' });
    const extension_info = Object.keys(this.user).length === 0 ? [] : this.user;
    return succeed(JSON.stringify({ union_id: 'u1', basic_info, extension_info, login_device_info: [] }));
  }

  #write(
    { union_id, primary_key, user_info = '' }: Record<string, string>,
    refuse: (code: number, msg: string) => string,
    succeed: (data: string) => string,
  ): string {
    const given = JSON.parse(user_info);
    if (!union_id && (!primary_key || given[primary_key] === undefined)) return refuse(1001, 'param error');
    if (Object.values(given).some((value) => typeof value === 'object')) return refuse(1008, 'not flat');
    // It takes reserved keys, though it should not.
    const { union_id: _, channel: __, ...own } = given;
    this.user = { ...this.user, ...own };
    return succeed(`{"union_id":"${union_id ?? 'u1'}"}`);
  }
}

/** What the operator of that platform would write down. */
const operatorsFile = {
  signing,
  result_codes: {
    '1001': {
      means: ['missingParameter', 'malformedParameter', 'userNotNamed', 'primaryKeyNotInUserInfo'],
      msg: 'param error',
    },
    '1003': { means: ['wrongAppSign', 'wrongSign'], msg: 'sign error' },
    '1005': { means: 'timestampOutsideWindow', msg: 'time error' },
    '1006': { means: 'codeNotValid', msg: 'code error' },
    '1008': 'userInfoNotFlat',
    '9404': { means: 'noSuchPath', msg: 'no route' },
    '9405': { means: 'wrongMethod', msg: 'bad method' },
    '-2': { means: ['unknownAppKey', 'appNotAllowed'], msg: 'app error' },
  },
  http_status: 200,
  absent: 'null',
  empty_object: 'list',
  values: 'as-written',
  unknown_parameters: 'ignore',
  scopes: 'any',
  clock_window_seconds: 120,
  replay: 'allow',
  code_uses: 2,
  chat_prefix: 'wx_',
};

const machine = new Machine();
const php = new PhpPlatform();
const env = { SECRET: secret };
const run = (...args: string[]) => machine.run(args, { env });
const probe = (...args: string[]) => run('probe', '--pause', '1ms', ...args);

beforeAll(async () => {
  await php.start();
  writeFileSync(join(machine.folder, 'signing.json'), JSON.stringify({ signing }));
  const values = Object.entries(keys).flatMap(([name, value]) => [`--${name.replace('_', '-')}`, value]);
  for (const [name, environment] of [
    ['php', 'test'],
    ['live', 'production'],
  ] as const) {
    const where = ['--environment', environment, '--base-url', php.url, '--platform', 'signing.json'];
    const added = await run('profile', 'add', name, ...where, ...values, '--app-secret-env', 'SECRET');
    expect(added.status, added.stderr).toBe(0);
  }
});
beforeEach(() => {
  php.requests.length = 0;
  php.instead = null;
  php.ahead = 0;
});
afterAll(() => {
  machine[Symbol.dispose]();
  php.close();
});

it('learns by refused reads alone, and says what it cannot know', async () => {
  const done = await probe('-p', 'php', '--json');
  expect(done.status).toBe(0);
  const { platform, points, refusals, breaks } = JSON.parse(done.stdout);
  expect(platform).toEqual({
    signing: expect.anything(),
    result_codes: {
      ...operatorsFile.result_codes,
      '1001': { means: ['missingParameter', 'malformedParameter'], msg: 'param error' },
      '1008': undefined,
    },
    http_status: 200,
    empty_object: 'list',
    unknown_parameters: 'ignore',
    scopes: 'any',
    clock_window_seconds: 120,
    replay: 'allow',
  });
  const refused = refusals.map(({ request }: { request: string }) => request);
  expect(refused).toContain('a wrong sign');
  for (const taken of ['a parameter too many', 'another scope', 'a random twice']) {
    expect(refused).not.toContain(taken);
  }
  const open = points.filter(({ found }: { found: boolean }) => !found);
  expect(open.map(({ field }: { field: string }) => field)).toEqual([
    'absent',
    'values',
    'code_uses',
    'code_ttl_seconds',
    'unknown_user',
    'passback_union_id',
    'chat_prefix',
  ]);
  expect(breaks).toContainEqual({
    section: '§1',
    what: '"msg" of a refusal is missing, not text',
    answers: 2,
  });
  // Reads only, and none with a code that was issued.
  expect(new Set(php.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(done.stderr).toContain(`To ${new URL(php.url).host}, one every 1 ms:\n`);
  expect(done.stderr).toContain(
    'a wrong app_sign; a wrong sign; a timestamp an hour old; a parameter too many',
  );
});

it('describes the platform rightly with a test user, in a file and in the profile', async () => {
  php.codes.set('fresh-code-1', 2);
  php.user = {};
  const user = ['--code', 'fresh-code-1', '--union-id', 'u1'];
  const asked = await probe('-p', 'php', ...user);
  expect(asked).toMatchObject({ status: 2, stdout: '' });
  expect(asked.stderr).toContain('a passback of userinfo_probe=1.50 to the user of --union-id');
  expect(php.requests).toHaveLength(0);

  const done = await probe('-p', 'php', ...user, '--yes', '--save', 'learned.json', '--save-profile');
  expect(done.status, done.stderr).toBe(0);
  const learned = JSON.parse(readFileSync(join(machine.folder, 'learned.json'), 'utf8'));
  expect({ ...learned, signing }).toEqual(operatorsFile);
  expect(done.stdout).toMatch(/│ a wrong sign +│ 40103, HTTP 401 │ 1003 "sign error", HTTP 200/);
  expect(done.stdout).toMatch(/│ absent +│ "omit" +│ "null": null in a read by names/);
  expect(done.stdout).toMatch(/│ unknown_user +│ "refuse" +│ not known: asking could create a user/);
  expect(done.stdout).toMatch(/│ §4\.2 │ a reserved key in user_info is accepted +│ 1 /);
  expect(done.stdout).toMatch(/│ §4\.1 │ "userinfo_probe" is a number, not text +│ 1 /);
  // Nothing was written but the key of the probe.
  expect(php.user).toEqual({ userinfo_probe: 1.5 });
  const shown = JSON.parse((await run('profile', 'export', 'php')).stdout);
  expect({ ...shown.platform, signing }).toEqual(operatorsFile);
  for (const hidden of [secret, 'fresh-code-1', '13800001111', 'Ming']) {
    expect(machine.printed).not.toContain(hidden);
  }
  const again = await probe('-p', 'php', '--save', 'learned.json');
  expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('cannot be written: it exists') });
});

/** The types of a JSON value, with the keys of its objects. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

it('has a twin that answers alike, against which every command works', async () => {
  const platform = JSON.parse(readFileSync(join(machine.folder, 'learned.json'), 'utf8'));
  const app = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: secret };
  const users = [{ union_id: 'u1', basic_info: { mobile: '13800001111', chat_nickname: 'Ming' } }];
  await using twin = await createTestService({ platform, users, ...app });
  php.user = {};

  const now = () => String(Math.floor(Date.now() / 1000));
  let serial = 0;
  const ask = async (
    url: string,
    query: Record<string, string>,
    form?: Record<string, string>,
    where = '',
  ) => {
    serial += 1;
    const base = { ...keys, random: `random-${1000 + serial}`, timestamp: now(), ...query };
    const all = signed({ ...base, ...form });
    const sent = new URLSearchParams(all);
    for (const name of Object.keys(form ?? {})) sent.delete(name);
    const path = where || pathOf(form === undefined ? 'user_info_for_third' : 'passback_user_info');
    const init = form === undefined ? {} : { method: 'PUT', body: new URLSearchParams(form) };
    const answer = await fetch(`${url}${path}?${sent}`, init);
    const { code, data } = (await answer.json()) as { code: number; data: unknown };
    return { status: answer.status, code, data: shapeOf(data) };
  };
  const both = async (...request: [Record<string, string>, Record<string, string>?, string?]) => {
    const [one, other] = [await ask(php.url, ...request), await ask(twin.url, ...request)];
    expect(other, JSON.stringify(request)).toEqual(one);
    return one.code;
  };
  const issue = async () => {
    const code = await twin.issueCode('u1');
    php.codes.set(code, 2);
    return code;
  };
  const wrong = '0'.repeat(32);
  expect(await both({ code: 'x' })).toBe(1006);
  expect(await both({})).toBe(1001);
  expect(await both({ code: 'x', random: 'short' })).toBe(1001);
  expect(await both({ code: 'x', app_key: 'another' })).toBe(-2);
  expect(await both({ code: 'x', app_sign: wrong })).toBe(1003);
  expect(await both({ code: 'x', sign: wrong })).toBe(1003);
  expect(await both({ code: 'x', timestamp: String(Number(now()) - 200) })).toBe(1005);
  expect(await both({ code: 'x', timestamp: String(Number(now()) - 100), more: '1', scope: 'any' })).toBe(
    1006,
  );
  expect(await both({}, { user_info: '{"a":"b"}' })).toBe(1001);
  expect(await both({}, { union_id: 'u1', user_info: '{"a":{}}' })).toBe(1008);
  const code = await issue();
  expect(await both({ code })).toBe(200);
  expect(await both({}, { union_id: 'u1', user_info: '{"acme_n":5,"acme_t":"5"}' })).toBe(200);
  expect(await both({ code, info_name: 'mobile,wx_nickname,acme_n,acme_t,nothing,device_info' })).toBe(200);
  expect(await both({ code })).toBe(1006);

  const at = ['-p', 'php', '--base-url', twin.url];
  const read = await run('read', await issue(), 'wx_nickname,acme_n,nothing', ...at, '--json');
  expect(read).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(read.stdout).data).toEqual({
    union_id: 'u1',
    wx_nickname: 'Ming',
    acme_n: 5,
    nothing: null,
  });
  expect((await run('passback', 'acme_n:=6', '--union-id', 'u1', ...at)).status).toBe(0);
  expect((await run('doctor', ...at)).stdout).toContain('only the code was refused, as expected');
  const used = await run('read', 'used-code', ...at, '--json');
  expect([used.status, JSON.parse(used.stdout).code]).toEqual([4, 1006]);
  expect((await run('explain', '1006', '--platform', 'learned.json')).stdout).toContain('code error');
  writeFileSync(join(machine.folder, 'codes.csv'), `code\n${await issue()}\nbad\n`);
  const bulk = await run('read', '--from', 'codes.csv', ...at, '--json');
  expect(JSON.parse(bulk.stdout)).toMatchObject({ ok: 1, failed: 1 });
  await using client = new UserInfoClient({ ...app, baseUrl: twin.url, platform });
  const answer = await client.read({ code: await issue(), infoNames: ['acme_n'] });
  expect([answer.data.acme_n, answer.warnings]).toEqual([6, []]);
});

it('takes the first code of a meaning, puts what refuses a caller last, and knows the clock of the platform', async () => {
  php.ahead = 20_000;
  php.instead = ({ timestamp = '', app_key = '' }) => {
    if (timestamp.length === 9) return [200, '{"code":1011,"msg":"short","data":[]}'];
    return app_key === keys.app_key ? undefined : [200, '{"code":9405,"message":"bad method"}'];
  };
  const done = await probe('-p', 'php', '--json');
  const { result_codes, clock_window_seconds } = JSON.parse(done.stdout).platform;
  expect(Object.keys(result_codes)).not.toContain('1011');
  expect(result_codes['9405'].means).toEqual(['wrongMethod', 'unknownAppKey']);
  expect(Math.abs(clock_window_seconds - 120)).toBeLessThan(6);
});

it('says what it will send to production, and sends nothing without an answer', async () => {
  const done = await probe('-p', 'live');
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).toContain('production: profile "live"');
  expect(done.stderr).toContain('Send this to production?');
  expect(php.requests).toHaveLength(0);
  const unsaved = await machine.run(['probe', '--save-profile', '--base-url', php.url], {
    env: {
      USERINFO_APP_SECRET: secret,
      USERINFO_TENANT_CODE: 'a',
      USERINFO_CHANNEL: 'w',
      USERINFO_APP_KEY: 'k',
    },
  });
  expect(unsaved).toMatchObject({ status: 2, stderr: expect.stringContaining('no profile is in use') });
  expect(php.requests).toHaveLength(0);
});

it('says that the signatures may be wrong, and leaves open what depends on them', async () => {
  const done = await machine.run(['probe', '--pause', '1ms', '-p', 'php', '--platform', '', '--json'], {
    env,
  });
  expect(done.status).toBe(0);
  expect(done.stderr).toContain('an unknown code is answered like a wrong signature');
  const { platform, points } = JSON.parse(done.stdout);
  expect(Object.keys(platform.result_codes)).toEqual(['1001', '1005', '9404', '9405', '-2']);
  const found = points
    .filter((point: { found: boolean }) => point.found)
    .map(({ field }: { field: string }) => field);
  expect(found).toEqual(['result_codes', 'http_status', 'empty_object']);
});

it('shows no secret that the platform shows, nor what was sent', async () => {
  const expected = md5(secret);
  php.instead = ({ code = '', sign = '', random = '', app_key = '' }) => [
    200,
    JSON.stringify({
      code: sign.startsWith('0') ? 7 : 8,
      msg: `${app_key}: ${expected}, ${code} ${random} not ${sign} of a=1&key=${secret}`,
    }),
  ];
  const before = machine.printed.length;
  const done = await probe('-p', 'php', '--save', 'echoed.json');
  expect(done.status).toBe(0);
  const printed = machine.printed.slice(before) + readFileSync(join(machine.folder, 'echoed.json'), 'utf8');
  const sent = php.requests.flatMap(({ parameters: { code, sign, app_sign } }) => [code, sign, app_sign]);
  for (const hidden of [secret, expected, keys.app_key, ...sent])
    if (hidden) expect(printed).not.toContain(hidden);
});

it('waits where it is throttled, and says where the platform ends to answer alike', async () => {
  let count = 0;
  php.instead = () => {
    count += 1;
    return count === 3 ? [429, '{"code":1029,"msg":"busy","data":[]}'] : undefined;
  };
  const done = await probe('-p', 'php', '--json');
  expect(JSON.parse(done.stdout).platform.result_codes['1029']).toEqual({
    means: 'tooManyRequests',
    msg: 'busy',
    http_status: 429,
  });
  count = 0;
  php.instead = () => {
    count += 1;
    return count > 12 ? [200, '{"code":5,"msg":"blocked","data":[]}'] : undefined;
  };
  expect((await probe('-p', 'php')).stderr).toContain('the last request was answered unlike the first');
});

it('ends with the error of an answer that is not the platform', async () => {
  php.instead = () => [502, '<title>Bad Gateway</title>'];
  const done = await probe('-p', 'php', '--save', 'never.json');
  expect(done).toMatchObject({ status: 5, stdout: '' });
  expect(done.stderr).toContain('answered HTTP 502');
  expect(php.requests).toHaveLength(1);
  expect(existsSync(join(machine.folder, 'never.json'))).toBe(false);
});

it('stops at Ctrl-C, and saves nothing', async () => {
  const child = machine.start(['probe', '--pause', '20s', '-p', 'php', '--save', 'never.json'], { env });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    if (stderr.includes('clock window')) child.kill('SIGINT');
  });
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(stderr).toContain('0 requests were sent; nothing was saved\n');
  expect(existsSync(join(machine.folder, 'never.json'))).toBe(false);
});
