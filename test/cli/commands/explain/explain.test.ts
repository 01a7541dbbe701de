import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resultCodes } from '../../../../src/core/contract/result-codes.js';
import { Machine } from '../../../support/cli.js';

const machine = new Machine();

afterAll(() => machine[Symbol.dispose]());

describe('explain', () => {
  it('says what a code means, who can fix it, and whether to retry', async () => {
    const { status, stdout, stderr } = await machine.run(['explain', '40102']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/│ meaning +│ The service computes another app_sign/);
    expect(stdout).toMatch(/│ who can fix it +│ caller/);
    expect(stdout).toMatch(/│ try again +│ no /);
    const json = await machine.run(['explain', '42901', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      code: 42901,
      http_status: 429,
      try_again: 'any',
    });
  });

  it.each([
    ['HTTP 200, code 40102', 40102],
    ['error-40106 after HTTP 401', 40106],
    ['200 ok', 200],
    ['code: -6', -6],
    ['app_sign is wrong', 40102],
  ])('finds the code in the text %s', async (text, code) => {
    writeFileSync(join(machine.folder, 'p.json'), '{"result_codes":{"-6":"wrongSign"}}');
    const platform = code < 0 ? ['--platform', 'p.json'] : [];
    const { stdout } = await machine.run(['explain', text, '--json', ...platform]);
    expect(JSON.parse(stdout).code).toBe(code);
  });

  it('lists every code of the table', async () => {
    const { stdout } = await machine.run(['explain', '--query', '[].code', '--json']);
    expect(JSON.parse(stdout)).toEqual(resultCodes);
  });

  it('explains a code of "userinfo serve" that the platform does not have, and says so', async () => {
    writeFileSync(join(machine.folder, 'p.json'), '{"result_codes":{"-6":"wrongSign"}}');
    const done = await machine.run(['explain', '40106', '--json', '--platform', 'p.json']);
    expect(JSON.parse(done.stdout).msg).toBe('code is unknown, expired or used');
    expect(done.stderr).toBe('40106 is not a code of the platform: "userinfo serve" has it\n');
  });

  it.each([['49999'], ['040102'], ['x']])('reports that %s is not in the table', async (code) => {
    const done = await machine.run(['explain', code]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(`the code "${code}" is not in the table`);
  });
});
