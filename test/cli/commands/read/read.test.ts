import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedMachine } from '../../../support/served.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});

afterAll(() => machine[Symbol.asyncDispose]());

const local = ['-p', 'local'];

describe('read', () => {
  it('reports which names are missing from the answer', async () => {
    const named = await machine.run([
      ...local,
      'read',
      await machine.issueCode(),
      'mobile, nonexisting',
      'id_card',
    ]);
    expect(named).toMatchObject({
      status: 0,
      stderr:
        'not in the answer: nonexisting, id_card (no value, not authorized, or no such name)\n',
    });
    expect(named.stdout).toMatch(/│ mobile +│ 13800138000 +│/);
  });

  it('reads a key that is the name of a member of every object', async () => {
    const passedBack = ['passback', 'constructor=x', '--union-id', 'u001'];
    expect(await machine.run([...local, ...passedBack])).toMatchObject({ status: 0 });
    const read = [
      ...local,
      'read',
      await machine.issueCode(),
      'constructor',
      '--query',
      'data.constructor',
    ];
    expect(await machine.run(read)).toMatchObject({ status: 0, stdout: 'x\n', stderr: '' });
  });

  it('counts them for many rows', async () => {
    const codes = await machine.issueCodes(3);
    const limited = await machine.issueCode('--names', 'chat_nickname');
    const stdin = ['code', ...codes, limited, ''].join('\n');
    const args = 'bulk read - mobile,moblie --results r.ndjson'.split(' ');
    const done = await machine.run([...local, ...args], { stdin });
    expect(done.status).toBe(0);
    expect(done.stderr).toContain(
      'not in the answer: moblie in 4 rows, mobile in 1 row (no value, not authorized, or no such name)\n',
    );
  });

  it.each([
    [[''], 'the list of info names is empty'],
    [[','], 'the list of info names is empty'],
  ])('refuses the names %j with status 2, and uses no code', async (names, said) => {
    writeFileSync(`${machine.folder}/codes.csv`, 'code\nc1\n');
    const logged = machine.log;
    for (const args of [
      ['read', 'c', ...names],
      ['bulk', 'read', `${machine.folder}/codes.csv`, ...names],
    ]) {
      const done = await machine.run([...local, ...args]);
      expect(done).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(said) });
    }
    expect(machine.log).toBe(logged);
  });

  it('sends whatever --scope says', async () => {
    const done = await machine.run([
      ...local,
      ...'read c --scope snsapi_base --dry-run --json'.split(' '),
    ]);
    expect(JSON.parse(done.stdout).query.scope).toBe('snsapi_base');
  });

  it('uses a code once', async () => {
    const code = await machine.issueCode();
    expect(await machine.run([...local, 'read', code])).toMatchObject({ status: 0 });
    const again = await machine.run([...local, 'read', code]);
    expect(again.status).toBe(4);
    expect(again.stdout).toMatch(/^40106 /m);
  });
});
