import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { httpServer } from '../../support/raw-server.js';

const machine = new Machine();
machine.apart = true;
let server: Awaited<ReturnType<typeof httpServer>>;
const preload = join(import.meta.dirname, '..', '..', 'support', 'disk-log.cjs');
const log = join(machine.folder, 'disk.json');

beforeAll(async () => {
  server = await httpServer(({ query }, response) => {
    const isRefused = /code=c\d*0(&|$)/.test(query);
    response.end(`{"code":${isRefused ? 40106 : 200},"msg":"m","data":{"union_id":"u"}}`);
  });
  const values = ['--base-url', server.url, '--tenant-code', 'acme', '--channel', 'web', '--app-key', 'a1'];
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

type Event = readonly [kind: 'write' | 'sync' | 'rename' | 'send' | 'say', name: string, more?: string];

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

it('a code is on disk before it is sent, and all files before a run counts as finished', async () => {
  const codes = Array.from({ length: 60 }, (_, i) => `c${i}`);
  writeFileSync(join(machine.folder, 'codes.csv'), `code\n${codes.join('\n')}\n`);
  const env = { SECRET: 's3cret', NODE_OPTIONS: `--require ${preload}`, DISK_LOG: log };
  const args = ['-p', 'local', 'read', '--from', join(machine.folder, 'codes.csv'), '--failed'];
  const done = await machine.run([...args, join(machine.folder, 'failed.csv')], { env });
  expect(done.status).toBe(6);
  const events: Event[] = JSON.parse(readFileSync(log, 'utf8'));

  const journal = 'codes.csv.userinfo-journal';
  const sends = events.flatMap(([kind], at) => (kind === 'send' ? [at] : []));
  expect(sends.map((at) => events[at]?.[1]).sort()).toEqual([...codes].sort());
  for (const at of sends) expect([...unsynced(events.slice(0, at))]).not.toContain(journal);
  expect(events.filter(([, , record]) => record === '"record":"sent"').length).toBeGreaterThan(1);
  // What the journal says about the results is true after a power cut.
  for (const record of ['outcomes', 'run', 'end']) {
    const says = events.flatMap(([kind, name, more], at) =>
      kind === 'write' && name === journal && more === `"record":"${record}"` ? [at] : [],
    );
    expect(says, record).not.toEqual([]);
    for (const at of says)
      expect([...unsynced(events.slice(0, at))]).not.toContain('codes.csv.results.ndjson');
  }

  const summary = events.findIndex(([kind, text]) => kind === 'say' && text.startsWith('read: 60 rows'));
  const before = events.slice(0, summary);
  const written = new Set(
    before.flatMap(([kind, name, to]) => (kind === 'write' ? [name] : kind === 'rename' ? [to] : [])),
  );
  expect([...written].sort()).toEqual(
    expect.arrayContaining(['codes.csv.results.ndjson', journal, 'failed.csv'].sort()),
  );
  const ours = [...unsynced(before)].filter((name) => !name.endsWith('-lock') && !name.endsWith('-draft'));
  expect(ours).toEqual([]);
});
