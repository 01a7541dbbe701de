import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';
import { httpServer } from '../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
const codes: number[] = [];
const written = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';

beforeAll(async () => {
  server = await httpServer((_, response) => {
    const code = codes.shift();
    response.end(code === undefined ? written : `{"code":${code},"msg":"busy","data":{}}`);
  });
  const values = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'a1', '--base-url', server.url];
  await machine.run(['profile', 'add', 'shop', ...values, '--app-secret-stdin'], { stdin: 's' });
});
afterAll(async () => {
  machine[Symbol.dispose]();
  await server.close();
});

it("the platform's result codes come from --result-codes or the profile, and decide on retries and hints", async () => {
  const file = join(machine.profileFile, '../codes.json');
  writeFileSync(
    file,
    '{"1001": "tooManyRequests", "1003": {"means": "codeNotValid", "hint": "Sign in anew."}}',
  );
  codes.push(1001);
  const plain = await machine.run(['read', 'c1']);
  expect(plain).toMatchObject({ status: 4 });
  expect(plain.stderr).toContain('The code is not in the table');
  codes.push(1001);
  expect(await machine.run(['read', 'c1', '--result-codes', file])).toMatchObject({ status: 0 });
  const set = await machine.run(['profile', 'set', 'shop', '--result-codes', file]);
  expect(set.status).toBe(0);
  codes.push(1001, 1003);
  const refused = await machine.run(['read', 'c1']);
  expect(refused).toMatchObject({ status: 4 });
  expect(refused.stderr).toContain('Sign in anew.');
  expect((await machine.run(['profile', 'show', 'shop'])).stdout).toMatch(/result codes +│ 1001, 1003/);

  const explained = await machine.run(['explain', '1003']);
  expect(explained.stdout).toContain('Sign in anew.');
  expect(explained.stdout).not.toContain('HTTP status');
  expect(await machine.run(['explain', '40102'])).toMatchObject({ status: 2 });

  writeFileSync(file, '{"1001": "tooMany"}');
  const wrong = await machine.run(['profile', 'set', 'shop', '--result-codes', file]);
  expect(wrong).toMatchObject({ status: 2 });
  expect(wrong.stderr).toContain('"1001": means is not valid');
  await machine.run(['profile', 'set', 'shop', '--result-codes', '']);
  expect(readFileSync(machine.profileFile, 'utf8')).not.toContain('1001');
});

it('a file of recipes may have the result codes of the platform, for a profile', async () => {
  const file = join(machine.profileFile, '../platform.json');
  const recipe = { message: ['$params', '$secret'], steps: ['sha256'] };
  const write = (result_codes: unknown) =>
    writeFileSync(file, JSON.stringify({ app_sign: recipe, sign: recipe, result_codes }));
  const shown = async () => (await machine.run(['profile', 'show', 'shop'])).stdout;
  const set = (...args: string[]) => machine.run(['profile', 'set', 'shop', '--signing', file, ...args]);

  write({ 2001: 'tooManyRequests' });
  expect(await set()).toMatchObject({ status: 0 });
  expect(await shown()).toMatch(/result codes +│ 2001 /);
  codes.push(2001);
  expect(await machine.run(['read', 'c1'])).toMatchObject({ status: 0 });
  const explained = await machine.run(['sign', 'explain', 'read', 'c1', '--recipe', file, '--json']);
  expect(JSON.parse(explained.stdout).sign.digest).toHaveLength(64);

  const own = join(machine.profileFile, '../own.json');
  writeFileSync(own, '{"2002": "codeNotValid"}');
  expect(await set('--result-codes', own)).toMatchObject({ status: 0 });
  expect(await shown()).toMatch(/result codes +│ 2002 /);

  write({ 2001: 'tooMany' });
  const wrong = await set();
  expect(wrong).toMatchObject({ status: 2 });
  expect(wrong.stderr).toContain('result_codes: "2001": means is not valid');
});
