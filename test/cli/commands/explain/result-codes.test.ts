import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
const codes: number[] = [];
const written = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';

beforeAll(async () => {
  server = await httpServer((_, response) => {
    const code = codes.shift();
    response.end(code === undefined ? written : `{"code":${code},"msg":"busy","data":{}}`);
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'shop', ...values, '--app-secret-stdin'], { stdin: 's' });
});
afterAll(async () => {
  machine[Symbol.dispose]();
  await server.close();
});

it("the platform's result codes come from --platform or the profile, and decide on retries and hints", async () => {
  const file = join(machine.profileFile, '../platform.json');
  const write = (result_codes: object, more = {}) =>
    writeFileSync(file, JSON.stringify({ result_codes, ...more }));
  write({ 1001: 'tooManyRequests', 1003: { means: 'codeNotValid', hint: 'Sign in anew.' } });
  codes.push(1001);
  const plain = await machine.run(['read', 'c1']);
  expect(plain).toMatchObject({ status: 4 });
  expect(plain.stderr).toContain(
    "To learn what the platform's codes mean, with a code of a test user:",
  );
  expect(plain.stderr).toContain('  userinfo probe -p shop --code "$code" --save-profile\n');
  codes.push(1001);
  const production = await machine.run(['read', 'c1', '--environment', 'production']);
  expect(production.stderr).toContain('The code is not in the table: ask the operator.');
  codes.push(1001);
  expect(await machine.run(['read', 'c1', '--platform', file])).toMatchObject({ status: 0 });
  codes.push(1001);
  const named = await machine.run(['read', 'c1'], { env: { USERINFO_PLATFORM: file } });
  expect(named).toMatchObject({ status: 0 });
  const set = await machine.run(['profile', 'set', 'shop', '--platform', file]);
  expect(set.status).toBe(0);
  codes.push(1001, 1003);
  const refused = await machine.run(['read', 'c1']);
  expect(refused).toMatchObject({ status: 4 });
  expect(refused.stderr).toContain('Sign in anew.');
  expect((await machine.run(['profile', 'show', 'shop'])).stdout).toMatch(
    /result codes +│ 1001, 1003/,
  );

  const explained = await machine.run(['explain', '1003']);
  expect(explained.stdout).toContain('Sign in anew.');
  expect(explained.stdout).not.toContain('HTTP status');
  const ofService = await machine.run(['explain', '40102']);
  expect(ofService.stderr).toContain('40102 is not a code of the platform');
  expect(await machine.run(['explain', '40102', '--platform', ''])).toMatchObject({ status: 0 });

  write({ 1001: 'tooMany' });
  const wrong = await machine.run(['profile', 'set', 'shop', '--platform', file]);
  expect(wrong).toMatchObject({ status: 2 });
  expect(wrong.stderr).toContain('result_codes: "1001": means is not valid');
  await machine.run(['profile', 'set', 'shop', '--platform', '']);
  expect(readFileSync(machine.profileFile, 'utf8')).not.toContain('1001');

  // A preset replaces a recipe of the file, and nothing else of it; the file has recipes for other
  // commands, too.
  const recipe = { message: ['$params', '$secret'], steps: ['sha256'] };
  write({ 2001: 'tooManyRequests' }, { signing: { app_sign: recipe, sign: recipe } });
  await machine.run(['profile', 'set', 'shop', '--platform', file, '--signing-preset', 'taobao']);
  const shown = await machine.run(['profile', 'show', 'shop']);
  expect(shown.stdout).toMatch(/app_sign by a custom recipe, sign by the preset\s+│?\s*taobao/);
  expect(shown.stdout).toMatch(/result codes +│ 2001 /);
  const signed = await machine.run(['sign', 'explain', 'read', 'c1', '--recipe', file, '--json']);
  expect(JSON.parse(signed.stdout).sign.digest).toHaveLength(64);
});
