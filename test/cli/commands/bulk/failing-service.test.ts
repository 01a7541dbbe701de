import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ServedMachine } from '../../../support/served.js';

let machine: ServedMachine;
afterEach(() => machine[Symbol.asyncDispose]());

/** More of them show the same at full size. */
const count = 300;
const timeout = 60_000 + count * 10;
const unionIds = Array.from({ length: count }, (_, i) => `x${i}`);

async function served(...args: string[]): Promise<void> {
  machine = await ServedMachine.create(args);
  await machine.putUsers(unionIds);
}

/** Rows for the first users. */
function writeRows(length = count): string {
  const rows = unionIds.slice(0, length).map((unionId, i) => `${unionId},v${i}`);
  writeFileSync(join(machine.folder, 'rows.csv'), `union_id,x\n${rows.join('\n')}\n`);
  return 'rows.csv';
}

const passBack = (...args: string[]) => machine.run(['-p', 'local', 'bulk', 'passback', ...args]);

function resultsOf(name: string): { line: number; union_id: string; outcome: string }[] {
  const lines = readFileSync(join(machine.folder, `${name}.results.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Checks that each row has one outcome, and that what is said to be written is. */
async function account(name: string, length = count): Promise<Map<string, number>> {
  const results = resultsOf(name);
  expect(results.map(({ line }) => line).sort((a, b) => a - b)).toEqual(
    Array.from({ length }, (_, i) => i + 2),
  );
  const stored = await machine.extensionInfo();
  const counts = new Map<string, number>();
  for (const { union_id, line, outcome } of results) {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (outcome === 'ok') expect(stored.get(union_id)).toEqual({ x: `v${line - 2}` });
  }
  return counts;
}

describe('every row is accounted for', { timeout }, () => {
  it('while the service is killed and restarted', async () => {
    await served();
    const name = writeRows();
    const running = passBack(name, '--rate', `${Math.round(count / 1.5)}/s`);
    while (!machine.log.includes(' 200 passback ')) await wait(20);
    const { port } = new URL(machine.url);
    await machine.stop('SIGKILL');
    await machine.serve(['--port', port]);
    expect((await running).status).toBe(0);
    expect(await account(name)).toEqual(new Map([['ok', count]]));
  });

  it('while it throttles, which is not a failure', async () => {
    // So low that a machine is throttled however slow it is.
    await served('--rate-limit', `${Math.min(200, count / 30)}/s`);
    const length = count / 10;
    const done = await passBack(writeRows(length));
    expect(done.status).toBe(0);
    expect(await account('rows.csv', length)).toEqual(new Map([['ok', length]]));
    expect(machine.log.match(/ 42901 /g)?.length).toBeGreaterThan(0);
  });

  it('if 5 % of the answers are 5xx', async () => {
    await served('--fault', 'error=5%,seed=5');
    const done = await passBack(writeRows(), '--attempts', '1');
    expect(done.status).toBe(6);
    const counts = await account('rows.csv');
    expect(counts.get('unknown')).toBeGreaterThan(5);
    expect(counts.get('failed')).toBeUndefined();
    expect(done.stderr).toContain(
      'resume with:\n  userinfo -p local bulk passback rows.csv --attempts 1 --resume\n',
    );

    const more = await passBack('rows.csv', '--attempts', '5', '--resume');
    expect(more.status).toBe(0);
    expect(await account('rows.csv')).toEqual(new Map([['ok', count]]));
  });

  it('if 2 % of the connections close after the write: those rows are unknown, not ok', async () => {
    await served('--fault', 'drop-after-commit=2%,seed=5');
    const name = writeRows();
    const done = await passBack(name, '--attempts', '1', '--failed', 'again.csv');
    expect(done.status).toBe(6);
    const counts = await account(name);
    const unknown = counts.get('unknown') ?? 0;
    expect(unknown).toBeGreaterThan(0);
    const again = readFileSync(join(machine.folder, 'again.csv'), 'utf8').trimEnd().split('\n');
    expect(again).toHaveLength(1 + unknown);
    expect((await passBack('again.csv')).status).toBe(0);
  });
});

describe('a run stops if all rows would fail', () => {
  it('at a refused signature, with status 4; the right secret resumes it', async () => {
    await served();
    const name = writeRows(100);
    const before = machine.log.length;
    const wrong = { USERINFO_APP_SECRET: 'not-the-secret-at-all' };
    const args = ['-p', 'local', 'bulk', 'passback', name];
    const refused = await machine.run(args, { env: wrong });
    expect(refused).toMatchObject({ status: 4, stdout: '' });
    expect(refused.stderr).toContain('error: the service answered 40102 "app_sign is wrong"\n');
    expect(refused.stderr).toContain(
      'resume with:\n  userinfo -p local bulk passback rows.csv --resume\n',
    );
    expect(machine.log.slice(before).match(/ 40102 /g)?.length).toBeLessThanOrEqual(32);
    expect((await machine.run([...args, '--resume'])).status).toBe(0);
    expect(await account(name, 100)).toEqual(new Map([['ok', 100]]));
  });

  it('if nothing answers, with status 5', async () => {
    await served();
    const name = writeRows();
    await machine.stop();
    const done = await passBack(name);
    expect(done).toMatchObject({ status: 5, stdout: '' });
    expect(done.stderr).toContain(`error: cannot connect to ${new URL(machine.url).host}`);
  });
});
