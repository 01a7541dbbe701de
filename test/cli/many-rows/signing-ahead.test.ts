import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packSigner } from '../../../src/cli/bulk/packed-signer.js';
import { defaultRecipes } from '../../../src/signing/presets.js';
import { ServedMachine } from '../../support/served.js';

const preload = join(import.meta.dirname, '..', '..', 'support', 'busy-for.mjs');
const busyFor = (part: number) => ({ NODE_OPTIONS: `--import=${preload}`, UTILIZATION: String(part) });
const busy = busyFor(0.9);
const unionIds = Array.from({ length: 900 }, (_, i) => `x${i}`);
/** Slow enough for a thread to be there before the last row is sent. */
const rate = ['--rate', '900/s'];
/** More than are handed over before the thread gives one back. */
const manyBatches = 5;

let machine: ServedMachine;
beforeEach(async () => {
  machine = await ServedMachine.create();
});
afterEach(() => machine[Symbol.asyncDispose]());

async function passBack(env: Record<string, string>): Promise<string> {
  await machine.putUsers(unionIds);
  writeFileSync(
    join(machine.folder, 'rows.csv'),
    `union_id,x,"y & z"\n${unionIds.map((id, i) => `${id},0${i},"é 漢 ""😀"" /"`).join('\n')}\n`,
  );
  const run = ['-p', 'local', 'passback', '--from', 'rows.csv', ...rate];
  const { status, stderr } = await machine.run(run, { env });
  expect(status).toBe(0);
  expect(stderr).toContain('ok      900');
  const stored = await machine.extensionInfo();
  for (const [i, id] of unionIds.entries()) {
    expect(stored.get(id)).toEqual({ x: `0${i}`, 'y & z': 'é 漢 "😀" /' });
  }
  const users = new Map(resultsOf('rows.csv').map(({ line, union_id }) => [line, union_id]));
  expect(users).toEqual(new Map(unionIds.map((id, i) => [i + 2, id])));
  return stderr;
}

const resultsOf = (name: string) =>
  readFileSync(join(machine.folder, `${name}.results.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const batchesIn = (stderr: string) =>
  [...stderr.matchAll(/^thread: (\d+) batches$/gm)].map(([, n]) => Number(n));

describe('a run that has no time to spare', () => {
  it('has another thread sign its passbacks, as the service wants them', async () => {
    const [batches, ...others] = batchesIn(await passBack(busy));
    expect(batches).toBeGreaterThanOrEqual(manyBatches);
    expect(others).toEqual([]);
  });

  it('has another thread sign its reads, too', async () => {
    const codes = await machine.issueCodes(900);
    writeFileSync(join(machine.folder, 'codes.csv'), `code\n${codes.join('\n')}\n`);
    const run = ['-p', 'local', 'read', '--from', 'codes.csv', '--names', 'mobile', ...rate];
    const { status, stderr } = await machine.run(run, { env: busy });
    expect(status).toBe(0);
    expect(stderr).toContain('ok      900');
    expect(batchesIn(stderr)[0]).toBeGreaterThanOrEqual(manyBatches);
  });

  it('has it make requests of NDJSON, too, and says what is wrong with a row', async () => {
    await machine.putUsers(unionIds);
    const rows = unionIds.map((id, i) => `{"union_id":"${id}","n":${i}.0}`);
    rows[800] = '{"union_id":"x800","n":{}}';
    writeFileSync(join(machine.folder, 'rows.ndjson'), rows.join('\n'));
    const run = ['-p', 'local', 'passback', '--from', 'rows.ndjson', '--no-preflight', ...rate];
    const { status, stderr } = await machine.run(run, { env: busy });
    expect(status).toBe(6);
    expect(batchesIn(stderr)[0]).toBeGreaterThanOrEqual(manyBatches);
    const results = new Map(resultsOf('rows.ndjson').map((result) => [result.line, result]));
    for (const [i, id] of unionIds.entries()) {
      const result = results.get(i + 1);
      if (i === 800) expect(result.error).toBe('the row key "n" holds an object: one level only');
      else expect(result).toMatchObject({ union_id: id, outcome: 'ok' });
    }
    const stored = await machine.extensionInfo();
    expect(unionIds.map((id) => stored.get(id)?.n)).toEqual(
      unionIds.map((_, i) => (i === 800 ? undefined : `${i}.0`)),
    );
  });

  it('goes on by itself where that thread ends', async () => {
    expect(batchesIn(await passBack({ ...busy, END_THREADS: '1' }))).toHaveLength(1);
  });
});

it('a run with time to spare has no other thread', async () => {
  expect(batchesIn(await passBack(busyFor(0.7)))).toEqual([]);
});

it('what a module signs, no other thread signs', () => {
  const options = {
    baseUrl: 'http://127.0.0.1',
    tenantCode: 't',
    channel: 'c',
    appKey: 'k',
    appSecret: 's',
  };
  const task = { operation: 'read', infoNames: [], scope: undefined } as const;
  const module = { module: './sign.mjs' };
  expect(packSigner(task, options, null)?.signing).toEqual(defaultRecipes);
  expect(packSigner(task, options, defaultRecipes)?.signing).toEqual(defaultRecipes);
  expect(packSigner(task, options, module)).toBeNull();
  expect(packSigner(task, options, { ...defaultRecipes, sign: module })).toBeNull();
});
