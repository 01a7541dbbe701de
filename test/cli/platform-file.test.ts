import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { deploymentFlags, Machine } from '../support/cli.js';
import { httpServer, type TestServer } from '../support/raw-server.js';

const token = 'token-issued-by-the-operator-0001';
const secret = 'the-secret-of-the-app';
const gatewayKey = 'gateway-key-never-to-be-shown';
const basic = `Basic ${Buffer.from('tester:basic-never-to-be-shown').toString('base64')}`;

/** What the operator of the platform below would write down. */
const platformFile = {
  signing: {
    app_sign: { message: [token], steps: [] },
    sign: {
      message: ['$params', '$secret'],
      params: { exclude: ['app_sign'], names: false, pairSep: '' },
      steps: ['md5'],
    },
  },
  result_codes: {
    1001: { means: 'missingParameter', msg: 'param error' },
    1002: { means: 'wrongAppSign', msg: 'token error' },
    1003: { means: 'wrongSign', msg: 'sign error' },
    1004: { means: 'codeNotValid', msg: 'code error' },
    1029: { means: 'tooManyRequests', msg: 'busy' },
  },
  http_status: 200,
  absent: 'null',
  empty_object: 'list',
  refusal_data: 'list',
  values: 'as-written',
  unknown_parameters: 'ignore',
  chat_prefix: 'wx_',
  passback_union_id: 'any',
  headers: ['X-Gateway-Key', 'Authorization'],
} as const;

/** Where one's own profile has the values of these headers. */
const sources = '--header X-Gateway-Key=env:GATEWAY_KEY --header Authorization=env:BASIC'.split(
  ' ',
);

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** A platform that knows nothing of this project; it is as PHP behind a gateway would be. */
class PhpPlatform {
  readonly requests: { method: string; parameters: Map<string, string> }[] = [];
  /** How many of the next requests are turned away. */
  busy = 0;
  readonly users = new Map<string, Record<string, unknown>>([['u1', {}]]);

  start(): Promise<TestServer> {
    return httpServer(({ method, path, query, headers, body: form }, response) => {
      const parameters = new Map([...new URLSearchParams(query), ...new URLSearchParams(form)]);
      const hasKeys = headers['x-gateway-key'] === gatewayKey && headers.authorization === basic;
      const body = hasKeys
        ? this.#answer(method, path, parameters)
        : '{"code":9001,"message":"no key"}';
      response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' }).end(body);
    });
  }

  #answer(method: string, path: string, parameters: Map<string, string>): string {
    this.requests.push({ method, parameters });
    const refuse = (code: number, msg: string) => JSON.stringify({ code, msg, data: [] });
    if (this.busy > 0) {
      this.busy -= 1;
      return refuse(1029, 'busy');
    }
    for (const name of ['tenant_code', 'channel', 'app_key', 'random', 'timestamp', 'sign'])
      if (!parameters.get(name)) return refuse(1001, 'param error');
    if (parameters.get('app_sign') !== token) return refuse(1002, 'token error');
    const signed = [...parameters].filter(([name]) => name !== 'sign' && name !== 'app_sign');
    const values = signed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
    if (parameters.get('sign') !== md5(values.join('') + secret)) return refuse(1003, 'sign error');
    const succeed = (data: string) => `{"code":200,"msg":"ok","data":${data}}`;
    if (path.endsWith('/passback_user_info') && method === 'PUT') {
      const id = parameters.get('union_id') ?? 'u1';
      this.users.set(id, {
        ...this.users.get(id),
        ...JSON.parse(parameters.get('user_info') ?? '{}'),
      });
      return succeed(`{"union_id":"${id === 'merged' ? 'u1' : id}"}`);
    }
    if (!parameters.get('code')?.startsWith('good')) return refuse(1004, 'code error');
    const names = parameters.get('info_name')?.split(',');
    if (names === undefined) {
      const basicInfo = '{"mobile":"1","wx_nickname":"Ming","wx_open_id":null}';
      return succeed(
        `{"union_id":"u1","basic_info":${basicInfo},"extension_info":[],"login_device_info":[]}`,
      );
    }
    const known: Record<string, string> = {
      mobile: '"13912345678"',
      wx_nickname: '"Ming"',
      acme_n: '1.50',
    };
    const members = names.map((name) => `"${name}":${known[name] ?? 'null'}`);
    return succeed(`{"union_id":"u1",${members.join(',')}}`);
  }
}

const machine = new Machine();
const php = new PhpPlatform();
let server: TestServer;
let file: string;

