import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

const secret = 'k7Qz-4711-Wb';
const variable = 'CLOUD_SECRET_KEY';
const partner = {
  name: 'partner',
  environment: 'test',
  base_url: 'https://evil.example',
  tenant_code: 'a',
  channel: 'w',
  app_key: 'k',
  secret: { kind: 'environment', name: variable },
};
const question = `"partner" reads its secret from $${variable}, and digests of it go to evil.example. Import it?`;
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
  return machine.run(['profile', 'import', 'partner.json', ...more], { env: { [variable]: secret } });
}
const stored = () => existsSync(machine.profileFile);

const notSet = 'warning: the environment variable MINE, which should hold the app secret, is not set\n';

describe('an imported profile that names the variable of its secret', () => {
  it('is added only with --yes where there is no terminal', async () => {
    const refused = await importOf(partner, '--no-input');
    expect(refused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(question) });
    expect(stored()).toBe(false);
    expect(await importOf(partner, '--yes')).toMatchObject({
      status: 0,
      stderr: 'added "partner" (test, evil.example), now active\n',
    });
  });

  it('is asked about on a terminal, where the answer is no unless it is yes', async () => {
    writeFileSync(join(machine.folder, 'partner.json'), JSON.stringify(partner));
    const ask = (answer: string) =>
      machine.onTerminal(['profile', 'import', 'partner.json'], [['Import it?', answer]]);
    for (const answer of ['n', '']) {
      const declined = await ask(answer);
      expect(declined.stdout.replace(/\s+/g, ' ')).toContain(question);
      expect([declined.status, stored()]).toEqual([2, false]);
    }
    expect(await ask('y')).toMatchObject({ status: 0 });
    expect(stored()).toBe(true);
  });

  it('needs no question where the options name the secret', async () => {
    const done = await importOf(partner, '--app-secret-env', 'MINE');
    expect(done).toMatchObject({
      status: 0,
      stderr: `added "partner" (test, evil.example), now active\n${notSet}`,
    });
    expect(JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.partner.secret.name).toBe('MINE');
  });
});

it('one question names all that an imported profile may do', async () => {
  const refused = await importOf({
    ...partner,
    base_url: 'http://evil.example',
    allow_http: true,
    secret: { kind: 'command', command: 'cat ~/.netrc' },
    signing: { module: './signer.mjs' },
  });
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain(
    '"partner" reads its secret from the output of a command, and digests of it go to evil.example, over plain HTTP. ' +
      'The profile runs code with your permissions: "cat ~/.netrc"; the module ./signer.mjs. Import it?',
  );
});

describe('an imported profile without a secret', () => {
  const bare = { ...partner, secret: { kind: 'file' } };

  it('says where digests of the secret go, before it is typed', async () => {
    writeFileSync(join(machine.folder, 'partner.json'), JSON.stringify(bare));
    const typed = await machine.onTerminal(['profile', 'import', 'partner.json'], [['App secret', secret]]);
    expect(typed.status).toBe(0);
    const shown = typed.stdout.indexOf('"partner" sends digests of its secret to evil.example.');
    expect(shown).toBeGreaterThanOrEqual(0);
    expect(typed.stdout.indexOf('App secret')).toBeGreaterThan(shown);
  });

  it('is added without a question where the options give the secret, and says that it sends over plain HTTP', async () => {
    const done = await importOf(
      { ...bare, base_url: 'http://evil.example', allow_http: true },
      '--app-secret-env',
      'MINE',
    );
    expect(done).toMatchObject({
      status: 0,
      stderr: `added "partner" (test, evil.example), over plain HTTP, now active\n${notSet}`,
    });
  });
});

it('a key that occurs twice in an imported file is refused with its place', async () => {
  const text = JSON.stringify(partner, null, 2);
  const doubled = text.replace('"tenant_code"', '"base_url": "https://shop.example",\n  "tenant_code"');
  const refused = await importOf(doubled, '--yes');
  expect(refused.status).toBe(2);
  expect(refused.stderr).toMatch(/^error: the file "partner.json": duplicate key at line 5, column \d+\n/);
  expect(stored()).toBe(false);
});

