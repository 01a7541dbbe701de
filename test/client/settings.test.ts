import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromProfile } from '../../src/client/profiles.js';
import { UserInfoClient, UserInfoError } from '../../src/index.js';
import { bareProxy } from '../support/bare-proxy.js';
import { Machine } from '../support/cli.js';
import { httpServer, type TestServer } from '../support/raw-server.js';
import { ca, caFile, certificates, selfSigned, tlsServer } from '../support/tls-server.js';

const answer = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';
const platform = { signing: { sign: { message: ['$params', '|', '$secret'], steps: ['sha256'] } } };

let machine: Machine;
let server: Awaited<ReturnType<typeof httpServer>>;
const others: TestServer[] = [];
let env: Record<string, string>;

beforeEach(async () => {
  machine = new Machine();
  server = await httpServer((_, response) => response.end(answer));
  env = {
    USERINFO_CONFIG_DIR: machine.configFolder,
    USERINFO_BASE_URL: server.url,
    USERINFO_TENANT_CODE: 'acme',
    USERINFO_CHANNEL: 'web',
    USERINFO_APP_KEY: 'app-1',
    USERINFO_APP_SECRET: 'never-to-be-seen',
  };
});

/** Adds the profile `shop` by the command line, with the values of `env`, which go. */
async function add(more: readonly string[] = [], baseUrl = server.url) {
  const values = '--tenant-code acme --channel web --app-key app-1 --environment test'.split(' ');
  const isOfVariable = more.some((option) => /^--app-secret-(env|command)$/.test(option));
  const secret = isOfVariable ? [] : ['--app-secret-stdin'];
  const args = ['profile', 'add', 'shop', '--base-url', baseUrl, ...values, ...secret, ...more];
  env = { USERINFO_CONFIG_DIR: machine.configFolder };
  const { status, stderr } = await machine.run(args, {
    env,
    stdin: isOfVariable ? '' : 'never-to-be-seen',
  });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
}

afterEach(async () => {
  for (const one of [server, ...others.splice(0)]) await one.close();
  machine[Symbol.dispose]();
});

const moduleThatMarks = (marker: string) =>
  `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(marker)}, ''); export const sign = () => ({ digest: 'x' });`;

const file: Machine['file'] = (name, content) => machine.file(name, content);

/**
 * What the server received: all that does not change from request to request, and the length of
 * what does.
 */
function received() {
  return server.requests.splice(0).map(({ method, path, query, headers }) => ({
    method,
    path,
    gateway: [headers['x-gateway'], headers['x-region']],
    parameters: [...new URLSearchParams(query)].map(([name, value]) =>
      ['app_sign', 'sign', 'random', 'timestamp'].includes(name)
        ? [name, value.length]
        : [name, value],
    ),
  }));
}

