import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describePostgres } from '../../src/database/postgres-driver.js';
import { createService, type LogEvent } from '../../src/service/index.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { execute, query } from '../support/postgres/test-schema.js';
import { tenant, user, withApp } from '../support/running-service.js';

it('loses nothing that it acknowledged when a synchronous standby takes over', async () => {
  const primary = await PostgresServer.create();
  const standby = await primary.createStandby();
  // The standby is asked first, and refused as read-only.
  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const database = `postgres://userinfo@${hosts}/postgres?target_session_attrs=read-write`;
  expect(describePostgres(database)).toBe(`postgres://userinfo@${hosts}/postgres`);
  const events: LogEvent[] = [];
  const service = await createService({ database, log: (event) => void events.push(event) });
  try {
    const { passback } = await withApp(service);
    const users = ['u1', 'u2', 'u3', 'u4'];
    await service.admin.putUsers(users.map((id) => user(id)));
    await execute(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await execute(primary.url, 'SELECT pg_reload_conf()');
    const state = async () =>
      (await query(primary.url, 'SELECT sync_state FROM pg_stat_replication'))[0]?.sync_state;
    await expect.poll(state).toBe('sync');

    const acknowledged: [unionId: string, key: string][] = [];
    const refused = new Set<number>();
    let isOver = false;
    const send = async (unionId: string) => {
      for (let i = 0; !isOver; i++) {
        const key = `k${i}`;
        const { code } = (await passback({ union_id: unionId, user_info: JSON.stringify({ [key]: '1' }) }))
          .envelope;
        if (code === 200) acknowledged.push([unionId, key]);
        else {
          refused.add(code);
          await wait(20);
        }
      }
    };
    const senders = users.map(send);
    await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
    await primary.signal('SIGKILL');
    const before = acknowledged.length;
    await expect.poll(() => refused.size).toBeGreaterThan(0);
    await execute(standby.url, 'SELECT pg_promote()');
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 100);
    isOver = true;
    await Promise.all(senders);
    expect([...refused]).toEqual([50301]);
    const records = await Promise.all(
      users.map((unionId) => service.admin.getUser({ tenantCode: tenant, unionId })),
    );
    const stored = new Map(records.map((record) => [record.union_id, record.extension_info]));
    expect(acknowledged.filter(([unionId, key]) => stored.get(unionId)?.[key] !== '1')).toEqual([]);
    expect(events.filter(({ event }) => event === 'fault')).toEqual([]);
  } finally {
    await service.close();
    await standby.remove();
    await primary.remove();
  }
});