describe('a host that gets the requests of an imported profile', () => {
  const start = (steps: string[]) => ({ message: ['$secret'], steps });
  const ofSub = (from: number, to: number) => ({
    message: ['$sub'],
    steps: ['md5'],
    sub: { message: ['x'], steps: ['md5', 'append:$secret', `slice:${from}:${to}`] },
  });
  const ofValues = (slice: string) => ({
    params: { include: [], add: { k: '$secret' } },
    message: ['$values'],
    steps: [slice, 'md5'],
  });
  const keyed = { ...ofSub(32, 35), message: ['x'], steps: ['hmac-md5'], key: { tokens: ['$sub'] } };
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-'];
  const vowels = Object.fromEntries(
    letters.map((letter) => [letter, /[aeiou1234]/i.test(letter) ? '1' : '0']),
  );
  const merged = {
    params: { include: [], add: { k: '$secret' }, escape: vowels },
    message: ['$values'],
    steps: ['md5'],
  };
  const names = ['app_key', 'channel', 'tenant_code', 'k'];
  const placed = {
    params: { include: names.slice(0, 3), add: { k: '$secret' }, order: 'value' },
    message: ['$names'],
    steps: ['md5'],
  };

  it.each<[string, object, object]>([
    ['of cuts of the message', start(['slice:0:3', 'md5']), start(['slice:3:6', 'md5'])],
    [
      'of cuts behind another digest',
      start(['md5', 'append:$secret', 'slice:32:35', 'md5']),
      start(['md5', 'append:$secret', 'slice:35:38', 'md5']),
    ],
    ['of cuts in $sub', ofSub(32, 35), ofSub(35, 38)],
    ['of cuts of a value', ofValues('slice:0:3'), ofValues('slice:3:6')],
    ['keyed by a cut', keyed, keyed],
    ['of a secret with merged letters', merged, merged],
    ['of names sorted by value', placed, placed],
  ])('learns no part of the secret from digests %s', async (_, app_sign, sign) => {
    const requests: object[] = [];
    const host = createServer(({ url = '' }, response) => {
      requests.push(Object.fromEntries(new URL(url, 'http://x').searchParams));
      response.end('{"code":40102,"msg":"no"}');
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    const imported = await importOf({ ...partner, base_url, signing: { app_sign, sign } }, '--yes');
    await machine.run(['read', 'c1', '--no-input'], { env: { [variable]: secret } });
    host.close();
    expect(await recover({ requests, length: secret.length, names })).toEqual([]);
    expect(imported.status).toBe(2);
    expect(imported.stderr).toContain('A digest of a part of the secret gives that part away');
    expect(requests).toEqual([]);
  });
});

it('asks before the values of variables go to a host in headers, and never sends the app secret in one', async () => {
  const headers = { 'X-Key': { env: 'CLOUD_KEY' } };
  const shared = { ...partner, name: 'headed', secret: { kind: 'file' }, platform: { headers } };
  const asked = await importOf(shared, '--app-secret-env', variable);
  expect(asked).toMatchObject({ status: 2 });
  expect(asked.stderr).toContain('The values of $CLOUD_KEY go to');
  expect(await importOf(shared, '--app-secret-env', variable, '--yes')).toMatchObject({ status: 0 });
  const leak = await machine.run(['read', 'c1', '-p', 'headed', '--no-input'], {
    env: { [variable]: secret, CLOUD_KEY: `Bearer ${secret}` },
  });
  expect(leak).toMatchObject({ status: 2 });
  expect(leak.stderr).toContain('the header x-key would send the app secret');
});

/** What a program of the host's own finds by trial. */
async function recover(given: object): Promise<unknown> {
  const script = join(import.meta.dirname, '..', 'support', 'recover-secret.py');
  const child = spawn('python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(given));
  return json(child.stdout);
}