beforeAll(async () => {
  server = await php.start();
  file = join(machine.folder, 'platform.json');
  writeFileSync(file, JSON.stringify(platformFile));
  const values = deploymentFlags(server.url);
  const added = await machine.run(
    [...['profile', 'add', 'php', ...values, '--app-secret-stdin', '--platform', file], ...sources],
    { stdin: secret },
  );
  expect(added).toMatchObject({ status: 0 });
});
afterAll(async () => {
  machine[Symbol.dispose]();
  await server.close();
});

const run = (
  args: readonly string[],
  env: Record<string, string> = { GATEWAY_KEY: gatewayKey, BASIC: basic },
) => machine.run([...args], { env });

it('reads, and takes what the file says without a warning', async () => {
  php.busy = 1;
  const whole = await run(['read', 'good', '--json']);
  expect(whole).toMatchObject({ status: 0, stderr: '' });
  expect(whole.stdout).toContain('"extension_info":[]');
  const named = await run(['read', 'good', 'wx_nickname,acme_n,nothing', '--mask', '-o', 'json']);
  expect(named).toMatchObject({ status: 0, stderr: '' });
  expect(named.stdout).toBe(
    '{"code":200,"msg":"ok","data":{"union_id":"u1","wx_nickname":"****","acme_n":1.50,"nothing":null}}\n',
  );
  const refused = await run(['read', 'bad', '--verbose']);
  expect(refused.status).toBe(4);
  expect(refused.stderr).toContain('Have a new code issued to the user');
});

it('passes back, also to a user who was merged into another', async () => {
  const done = await run(['passback', 'acme_level=gold', '--union-id', 'merged', '--json']);
  expect(done).toMatchObject({
    status: 0,
    stdout: '{"code":200,"msg":"ok","data":{"union_id":"u1"}}\n',
  });
  // Another file, for this command alone: as this project decided, that is another user.
  const strict = join(machine.folder, 'strict.json');
  writeFileSync(strict, JSON.stringify({ ...platformFile, passback_union_id: 'same' }));
  const other = await run(['passback', 'a=b', '--union-id', 'merged', '--platform', strict]);
  expect(other.status).toBe(5);
});

it('runs over many rows, which may name a user by both', async () => {
  writeFileSync(join(machine.folder, 'users.csv'), 'id,mobile,acme_n\nu1,138,5\nu2,139,6\n');
  const both = ['--union-id-column', 'id', '--primary-key', 'mobile'];
  const done = await run(['bulk', 'passback', 'users.csv', ...both, '--types', 'acme_n:number']);
  expect(done.status).toBe(0);
  const [first, second] = php.requests.slice(-2).map(({ parameters }) => parameters);
  const sent = [first, second].map((one) =>
    ['union_id', 'primary_key', 'user_info'].map((name) => one?.get(name)),
  );
  expect(sent.sort()).toEqual([
    ['u1', 'mobile', '{"mobile":"138","acme_n":5}'],
    ['u2', 'mobile', '{"mobile":"139","acme_n":6}'],
  ]);
  writeFileSync(join(machine.folder, 'codes.csv'), 'code\ngood1\ngood2\nbad\n');
  const read = await run(['bulk', 'read', 'codes.csv', '--json', '--verbose']);
  expect(read.status).toBe(6);
  const { ok, failed, warnings } = JSON.parse(read.stdout);
  expect({ ok, failed, warnings }).toEqual({ ok: 2, failed: 1, warnings: undefined });
});

it('is understood by doctor, explain and profile show', async () => {
  const doctor = await run(['doctor']);
  expect(doctor.status).toBe(0);
  expect(doctor.stdout).toContain('by the recipes of profile "php"');
  expect((await run(['explain', '1004'])).stdout).toContain('code error');
  const shown = await run(['profile', 'show', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    chat_prefix: { value: 'wx_', origin: 'profile "php"' },
    headers: {
      value:
        'X-Gateway-Key (from the variable GATEWAY_KEY), Authorization (from the variable BASIC)',
    },
  });
  const exported = await run(['profile', 'export', 'php']);
  expect(JSON.parse(exported.stdout).platform.headers).toEqual(platformFile.headers);
  expect(exported.stderr).toBe(
    'left out: the app secret, the value of the header X-Gateway-Key, the value of the header Authorization\n',
  );
});

