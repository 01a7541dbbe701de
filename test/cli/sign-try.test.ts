import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPreset, presets } from '../../src/signing/presets.js';
import { httpServer } from '../support/raw-server.js';
import { ServedMachine } from '../support/served.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});
afterAll(() => machine[Symbol.asyncDispose]());

const quick = ['--rate', '1000/s'];

/** Makes an app whose rules are presets, and a profile with its secret and the default recipes. */
async function appOf(name: string, app_sign: string, sign: string): Promise<void> {
  const file = join(machine.folder, `${name}.json`);
  const recipes = { app_sign: findPreset(app_sign)?.recipe, sign: findPreset(sign)?.recipe };
  writeFileSync(file, JSON.stringify({ signing: recipes }));
  const app = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', name, '--base-url', machine.url];
  await machine.admin(['app', 'create', ...app, '--platform', file, '--profile', name]);
  await machine.run(['profile', 'set', name, '--signing-preset', 'default']);
}

describe('sign try', () => {
  it.each([
    ['by-md5', 'app-key-timestamp-md5', 'taobao'],
    ['by-hmac', 'taobao', 'path-kv-hmac-sha256'],
  ])('finds the presets of a service without any accepted request: %s', async (name, app_sign, sign) => {
    await appOf(name, app_sign, sign);
    const code = await machine.issueCode();
    expect(await machine.run(['read', code, '-p', name])).toMatchObject({ status: 4 });
    const args = ['sign', 'try', '-p', name, '--save', name, '--yes', '--json', ...quick];
    const { status, stdout, stderr } = await machine.run(args);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `saved in profile "${name}": app_sign=${app_sign},sign=${sign}\n`,
    });
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({ app_sign, sign, answer: expect.stringMatching(/^40106 /) });
    expect(found.requests).toBeLessThan(45);
    expect(await machine.run(['read', code, '-p', name])).toMatchObject({ status: 0 });
  });

  /** A platform that answers each read with the next of these codes, then with the last one. */
  async function platform(...codes: readonly (readonly [code: number, msg: string])[]) {
    const times: number[] = [];
    const server = await httpServer((_, response) => {
      times.push(performance.now());
      const [code, msg] = codes[Math.min(server.requests.length, codes.length) - 1] ?? [0, ''];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code, msg, data: null }));
    });
    return Object.assign(server, { times });
  }

  const wrongAppSign = [40102, 'app_sign is wrong'] as const;
  const wrongSign = [40103, 'sign is wrong'] as const;
  const sendTo = (url: string, ...args: string[]) =>
    machine.run(['sign', 'try', '-p', 'local', '--base-url', url, ...quick, ...args]);

  it('stops at the first answer that is about something else, and shows it', async () => {
    const server = await platform(wrongAppSign, wrongAppSign, wrongSign, [42901, 'too many']);
    const { status, stderr, stdout } = await sendTo(server.url, '--yes');
    await server.close();
    expect({ status, stdout, sent: server.requests.length }).toEqual({ status: 4, stdout: '', sent: 4 });
    expect(stderr).toContain('the service answered 42901 "too many"');
    expect(stderr).toContain('The last presets: app_sign=wechatpay-md5,sign=sorted-md5.');
  });

  it('ends with 4 where no preset fits, after each was tried once, with the same unknown code', async () => {
    const server = await platform(wrongAppSign);
    const { status, stderr } = await sendTo(server.url, '--yes', '--rate', '40/s');
    await server.close();
    expect({ status, sent: server.requests.length }).toEqual({ status: 4, sent: presets.length });
    const [first = 0, last = 0] = [server.times[0], server.times.at(-1)];
    expect(last - first).toBeGreaterThan((presets.length - 1) * 20);
    expect(stderr).toContain(
      `no preset gives the app_sign of this deployment: ${presets.length} requests were sent`,
    );
    const queries = server.requests.map(({ query }) => new URLSearchParams(query));
    expect(new Set(queries.map((query) => query.get('code'))).size).toBe(1);
    expect(queries[0]?.get('code')).toMatch(/^nobody-[0-9a-f]{16}$/);
    expect(new Set(queries.map((query) => query.get('app_sign'))).size).toBeGreaterThan(15);
  });

  it('does not take a wrong length of sign for a right app_sign', async () => {
    const server = await platform([40002, 'sign has 32 characters, not 64'], wrongAppSign, wrongSign, [
      40106,
      'the code is not valid',
    ]);
    const { status, stdout } = await sendTo(server.url, '--yes', '--json');
    await server.close();
    expect({ status, found: JSON.parse(stdout) }).toMatchObject({
      status: 0,
      found: { app_sign: 'sorted-md5', requests: 4 },
    });
    const lengths = server.requests.map(({ query }) => new URLSearchParams(query).get('sign')?.length);
    expect(lengths[0]).toBe(32);
    expect(lengths.slice(1)).toEqual([64, 64, 64]);
  });

  it('sends nothing to production, or without consent', async () => {
    const server = await platform(wrongAppSign);
    const refused = await sendTo(server.url);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('confirmation needed');
    expect(refused.stderr).toContain('Send up to 4');
    const production = await sendTo(server.url, '--yes', '--environment', 'production');
    expect(production).toMatchObject({ status: 2, stdout: '' });
    expect(production.stderr).toContain('is production');
    await server.close();
    expect(server.requests).toEqual([]);
  });
});