describe('fromEnv', () => {
  it('sends what the command line sends with the same variables', async () => {
    Object.assign(env, { USERINFO_PLATFORM: file('platform.json', platform) });
    expect(await machine.run(['read', 'c1'], { env })).toMatchObject({ status: 0 });
    await using client = UserInfoClient.fromEnv({}, env);
    await client.read({ code: 'c1' });
    const [theirs, ours] = received();
    expect(ours).toEqual(theirs);
    expect(ours?.parameters).toContainEqual(['sign', 64]);
  });

  it('lets options take precedence over variables', async () => {
    Object.assign(env, {
      USERINFO_BASE_URL: 'https://elsewhere.example',
      USERINFO_PLATFORM: '/no/such/file',
    });
    let asked = 0;
    const appSecret = () => `another-${++asked}`;
    const given = { baseUrl: server.url, channel: 'app', platform: {}, appSecret };
    // Nor is a file read for what an option gives.
    const files = {
      USERINFO_CA_FILE: '/none',
      USERINFO_CLIENT_CERT: '/none',
      USERINFO_CLIENT_KEY: '/none',
    };
    const pem = { extraCa: ca, cert: readFileSync(join(certificates, 'good.crt'), 'utf8') };
    const key = readFileSync(join(certificates, 'server.key'), 'utf8');
    await using client = UserInfoClient.fromEnv({ ...given, ...pem, key }, { ...env, ...files });
    await client.read({ code: 'c1' });
    expect(asked).toBe(1);
    const [{ parameters } = { parameters: [] }] = received();
    expect(Object.fromEntries(parameters)).toMatchObject({ channel: 'app', tenant_code: 'acme' });
  });

  it('takes the variables of the process', () => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    try {
      expect(UserInfoClient.fromEnv().signRead({ code: 'c1' }).url.origin).toBe(server.url);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('names every variable that is missing, and one that is nearly right', () => {
    const { USERINFO_BASE_URL: _, USERINFO_APP_SECRET: secret, ...some } = env;
    const call = () =>
      UserInfoClient.fromEnv({}, { ...some, USERINFO_CHANNEL: '', USERINFO_SECRET: secret });
    expect(call).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: 'the environment has no USERINFO_BASE_URL, USERINFO_CHANNEL, USERINFO_APP_SECRET',
        hint: expect.stringContaining('USERINFO_SECRET: did you mean USERINFO_APP_SECRET?'),
      }),
    );
  });

  it.each([
    [{ USERINFO_PROFILE: 'shop' }, 'USERINFO_PROFILE is set, but fromEnv reads no profile'],
    [{ USERINFO_BASE_URL: 'nowhere' }, 'USERINFO_BASE_URL'],
    [{ USERINFO_CA_FILE: '/no/such/file' }, '"/no/such/file" cannot be read'],
    [{ USERINFO_PLATFORM: '/no/such/file' }, 'the file "/no/such/file" cannot be read'],
  ])('refuses %j', (more, message) => {
    expect(() => UserInfoClient.fromEnv({}, { ...env, ...more })).toThrow(message);
  });

  it('reaches the service as the command line does: CA file, proxy, exceptions', async () => {
    const tls = await tlsServer('good', server.url);
    const proxy = await bareProxy({ onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') });
    others.push(tls, proxy);
    const behind = { ...env, USERINFO_BASE_URL: tls.url, USERINFO_CA_FILE: caFile };
    await using direct = UserInfoClient.fromEnv({}, { ...behind, NODE_EXTRA_CA_CERTS: caFile });
    await direct.read({ code: 'c1' });
    expect(received()).toHaveLength(1);
    const own = await tlsServer('self-signed', server.url);
    others.push(own);
    const both = { ...behind, USERINFO_BASE_URL: own.url, NODE_EXTRA_CA_CERTS: selfSigned };
    await using extra = UserInfoClient.fromEnv({}, both);
    await extra.read({ code: 'c1' });
    expect(received()).toHaveLength(1);
    const remote = { ...behind, USERINFO_BASE_URL: 'http://users.example', http_proxy: proxy.url };
    await using proxied = UserInfoClient.fromEnv({ allowHttp: true, attempts: 1 }, remote);
    await expect(proxied.read({ code: 'c1' })).rejects.toThrow(proxy.host);
    expect(proxy.asked).toEqual([
      'GET http://users.example/api/v1/server/user/user_info_for_third HTTP/1.1',
    ]);
    await using excepted = UserInfoClient.fromEnv(
      { allowHttp: true },
      { ...remote, NO_PROXY: 'users.example' },
    );
    await expect(excepted.read({ code: 'c1' })).rejects.not.toThrow(proxy.host);
    const agent = new MockAgent();
    agent.disableNetConnect();
    const path = (target: string) => target.includes('user_info_for_third');
    agent.get('http://users.example').intercept({ path }).reply(200, answer);
    const mocked = { ...remote, USERINFO_CA_FILE: '/no/such/file' };
    await using dispatched = UserInfoClient.fromEnv({ allowHttp: true, dispatcher: agent }, mocked);
    expect((await dispatched.read({ code: 'c1' })).envelope.code).toBe(200);
    expect(proxy.asked).toHaveLength(1);
    const named = { ...remote, http_proxy: '', NO_PROXY: '*', USERINFO_PROXY: proxy.url };
    await using byName = UserInfoClient.fromEnv({ allowHttp: true, attempts: 1 }, named);
    await expect(byName.read({ code: 'c1' })).rejects.toThrow(proxy.host);
    const dead = { http_proxy: 'http://127.0.0.1:1', USERINFO_PROXY: 'http://127.0.0.1:1' };
    const options = { allowHttp: true, attempts: 1, proxy: proxy.url };
    await using given = UserInfoClient.fromEnv(options, { ...remote, ...dead });
    await expect(given.read({ code: 'c1' })).rejects.toThrow(proxy.host);
  });
});

describe('fromProfile', () => {
  it('sends what `userinfo -p` sends', async () => {
    const module = file(
      'sign.mjs',
      "export const sign = (_, secret) => ({ digest: 'by-module-' + secret.reveal().length });",
    );
    const headers = ['X-Gateway=command:echo printed', 'X-Region=cn-east'];
    await add(['--signing-module', module, ...headers.flatMap((header) => ['--header', header])]);
    expect(await machine.run(['read', 'c1', '-p', 'shop'], { env })).toMatchObject({ status: 0 });
    await using client = await fromProfile('shop', {}, env);
    await client.read({ code: 'c1' });
    expect(client.signRead({ code: 'c1' }).url.searchParams.get('sign')).toBe('by-module-16');
    const [theirs, ours] = received();
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({ gateway: ['printed', 'cn-east'] });
    await using elsewhere = await fromProfile(
      'shop',
      { baseUrl: 'https://elsewhere.example' },
      env,
    );
    expect(elsewhere.signRead({ code: 'c1' }).headers).toEqual({});
  });

  it.each([
    ['a module', (marker: string) => ['--signing-module', file('m.mjs', moduleThatMarks(marker))]],
    ['a command', (marker: string) => ['--header', `X-Gateway=command:touch ${marker}; echo x`]],
    ['a variable', () => ['--header', 'X-Gateway=env:USERINFO_CONFIG_DIR']],
    ['a proxy', () => ['--proxy', 'http://127.0.0.1:9']],
    ['an authority', () => ['--ca-file', caFile]],
    ['a secret', (marker: string) => ['--app-secret-command', `touch ${marker}; echo x`]],
  ])('uses %s only of a file that no other user could have changed', async (_, options) => {
    const marker = join(machine.folder, 'was-run');
    await add(options(marker));
    expect(existsSync(marker)).toBe(false);
    for (const [path, mode, undo] of [
      [machine.profileFile, 0o666, 0o600],
      [machine.configFolder, 0o777, 0o700],
    ] as const) {
      chmodSync(path, mode);
      await expect(fromProfile('shop', {}, env)).rejects.toMatchObject({ code: 'PROFILE_FILE' });
      expect(existsSync(marker)).toBe(false);
      chmodSync(path, undo);
    }
    await using client = await fromProfile('shop', {}, env);
    expect(client).toBeInstanceOf(UserInfoClient);
  });

  it('takes variables before the profile, and options before both', async () => {
    await add();
    const given = { ...env, USERINFO_CHANNEL: 'app', USERINFO_TENANT_CODE: 'other' };
    await using client = await fromProfile('shop', { tenantCode: 'mine' }, given);
    await client.read({ code: 'c1' });
    const [{ parameters } = { parameters: [] }] = received();
    expect(Object.fromEntries(parameters)).toMatchObject({ channel: 'app', tenant_code: 'mine' });
  });

  it('reads a secret that a variable of its profile names; names the variable if it is not set', async () => {
    await add(['--app-secret-env', 'SHOP_SECRET']);
    await expect(fromProfile('shop', {}, env)).rejects.toMatchObject({ code: 'CREDENTIALS' });
    await expect(fromProfile('shop', {}, env)).rejects.toThrow('SHOP_SECRET');
    await using client = await fromProfile('shop', {}, { ...env, SHOP_SECRET: 'from a variable' });
    await client.read({ code: 'c1' });
    expect(received()).toHaveLength(1);
  });

  it('allows plain http for the base URL of the profile alone', async () => {
    await add(['--allow-http'], 'http://users.example');
    await (await fromProfile('shop', {}, env)).close();
    const elsewhere = fromProfile('shop', { baseUrl: 'http://elsewhere.example' }, env);
    await expect(elsewhere).rejects.toThrow('plain http');
  });

  it('names a similar profile, and warns of what may be wrong with the settings', async () => {
    await add();
    await expect(fromProfile('shpo', {}, env)).rejects.toThrow(UserInfoError);
    await expect(fromProfile('shpo', {}, env)).rejects.toMatchObject({
      hint: expect.stringContaining('"shop"'),
    });
    const warnings: string[] = [];
    const logger = {
      debug() {},
      warn: (_: object, message: string) => void warnings.push(message),
    };
    await fromProfile('shop', { logger }, { ...env, USERINFO_APP_SECRET: 'copied ' });
    expect(warnings).toEqual(['the app secret has white space around it']);
  });
});

it('each entry of the package is loaded by a Node.js without what only POSIX has, such as on Windows', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, object>;
  };
  const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
  const preload = join(machine.folder, 'windows.cjs');
  writeFileSync(
    preload,
    'for (const name of Object.keys(process)) if (/^[gs]ete?[ug]id$|groups$/.test(name)) delete process[name];\n',
  );
  const load = entries.map((entry) => `await import('userinfo-exchange${entry.slice(1)}');`);
  const script = [...load, 'console.log(process.geteuid === undefined);'].join('\n');
  const args = ['--require', preload, '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['true\n', '']);
});
