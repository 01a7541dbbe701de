import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../../../support/cli.js';

const secret = 'a-secret-of-the-shop';
const path = '/v2/api/v1/server/user/user_info_for_third';
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** A rule that the spec leaves to the platform, written by hand. */
function signed(params: Readonly<Record<string, string>>, key = secret): Record<string, string> {
  const { app_key = '', timestamp = '' } = params;
  const all: Record<string, string> = { ...params, app_sign: md5(`${app_key}${timestamp}${key}`) };
  const pairs = Object.keys(all).sort();
  const message = pairs.map((name) => `${name}${all[name]}`).join('');
  return { ...all, sign: md5(`${key}${message}${key}`).toUpperCase() };
}

/**
 * A platform without anything of this project: it accepts what its own rule signs, and one code.
 */
const received: { readonly url: URL; readonly region: unknown; readonly status: number }[] = [];
const log: string[] = [];
const platform = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://x');
  const { app_sign, sign, ...params } = Object.fromEntries(url.searchParams);
  const right = signed(params);
  const code =
    right.app_sign !== app_sign
      ? 40102
      : right.sign !== sign
        ? 40101
        : params.code === 'good'
          ? 200
          : 40106;
  received.push({ url, region: request.headers['x-region'], status: code });
  log.push(
    `10.0.0.1 - - [22/Nov/2026:13:20:00 +0000] "GET ${request.url} HTTP/1.1" 200 87 "-" "okhttp/4"`,
  );
  response.end(
    JSON.stringify({ code, msg: code === 200 ? 'ok' : 'refused', data: { union_id: 'u1' } }),
  );
});
const machine = new Machine();
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
});
afterEach(() => {
  received.splice(0);
  log.splice(0);
  rmSync(machine.configFolder, { recursive: true, force: true });
});
afterAll(() => {
  platform.close();
  machine[Symbol.dispose]();
});

const request = (more: Readonly<Record<string, string>> = {}, key?: string) =>
  `${origin}${path}?${new URLSearchParams(
    signed(
      {
        tenant_code: 'acme',
        channel: 'web',
        app_key: 'app-1',
        random: 'f3a90c1174',
        timestamp: '1700000001',
        code: 'good',
        info_names: 'mobile,acme_level',
        ...more,
      },
      key,
    ),
  )}`;

