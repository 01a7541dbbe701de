import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../../support/property-seed.js';
import { ServedMachine } from '../../../support/served.js';
import { type CountingProxy, countingProxy } from './counting-proxy.js';

const concurrency = 16;
/** More of them show the same at full size. */
const drawn = randomOf('killed');
const rowCount = 400;
/** In as many moments, at random, a run is killed that takes about this long, in seconds. */
const kills = 6;
const seconds = Math.max(2, rowCount / 1000);
let machine: ServedMachine;
let proxy: CountingProxy;

beforeAll(async () => {
  machine = await ServedMachine.create();
  proxy = await countingProxy(() => machine.url);
  await machine.run(['profile', 'set', 'local', '--base-url', proxy.url]);
}, 60_000);

afterAll(async () => {
  await proxy.close();
  await machine[Symbol.asyncDispose]();
});

interface Result {
  readonly line: number;
  readonly outcome: string;
}

/** The lines of a results file that are whole. */
function resultsOf(file: string): Result[] {
  const path = join(machine.folder, `${file}.results.ndjson`);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/**
 * Starts a command and kills it after a while in which it has come somewhere; gives its status if
 * it was faster.
 */
async function kill(
  args: readonly string[],
  file: string,
  afterMs: number,
): Promise<number | null> {
  const before = resultsOf(file).length;
  const run = machine.start(args);
  const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));
  while (run.exitCode === null && resultsOf(file).length === before) await wait(5);
  await Promise.race([ended, wait(afterMs)]);
  run.kill('SIGKILL');
  return ended;
}

/**
 * Kills a run of so many seconds so many times, then lets it come to its end; `check` sees what was
 * asked of the service in between.
 */
async function killOften(
  { times, seconds }: { readonly times: number; readonly seconds: number },
  args: readonly string[],
  file: string,
  check: (asked: readonly string[], finalBefore: ReadonlySet<number>) => void,
): Promise<number> {
  const maxPartMs = (seconds * 750) / times;
  let kills = 0;
  for (let round = 0; ; round += 1) {
    const finalBefore = new Set(
      resultsOf(file).flatMap(({ line, outcome }) => (outcome === 'unknown' ? [] : [line])),
    );
    const resume = round === 0 ? [] : ['--resume'];
    const isLast = kills === times;
    const status = isLast
      ? (await machine.run([...args, ...resume])).status
      : await kill([...args, ...resume], file, drawn() * maxPartMs);
    check(proxy.takeAsked(), finalBefore);
    if (status !== null) return status;
    kills += 1;
  }
}

describe('a run that is killed at random times', { timeout: 120_000 + rowCount * 30 }, () => {
  it('sends no row again that has an outcome, and ends as an uninterrupted run', async () => {
    const unionIds = Array.from({ length: rowCount }, (_, i) => `k${i}`);
    await machine.putUsers(unionIds);
    const rows = unionIds.map((unionId, i) => `${unionId},"v${i}\n${i}"`);
    writeFileSync(join(machine.folder, 'rows.csv'), `union_id,k\n${rows.join('\n')}\n`);
    const pace = ['--concurrency', String(concurrency), '--rate', `${rowCount / seconds}/s`];
    const args = ['-p', 'local', 'bulk', 'passback', 'rows.csv', ...pace];
    /** Each row has two lines. */
    const lineOf = (unionId: string) => 2 + 2 * Number(unionId.slice(1));

    let asked = 0;
    const status = await killOften(
      { times: kills, seconds },
      args,
      'rows.csv',
      (unionIdsAsked, finalBefore) => {
        asked += unionIdsAsked.length;
        expect(unionIdsAsked.filter((unionId) => finalBefore.has(lineOf(unionId)))).toEqual([]);
      },
    );

    expect(status).toBe(0);
    expect(asked).toBeLessThanOrEqual(unionIds.length + kills * concurrency);
    const results = resultsOf('rows.csv');
    expect(results.map(({ line }) => line).sort((a, b) => a - b)).toEqual(unionIds.map(lineOf));
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['ok']));
    const stored = await machine.extensionInfo();
    for (const [i, unionId] of unionIds.entries())
      expect(stored.get(unionId)).toEqual({ k: `v${i}\n${i}` });
  });

  it('sends no code twice', async () => {
    const codes = await machine.issueCodes(40);
    writeFileSync(
      join(machine.folder, 'codes.csv'),
      `who,code\n${codes.map((code) => `x,${code}`).join('\n')}\n`,
    );
    const args = ['-p', 'local', 'bulk', 'read', 'codes.csv', 'mobile', '--concurrency', '4'];
    const asked = new Map<string, number>();
    await killOften(
      { times: 3, seconds: 1 },
      [...args, '--rate', '40/s'],
      'codes.csv',
      (codesAsked) => {
        for (const code of codesAsked) asked.set(code, (asked.get(code) ?? 0) + 1);
      },
    );
    expect(Math.max(...asked.values())).toBe(1);
    const results = resultsOf('codes.csv');
    expect(results.map(({ line }) => line).sort((a, b) => a - b)).toEqual(
      codes.map((_, i) => i + 2),
    );
    for (const result of results) {
      if (result.outcome === 'unknown') continue;
      expect(result).toMatchObject({ outcome: 'ok', code: 200, data: { mobile: '13800138000' } });
    }
    expect(results.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(0);
  });
});
