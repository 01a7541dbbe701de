import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer } from '../../../support/raw-server.js';

/**
 * A container as far as it matters here: processes of its own, and the host name and the files of
 * the machine.
 */
const under = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const [unshare = '', ...how] = under;
const tried = spawnSync(unshare, [...how, process.execPath, '-p', 'process.pid'], {
  encoding: 'utf8',
});
const isPossible = tried.stdout?.trim() === '1';

const machine = new Machine();
const container = { env: { SECRET: 's3cret' }, under };
const onHost = { env: { SECRET: 's3cret' } };

/** A platform for one test, and a profile for it: its answers do not come until `release`. */
async function holding(name: string) {
  let held: ServerResponse[] | null = [];
  const answer = (response: ServerResponse, user: string) =>
    response.end(JSON.stringify({ code: 200, msg: 'ok', data: { union_id: user } }));
  const users = new Map<ServerResponse, string>();
  const server = await httpServer(({ body, query }, response) => {
    const user = new URLSearchParams(body || query).get('union_id') ?? 'u1';
    if (held === null) answer(response, user);
    else held.push(response);
    users.set(response, user);
  });
  servers.push(server);
  const values = [
    ...deploymentFlags(server.url),
    ...'--app-secret-env SECRET --environment test'.split(' '),
  ];
  await machine.run(['profile', 'add', name, ...values]);
  const release = () => {
    for (const response of held ?? []) answer(response, users.get(response) ?? '');
    held = null;
  };
  return { server, release };
}

const servers: Awaited<ReturnType<typeof httpServer>>[] = [];

afterAll(async () => {
  for (const server of servers) await server.close();
  machine[Symbol.dispose]();
});

const operations = [
  ['passback', ['passback'], (i: number) => `u${i},x`, 'union_id,v'],
  ['read', ['read', 'mobile'], (i: number) => `c${i}`, 'code'],
] as const;

/** Starts a run of 20 rows whose answers do not come. */
async function startHeld(
  name: string,
  args: readonly string[],
  row: (i: number) => string,
  head: string,
) {
  writeFileSync(
    join(machine.folder, `${name}.csv`),
    `${[head, ...Array.from({ length: 20 }, (_, i) => row(i))].join('\n')}\n`,
  );
  const { server, release } = await holding(name);
  const [operation = '', ...names] = args;
  const pace = ['--concurrency', '1', '--timeout', '5m'];
  const line = ['-p', name, 'bulk', operation, `${name}.csv`, ...names, ...pace];
  const run = machine.start(line, container);
  const ended = new Promise((resolve) => run.once('exit', resolve));
  while (server.requests.length === 0) await wait(5);
  return { line, run, ended, server, release };
}

describe.skipIf(!isPossible)('two containers on one volume (needs unshare)', () => {
  it.each(operations)(
    '%s: a second run is refused, whatever it is told',
    async (name, args, row, head) => {
      const { line, ended, server, release } = await startHeld(name, args, row, head);
      const place = join(machine.folder, `${name}.csv.userinfo-journal`);
      const journal = readFileSync(place, 'utf8');
      for (const where of [container, onHost])
        for (const how of ['--resume', '--restart']) {
          const { status, stdout, stderr } = await machine.run([...line, how], where);
          expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
          expect(stderr).toContain('another run may use this file: ');
          expect(stderr).toContain(
            `is held by process 1 on ${hostname()}, which cannot be seen from here`,
          );
          expect(stderr).toContain(
            'If it has ended, as when its container was killed, add --take-over.',
          );
        }
      const consent = await machine.run([...line, '--resume', '--take-over'], container);
      expect(consent).toMatchObject({ status: 2, stdout: '' });
      expect(consent.stderr).toContain(`another run uses this file: `);
      expect(consent.stderr).toContain(`is held by process 1 on ${hostname()}\n`);
      expect(consent.stderr).not.toContain('--take-over');
      expect(server.requests).toHaveLength(1);
      expect(readFileSync(place, 'utf8')).toBe(journal);
      release();
      expect(await ended).toBe(0);
      expect(server.requests).toHaveLength(20);
    },
  );

  it.each(operations)(
    '%s: a run whose container was killed is resumed with consent',
    async (name, args, row, head) => {
      const { line, run, ended, server, release } = await startHeld(
        `killed-${name}`,
        args,
        row,
        head,
      );
      run.kill('SIGKILL');
      await ended;
      release();
      const refused = await machine.run([...line, '--resume'], container);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('add --take-over');
      expect(server.requests).toHaveLength(1);
      const resumed = await machine.run([...line, '--resume', '--take-over'], container);
      // The codes of a read that were in flight are not sent again.
      expect(resumed.status).toBe(name === 'read' ? 6 : 0);
      expect(server.requests).toHaveLength(name === 'read' ? 20 : 21);
    },
  );
});
