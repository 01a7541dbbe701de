import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

const secret = 'k7Qz-4711-Wb';
const variable = 'CLOUD_SECRET_KEY';
const partner = {
  name: 'partner',
  environment: 'test',
  base_url: 'https://evil.example',
  tenant_code: 'a',
  channel: 'w',
  app_key: 'k',
};
let machine: Machine;

beforeEach(() => {
  machine = new Machine();
});

afterEach(() => {
  expect(machine.printed).not.toContain(secret);
  machine[Symbol.dispose]();
});

/** Imports a file that holds this text, or this JSON. */
function importOf(content: object | string, ...more: string[]) {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(machine.folder, 'partner.json'), text);
  return machine.run(['profile', 'import', 'partner.json', ...more], {
    env: { [variable]: secret },
  });
}
const stored = () => existsSync(machine.profileFile);

describe('an imported profile', () => {
  it('says where digests of the secret go, before it is typed', async () => {
    writeFileSync(join(machine.folder, 'partner.json'), JSON.stringify(partner));
    const typed = await machine.onTerminal(
      ['profile', 'import', 'partner.json'],
      [['App secret', secret]],
    );
    expect(typed.status).toBe(0);
    const shown = typed.stdout.indexOf('"partner" sends digests of its secret to evil.example.');
    expect(shown).toBeGreaterThanOrEqual(0);
    expect(typed.stdout.indexOf('App secret')).toBeGreaterThan(shown);
  });

  it('gets its secret by an option where there is no terminal', async () => {
    expect(await importOf(partner, '--no-input')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('missing: --app-secret-stdin'),
    });
    expect(stored()).toBe(false);
    expect(await importOf(partner, '--app-secret-env', variable)).toMatchObject({
      status: 0,
      stderr: 'added "partner" (test, evil.example), now active\n',
    });
  });

  it('is what profile export printed, which leaves out what is of this machine, and says so', async () => {
    const own = [
      ...['--proxy', 'http://127.0.0.1:3128', '--ca-file', 'ca.pem', '--allow-http'],
      ...['--header', `X-Key=env:${variable}`, '--header', `x-other=env:${variable}`],
    ];
    await importOf(partner, '--app-secret-env', variable);
    const platform = { headers: ['x-key'], chat_prefix: 'wx_' };
    writeFileSync(join(machine.folder, 'platform.json'), JSON.stringify(platform));
    expect(
      (await machine.run(['profile', 'set', 'partner', ...own, '--platform', 'platform.json']))
        .status,
    ).toBe(0);
    const exported = await machine.run(['profile', 'export', 'partner']);
    expect(exported.stderr).toBe(
      'left out: the app secret, the value of the header X-Key, the value of the header x-other, ca_file, ' +
        'proxy, allow_http\n',
    );
    expect(JSON.parse(exported.stdout)).toEqual({
      ...partner,
      platform: { ...platform, headers: ['X-Key', 'x-other'] },
    });
    const again = await importOf(exported.stdout, '--name', 'again', '--app-secret-env', variable);
    expect(again).toMatchObject({ status: 0 });
    const { profiles } = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    expect(Object.keys(profiles.again).sort()).toEqual(
      [...Object.keys(partner).slice(1), 'platform', 'secret'].sort(),
    );
  });
});

it('a key that occurs twice in an imported file is refused with its place', async () => {
  const text = JSON.stringify(partner, null, 2);
  const doubled = text.replace(
    '"tenant_code"',
    '"base_url": "https://shop.example",\n  "tenant_code"',
  );
  const refused = await importOf(doubled, '--app-secret-env', variable);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toMatch(
    /^error: the file "partner.json": duplicate key at line 5, column \d+\n/,
  );
  expect(stored()).toBe(false);
});

describe('a host that gets the requests of an imported profile', () => {
  const start = (steps: string[]) => ({ message: ['$secret'], steps });
  const ofValues = (slice: string) => ({
    params: { include: [], add: { k: '$secret' }, names: false },
    message: ['$params'],
    steps: [slice, 'md5'],
  });
  it.each<[string, object, object]>([
    ['of cuts of the message', start(['slice:0:3', 'md5']), start(['slice:3:6', 'md5'])],
    [
      'of cuts behind another digest',
      start(['md5', 'append:$secret', 'slice:32:35', 'md5']),
      start(['md5', 'append:$secret', 'slice:35:38', 'md5']),
    ],
    ['of cuts of a value', ofValues('slice:0:3'), ofValues('slice:3:6')],
  ])('learns no part of the secret from digests %s', async (_, app_sign, sign) => {
    const host = await httpServer((_, response) => response.end('{"code":40102,"msg":"no"}'));
    const platform = { signing: { app_sign, sign } };
    const imported = await importOf(
      { ...partner, base_url: host.url, platform },
      '--app-secret-env',
      variable,
    );
    await machine.run(['read', 'c1', '--no-input'], { env: { [variable]: secret } });
    await host.close();
    const requests = host.requests.map(({ query }) =>
      Object.fromEntries(new URLSearchParams(query)),
    );
    expect(await recover({ requests })).toEqual([]);
    expect(imported.status).toBe(2);
    expect(imported.stderr).toContain('A digest of a part of the secret gives that part away');
    expect(requests).toEqual([]);
  });
});

/** What a program of the host's own finds by trial. */
async function recover(given: object): Promise<unknown> {
  const script = join(import.meta.dirname, 'recover-secret.py');
  const child = spawn('python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(given));
  return json(child.stdout);
}
