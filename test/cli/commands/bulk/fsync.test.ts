import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

const machine = new Machine();
machine.apart = true;
/** Whether the answer to one row does not arrive. */
let losesAnswers = false;
let server: Awaited<ReturnType<typeof httpServer>>;
const preload = join(import.meta.dirname, '../../../support/disk-log.cjs');
const log = join(machine.folder, 'disk.json');

beforeAll(async () => {
  server = await httpServer(({ query, body }, response) => {
    if (losesAnswers && /(code|union_id)=c3(&|$)/.test(query + body))
      return void response.destroy();
    const isRefused = /(code|union_id)=c\d*0(&|$)/.test(query + body);
    response.end(`{"code":${isRefused ? 40106 : 200},"msg":"m","data":{"union_id":"u"}}`);
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

type Event = readonly [
  kind: 'write' | 'sync' | 'rename' | 'remove' | 'cut' | 'send' | 'say',
  name: string,
  more?: string,
];

/** Names of files with something that is not on the disk, at that point. */
function unsynced(events: readonly Event[]): Set<string> {
  const names = new Set<string>();
  for (const [kind, name, to = ''] of events) {
    if (kind === 'write') names.add(name);
    if (kind === 'sync') names.delete(name);
    if (kind !== 'rename') continue;
    names.add(basename(machine.folder));
    if (names.delete(name)) names.add(to);
  }
  return names;
}

const rows = Array.from({ length: 60 }, (_, i) => `c${i}`);

describe.each([
  ['read', 'code'],
  ['passback', 'union_id,v'],
])('what a %s does is on the disk', (operation, header) => {
  const [file, failed] = [`${operation}.csv`, `${operation}.failed.csv`];
  const [journal, results] = [
    `${operation}.results.ndjson.userinfo-journal`,
    `${operation}.results.ndjson`,
  ];
  /** That of results and journal, whose names are on the disk when this folder is. */
  const folder = `${operation}-results`;

  async function run(
    ...more: string[]
  ): Promise<{ events: Event[]; indexesOf(found: RegExp): number[] }> {
    const env = { SECRET: 's3cret', NODE_OPTIONS: `--require ${preload}`, DISK_LOG: log };
    const files = [file, '--failed', failed, '--results', join(folder, results)];
    const args = ['-p', 'local', 'bulk', operation, ...files, ...more];
    expect(await machine.run(args, { env })).toMatchObject({ status: 6 });
    const events: Event[] = JSON.parse(readFileSync(log, 'utf8'));
    const indexesOf = (found: RegExp) =>
      events.flatMap((event, at) => (found.test(event.join(' ')) ? [at] : []));
    return { events, indexesOf };
  }

  /** What holds for a run, however it starts; `sent` is the number of rows that it sends. */
  async function check(more: readonly string[], sent: number): Promise<Event[]> {
    const { events, indexesOf } = await run(...more);
    const leftAt = (at: number) => [...unsynced(events.slice(0, at))];
    // What the journal says about the results is true after a power cut.
    for (const record of ['results', 'end', ...(more.includes('--resume') ? [] : ['run'])]) {
      const says = indexesOf(new RegExp(`^write ${journal} "record":"${record}"$`));
      expect(says, record).not.toEqual([]);
      for (const at of says) expect(leftAt(at)).not.toContain(results);
    }
    for (const at of indexesOf(/"record":"results"/))
      expect(events.slice(0, at)).toContainEqual(['sync', folder]);
    // The results of the run before are gone for good before the journal names others.
    if (more.includes('--restart')) {
      const [removed, begun] = indexesOf(
        new RegExp(`^(remove ${results}|write ${journal} "record":"run")$`),
      );
      expect(events[removed ?? 0]).toEqual(['remove', results]);
      expect(events.slice(removed, begun)).toContainEqual(['sync', folder]);
    }
    // Results are not cut before the journal expects it.
    for (const at of indexesOf(/^cut /)) expect(leftAt(at)).not.toContain(journal);
    // The journal can be found, and a code is on the disk, before it is sent.
    const sends = indexesOf(/^send /);
    if (!more.includes('--resume'))
      expect(events.slice(0, sends[0])).toContainEqual(['sync', folder]);
    if (operation === 'read') {
      expect(sends).toHaveLength(sent);
      for (const at of sends) expect(leftAt(at)).not.toContain(journal);
      expect(indexesOf(/"record":"sent"/).length).toBeGreaterThan(1);
    }
    // The journal knows the file of failed rows as its own before it is there.
    const moved = indexesOf(new RegExp(`^rename .* ${failed}$`));
    expect(moved).toHaveLength(1);
    for (const at of moved) expect(leftAt(at)).not.toContain(journal);
    // All of it is there when the run counts as finished.
    const [summary = 0] = indexesOf(new RegExp(`^say ${operation}: `));
    const written = events
      .slice(0, summary)
      .flatMap(([kind, name, to]) => (kind === 'write' ? [name] : kind === 'rename' ? [to] : []));
    expect(written).toEqual(expect.arrayContaining([results, journal, failed]));
    const isOurs = (name: string) => !name.endsWith('-lock') && !name.endsWith('-draft');
    expect(leftAt(summary).filter(isOurs)).toEqual([]);
    return events;
  }

  it('in a new run, when it is resumed and when it is restarted', async () => {
    const lines = [header, ...rows.map((row) => (operation === 'read' ? row : `${row},x`))];
    writeFileSync(join(machine.folder, file), `${lines.join('\n')}\n`);
    mkdirSync(join(machine.folder, folder));
    losesAnswers = true;
    await check(['--concurrency', '1', '--attempts', '1', '--max-failures', '3'], 11);
    losesAnswers = false;
    const resumed = await check(['--resume'], 49);
    // The line of a row with an unknown outcome is written anew.
    expect(resumed).toContainEqual(['cut', results]);
    await check(['--restart'], 60);
  });
});