it('sends its headers with every request, and never shows their values', async () => {
  const preview = await run(['read', 'good', '--print-curl']);
  expect(preview.stdout).toContain("--header 'x-gateway-key: ****'");
  expect((await run(['read', 'good', '--dry-run', '--json'])).stdout).toContain(
    '"authorization":"****"',
  );
  const revealed = await run(['read', 'good', '--print-curl', '--reveal']);
  expect(revealed.stdout).toContain(`--header 'authorization: ${basic}'`);
  const missing = await run(['read', 'good'], {});
  expect(missing).toMatchObject({ status: 3 });
  expect(missing.stderr).toContain(
    'the environment variable GATEWAY_KEY, which should hold the header X-Gateway-Key',
  );
  const wrong = await run(['read', 'good', '--verbose', '--json'], {
    GATEWAY_KEY: 'another-key-4711',
    BASIC: basic,
  });
  expect(wrong).toMatchObject({ status: 4 });
  expect(wrong.stderr).toContain('no key');
  const broken = await run(['read', 'good', '--verbose'], {
    GATEWAY_KEY: 'line-4711\nbreak',
    BASIC: basic,
  });
  expect(broken.stderr).toContain(
    'the option headers: "X-Gateway-Key" is not the value of a header',
  );
  const printed = machine.printed.replace(revealed.stdout, '');
  for (const hidden of [gatewayKey, basic, 'another-key-4711', 'line-4711'])
    expect(printed).not.toContain(hidden);
  const written = readdirSync(machine.folder).filter((name) => /results|journal|failed/.test(name));
  expect(written).not.toEqual([]);
  for (const name of written)
    expect(readFileSync(join(machine.folder, name), 'utf8')).not.toContain(basic);
});

const options = {
  baseUrl: 'http://127.0.0.1:9',
  tenantCode: 't',
  channel: 'c',
  appKey: 'k',
  appSecret: 's',
};

it.each<[object, string]>([
  // Those of RFC 9110 and 9112 by which a message is framed, forwarded or answered.
  ...'Host content-length Content-Type Content-Encoding Transfer-Encoding TE Trailer connection Proxy-Connection'
    .concat(' Keep-Alive Proxy-Authorization Upgrade Expect Accept Accept-Encoding Range')
    .split(' ')
    .map((name): [object, string] => [{ [name]: 'x' }, `${name} cannot be set`]),
  [{ 'X A': 'x' }, '"X A" is not the name of a header'],
  [{ 'X-A': 'a\r\nX-B: c' }, '"X-A" is not the value of a header'],
  [{ 'X-A': 'a ' }, '"X-A" is not the value of a header'],
  [{ 'X-A': 'x', 'x-a': 'y' }, '"x-a" is given twice'],
])('the headers %j are refused before anything is sent', (headers, problem) => {
  expect(
    () => new UserInfoClient({ ...options, headers: headers as Record<string, string> }),
  ).toThrow(problem);
});

it('needs its headers: what lacks is named, with the command that sets it', async () => {
  const env = { USERINFO_PLATFORM: file, GATEWAY_KEY: gatewayKey, BASIC: basic };
  const lacking = await run(['profile', 'set', 'php', '--header', 'authorization=']);
  expect(lacking.status).toBe(0);
  const count = php.requests.length;
  const refused = await run(['read', 'good'], env);
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toBe(
    'error: the platform needs the header Authorization\n' +
      'Nothing was sent. Say where its value is:\n  userinfo profile set php --header Authorization=env:AUTHORIZATION\n',
  );
  expect(php.requests).toHaveLength(count);
  await run(['profile', 'set', 'php', '--header', `Authorization=command:printf %s "$BASIC"`]);
  expect(await run(['read', 'good', '--json'], { ...env, BASIC: basic })).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(() => new UserInfoClient({ ...options, platform: platformFile })).toThrow(
    'the platform needs the header X-Gateway-Key',
  );
});

it('sends the headers of a profile to its own base URL alone', async () => {
  const foreign = await httpServer((_, response) =>
    response.end('{"code":200,"msg":"m","data":{"union_id":"u"}}'),
  );
  const plain = join(machine.folder, 'plain.json');
  writeFileSync(plain, JSON.stringify({ ...platformFile, headers: [] }));
  const read = ['read', 'good', '--platform', plain];
  for (const [args, env] of [
    [[...read, '--base-url', foreign.url], {}],
    [[...read, '-p', 'php'], { USERINFO_BASE_URL: foreign.url }],
  ] as const) {
    const done = await run(args, { GATEWAY_KEY: gatewayKey, BASIC: basic, ...env });
    expect(done.stderr).toContain(
      'warning: the headers of profile "php" are sent to its own base URL alone\n',
    );
  }
  expect(foreign.requests).toHaveLength(2);
  expect(JSON.stringify(foreign.requests)).not.toContain(gatewayKey);
  await foreign.close();
});

it('has its own prefix in completion and help', async () => {
  expect((await run(['__complete', 'read', 'c', 'wx_n'])).stdout).toBe('wx_nickname\n');
  expect((await run(['__complete', 'read', 'c', 'chat_'])).stdout).toBe('');
  expect((await run(['read', '--help'])).stdout).toMatch(/wx_open_id,/);
  const page = (await run(['help', 'info-names'])).stdout;
  expect(page).toContain('wx_nickname ');
  expect(page).not.toContain('chat_');
});
