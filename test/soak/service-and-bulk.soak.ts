import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ServedMachine } from '../support/served.js';
import { expectFlat, type ProcessSize, processSize } from './process-size.js';

const minutes = Number(process.env.SOAK_MINUTES ?? 10);
const unionIds = Array.from({ length: 2000 }, (_, index) => `u${index}`);
const faults = 'latency=1ms..20ms,error=3%,reset=1%,drop-after-commit=1%';

interface Result {
  readonly line: number;
  readonly union_id: string;
  readonly outcome: string;
}

/** A run of all users against a service with faults, and what was held after it. */
class Soak {
  readonly #machine: ServedMachine;
  /** What the store must hold of each user: one of these. */
  readonly #possible = new Map(
    unionIds.map((unionId) => [unionId, new Set<string | undefined>([undefined])]),
  );
  readonly counts: Record<string, number> = {};
  kills = 0;

  constructor(machine: ServedMachine) {
    this.#machine = machine;
  }

  /**
   * Passes a new value of every user back; the service is killed in the middle of it where
   * `isKilled`.
   */
  async round(number: number, isKilled: boolean): Promise<void> {
    const file = `round-${number}.csv`;
    const rows = unionIds.map((unionId) => `${unionId},${number}`);
    writeFileSync(join(this.#machine.folder, file), `union_id,soak\n${rows.join('\n')}\n`);
    const killing = isKilled ? this.#kill() : undefined;
    let status = await this.#pass(file);
    await killing;
    while (status === 5) status = await this.#pass(file, '--resume');
    expect([0, 6]).toContain(status);
    await this.#account(file, String(number));
    for (const end of ['', '.results.ndjson', '.journal', '.failed.csv']) {
      rmSync(join(this.#machine.folder, `${file}${end}`), { force: true });
    }
  }

  async #pass(file: string, ...more: string[]): Promise<number | null> {
    const args = [
      '-p',
      'local',
      'bulk',
      'passback',
      file,
      '--attempts',
      '4',
      '--timeout',
      '5s',
      ...more,
    ];
    return (await this.#machine.run(args)).status;
  }

  async #kill(): Promise<void> {
    await wait(500 + Math.random() * 1500);
    const { port } = new URL(this.#machine.url);
    await this.#machine.stop('SIGKILL');
    await this.#machine.serve(['--port', port, '--fault', faults]);
    this.kills += 1;
  }

  /** Each row has one outcome; what was acknowledged is stored, and what is stored was sent. */
  async #account(file: string, value: string): Promise<void> {
    const text = readFileSync(join(this.#machine.folder, `${file}.results.ndjson`), 'utf8');
    const results: Result[] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(results.map(({ line }) => line)).size).toBe(unionIds.length);
    expect(results).toHaveLength(unionIds.length);
    const stored = await this.#machine.extensionInfo();
    for (const { union_id, outcome } of results) {
      this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
      const possible = this.#possible.get(union_id) ?? new Set();
      if (outcome === 'ok') possible.clear();
      possible.add(value);
      expect([...possible]).toContain(stored.get(union_id)?.soak);
    }
  }
}

it(`holds for ${minutes} minutes: nothing acknowledged is lost, memory and descriptors stay flat`, async () => {
  await using machine = await ServedMachine.create(['--fault', faults]);
  await machine.putUsers(unionIds);
  const soak = new Soak(machine);
  const endsAt = Date.now() + minutes * 60_000;
  const calmFrom = Date.now() + minutes * 20_000;
  const sizes: ProcessSize[] = [];
  let rounds = 0;
  for (; Date.now() < endsAt || sizes.length < 4; rounds += 1) {
    const isKilled = Date.now() < calmFrom && rounds % 2 === 0;
    await soak.round(rounds, isKilled);
    if (Date.now() >= calmFrom) sizes.push(await sizeAtRest(machine.pid));
  }
  process.stdout.write(
    `${rounds} rounds of ${unionIds.length} rows, service killed ${soak.kills} times: ${JSON.stringify(soak.counts)}\n`,
  );
  expectFlat(sizes, 'service');
});

/** Once the connections of the last run are gone. */
async function sizeAtRest(pid: number): Promise<ProcessSize> {
  await wait(1000);
  return processSize(pid);
}