/** The command by which the real curl sent a request that the platform accepted. */
async function sentByCurl(url: string, ...headers: readonly string[]): Promise<string> {
  const given = headers.map((one) => ` -H '${one}'`).join('');
  const command = `curl --silent --noproxy '*' '${url}'${given}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', command]);
  expect(JSON.parse(stdout).code).toBe(200);
  return command;
}

const har = (...urls: readonly string[]) =>
  JSON.stringify({
    log: {
      version: '1.2',
      creator: { name: 'WebInspector', version: '537.36' },
      entries: [...urls, `${origin}/favicon.ico`].map((url) => ({
        startedDateTime: '2026-11-22T13:20:00.000Z',
        request: {
          method: 'GET',
          url,
          httpVersion: 'http/1.1',
          headers: [
            { name: 'Host', value: '127.0.0.1' },
            { name: 'User-Agent', value: 'Mozilla/5.0' },
            { name: 'X-Amzn-Trace-Id', value: 'Root=1' },
            { name: 'X-Request-Id', value: 'r1' },
            { name: 'X-Region', value: 'cn-east' },
            { name: 'X-Pin', value: '4711' },
            { name: 'X-User', value: 'zhang' },
            { name: 'Cookie', value: 'session=1' },
          ],
          queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
        },
        response: { status: 200, headers: [], content: {} },
      })),
    },
  });

const file = (name: string, text: string) => {
  writeFileSync(join(machine.folder, name), text);
  return name;
};
const quick = ['--rate', '1000000/s'];
const add = (from: string, ...more: readonly string[]) => {
  const values = ['--environment', 'test', '--from', from, '--app-secret-env', 'SHOP', ...quick];
  return machine.run(['profile', 'add', 'shop', ...values, ...more], { env: { SHOP: secret } });
};
const stored = () => JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.shop;

describe('profile add --from', () => {
  it('takes all but the secret from the command of curl, finds the rule, and is accepted', async () => {
    const captured = await sentByCurl(request(), 'X-Region: cn-east');
    const done = await add(file('captured.txt', captured), '--yes');
    expect(done.stderr).toContain(
      `From a request in the file "captured.txt":\n  base URL: ${origin}/v2 (the address)\n`,
    );
    expect(done.stderr).toContain('  app key: app-1 (parameter app_key)\n');
    expect(done.stderr).toMatch(/ {2}sign: .* \(found\)\n/);
    expect(done.stdout).toMatch(/^✓ read {10}app_sign and sign were accepted: 40106 /m);
    expect(done.stdout).toMatch(/^✓ passback/m);
    expect(done.status).toBe(0);
    expect(stored()).toMatchObject({
      base_url: `${origin}/v2`,
      tenant_code: 'acme',
      channel: 'web',
      app_key: 'app-1',
      secret: { kind: 'environment', name: 'SHOP' },
    });
    expect(received.at(-1)).toMatchObject({ status: 40106 });
    const read = await machine.run(['read', 'good', '-p', 'shop'], { env: { SHOP: secret } });
    expect(read).toMatchObject({ status: 0 });
    expect(done.stdout + done.stderr + JSON.stringify(stored())).not.toContain(secret);
  });

  it('keeps the rules of a platform file that sign the request, and searches the others', async () => {
    const form = ['union_id', 'primary_key', 'user_info'];
    const query = { kvSep: '', pairSep: '', exclude: form };
    const sign = {
      params: query,
      message: ['$secret$params$secret'],
      steps: ['md5'],
      output: 'HEX',
    };
    const rules = [
      [{ sign }, { sign: 'kept, it signs the requests', app_sign: 'found' }],
      [{ app_sign: sign }, { sign: 'found', app_sign: 'found' }],
    ] as const;
    await sentByCurl(request());
    for (const [signing, origins] of rules) {
      rmSync(machine.configFolder, { recursive: true, force: true });
      const platform = file('platform.json', JSON.stringify({ signing }));
      const done = await add(file('captured.txt', request()), '--yes', '--platform', platform);
      expect(done).toMatchObject({ status: 0 });
      for (const [name, origin] of Object.entries(origins))
        expect(done.stderr).toMatch(new RegExp(`^ {2}${name}: .* \\(${origin}\\)$`, 'm'));
      const isKept = origins.sign.startsWith('kept');
      expect(stored().platform.signing.sign.params.exclude).toEqual(isKept ? form : undefined);
    }
  });

  it('takes a line of a log, whose host it cannot know, with --base-url', async () => {
    await sentByCurl(request());
    const captured = file('access.log', `${log.join('\n')}\n`);
    const bare = await add(captured, '--yes');
    expect(bare.stderr).toContain('missing: --base-url');
    expect(bare.status).toBe(2);
    const done = await add(captured, '--yes', '--base-url', `${origin}/v2`);
    expect(done).toMatchObject({ status: 0, stderr: expect.not.stringContaining('base URL:') });
  });

  it('takes of a HAR file headers that every request has alike, and no private one', async () => {
    const done = await add(
      file('a.har', har(request(), request({ random: 'b01d77aa03' }))),
      '--yes',
    );
    expect(stored().headers).toEqual({ 'X-Region': 'cn-east' });
    expect(received.at(-1)?.region).toBe('cn-east');
    for (const source of ['Cookie=env:COOKIE', 'X-Pin=env:X_PIN', 'X-User=env:X_USER'])
      expect(done.stderr).toContain(`userinfo profile set shop --header ${source}\n`);
    expect(done.stderr).not.toContain('session=1');
  });

  it('asks on a terminal for the secret, and before it stores anything', async () => {
    const args = [
      'profile',
      'add',
      'shop',
      ...quick,
      '--from',
      file('captured.txt', `curl '${request()}'`),
    ];
    const yes = await machine.onTerminal(args, [
      ['Environment', ''],
      ['App secret', secret],
      ['Store "shop"', 'y'],
    ]);
    expect(yes).toMatchObject({ status: 0 });
    expect(yes.stdout).not.toContain(secret);
    expect(stored().secret).toEqual({ kind: 'file', value: secret });
  });

  it('reads a pipe; without a terminal, nothing is stored unless --yes says so', async () => {
    const args = ['profile', 'add', 'shop', '--from', '-', '--app-secret-env', 'SHOP', ...quick];
    const options = { stdin: `curl '${request()}'`, env: { SHOP: secret } };
    const asked = await machine.run(args, options);
    expect(asked.stderr).toContain('confirmation needed');
    expect(asked.status).toBe(2);
    expect(received).toEqual([]);
    // Of two applications it takes the one that an option names.
    const two = `${options.stdin}\ncurl '${request({ app_key: 'app-2' })}'`;
    const named = [...args, '--yes', '--app-key', 'app-2'];
    expect(await machine.run(named, { ...options, stdin: two })).toMatchObject({ status: 0 });
    expect(stored().app_key).toBe('app-2');
    const both = await machine.run(
      ['profile', 'add', 'b', '--from', '-', '--app-secret-stdin'],
      options,
    );
    expect(both.stderr).toContain('cannot both come from');
    expect(both.status).toBe(2);
  });

  const refused: readonly (readonly [
    what: string,
    capture: () => string,
    says: string,
    next: string,
  ])[] = [
    ['no request', () => 'nothing here\n', 'this does not look like a request', 'It can be'],
    [
      'a request elsewhere',
      () => `curl '${request().replace('/api/v1/', '/other/')}'`,
      'has no request to the platform',
      'user_info_for_third',
    ],
    [
      'no signature',
      () => `curl '${request().replace(/&sign=\w+/, '')}'`,
      'has no parameter "sign"',
      'leave out --from',
    ],
    [
      'two applications',
      () => `curl '${request()}'\ncurl '${request({ app_key: 'app-2' })}'`,
      'has requests of 2 applications',
      'Choose one, by --app-key',
    ],
    [
      'a masked signature',
      () => `curl '${request().replace(/&sign=.{8}/, '&sign=****')}'`,
      'is masked',
      '--reveal',
    ],
    [
      'an address without TLS',
      () => `curl '${request().replace('127.0.0.1', 'api.example.com')}'`,
      'is plain http',
      '--allow-http',
    ],
    [
      'before the search, a header with a control character',
      () =>
        `GET ${request().replace(/&sign=.{8}/, '&sign=00000000')} HTTP/1.1\nHost: e.com\nX-Region: e\x1bu\n\n`,
      'X-Region',
      '',
    ],
  ];

  it.each(refused)('refuses %s, and stores nothing', async (_, capture, says, next) => {
    const done = await add(file('captured.txt', capture()), '--yes');
    expect([done.status, received]).toEqual([2, []]);
    expect(done.stderr).toContain(says);
    expect(done.stderr).toContain(next);
    expect(() => stored()).toThrow();
  });

  it('says what to do where no rule is found, first of all that the secret may be wrong', async () => {
    const captured = file('captured.txt', `curl '${request({}, 'another-secret')}'`);
    const done = await add(captured, '--yes');
    expect([done.status, received]).toEqual([4, []]);
    expect(done.stderr).toContain('no rule was found for the sign of the requests');
    expect(done.stderr).toContain('Nothing was stored. A wrong app secret is the likeliest cause');
    const lines = done.stderr.matchAll(/^ {2}(userinfo profile add .*)$/gm);
    const [again = '', line = ''] = Array.from(lines, ([, command = '']) => command);
    expect(again).toContain('--from captured.txt');
    expect(await machine.type(`${line} --app-secret-env SHOP`)).toMatchObject({ status: 0 });
    expect(done.stderr).toContain('userinfo sign solve -p shop --save shop --sample captured.txt');
  });
});
