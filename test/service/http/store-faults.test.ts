import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqlDriver } from '../../../src/service/database/sql-driver.js';
import type { LogEvent, Service } from '../../../src/service/index.js';
import type { ProblemEvent } from '../../../src/service/log.js';
import { startService } from '../../../src/service/service.js';
import { checkSettings } from '../../../src/service/settings.js';
import { createStore } from '../../../src/service/store/store.js';
import { type AppKeys, draftPassback, fetchAnswer, send } from '../../support/foreign-client.js';
import { createAppKeys, tenant, user } from '../../support/running-service.js';
import { createSqliteDatabase, type SqliteDatabase } from '../../support/sqlite-database.js';

let database: SqliteDatabase;
let driver: SqlDriver;
let service: Service;
let app: AppKeys;
let log: LogEvent[];

beforeEach(async () => {
  database = await createSqliteDatabase();
  driver = await database.open({ busyTimeoutMs: 100 });
  log = [];
  const store = await createStore(driver);
  service = await startService(store, checkSettings({ log: (event) => log.push(event) }), {
    now: Date.now,
    steadyNow: () => performance.now(),
  });
  app = await createAppKeys(service, tenant);
  await service.admin.putUser(user('u1'));
});
afterEach(async () => {
  await service.close();
  await database.remove();
});

const passback = (value = 'b') =>
  send(
    service.url,
    draftPassback(app, { union_id: 'u1', user_info: JSON.stringify({ a: value }) }),
  );
const health = () => fetchAnswer(`${service.url}/healthz`);
const stored = async () =>
  (await service.admin.getUser({ tenantCode: tenant, unionId: 'u1' })).extension_info.a;

function expectUnavailable(answer: Awaited<ReturnType<typeof passback>>, problem: string): void {
  expect(answer.status).toBe(503);
  expect(answer.envelope).toEqual({ code: 50301, msg: 'the store is unavailable', data: {} });
  const request_id = expect.any(String);
  expect(log).toContainEqual({ event: 'store_unavailable', problem, request_id });
}

describe('the service over a failing store', () => {
  it('reports a database that another process locks, and continues afterwards', async () => {
    const holder = new DatabaseSync(database.file);
    holder.exec('BEGIN IMMEDIATE');
    const answers = await Promise.all([passback('1'), passback('2'), passback('3')]);
    for (const answer of answers) {
      expectUnavailable(answer, 'the database is locked by another process');
    }
    expect((await health()).status).toBe(503);
    holder.exec('ROLLBACK');
    holder.close();
    await expect.poll(async () => (await health()).status).toBe(200);
    expect(await stored()).toBeUndefined();
    expect((await passback('4')).status).toBe(200);
    expect(await stored()).toBe('4');
  });

  it('reports a read-only database, and continues once it is writable', async () => {
    // As a file that is opened without the right to write: that connection stays so, and another
    // one has to be opened.
    await driver.read((sql) => sql.run('PRAGMA query_only = 1'));
    const answer = await passback();
    expectUnavailable(answer, 'the database is read-only');
    // The log says of which request.
    const request_id = answer.headers.get('x-request-id');
    const both = log.filter((event) => 'request_id' in event && event.request_id === request_id);
    expect(both.map(({ event }) => event)).toEqual(['store_unavailable', 'request']);
    expect((await health()).status).toBe(503);
    expect((await passback()).status).toBe(200);
    await expect.poll(async () => (await health()).status).toBe(200);
  });

  it('reports a database that was closed', async () => {
    expect(await health()).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    await driver.close();
    expectUnavailable(await passback(), 'the database is closed');
    await expect.poll(health).toMatchObject({ status: 503, text: '{"status":"unavailable"}' });
  });

  it('accepts a request again that was not stored', async () => {
    await driver.read((sql) => sql.run('PRAGMA query_only = 1'));
    const draft = draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });
    expect((await send(service.url, draft)).envelope.code).toBe(50301);
    await driver.read((sql) => sql.run('PRAGMA query_only = 0'));
    expect((await send(service.url, draft)).envelope.code).toBe(200);
  });
});

it('answers a fault with 50001, and logs its cause without personal data', async () => {
  await driver.write((sql) =>
    sql.run('UPDATE users SET record = $1', ['{"mobile":"13800138000" oops']),
  );
  const answer = await passback();
  expect(answer.status).toBe(500);
  expect(answer.envelope).toEqual({ code: 50001, msg: 'internal error', data: {} });
  const fault = log.find(({ event }) => event === 'fault');
  expect(fault).toMatchObject({
    problem: expect.stringContaining('a record in the table users is not JSON'),
  });
  expect(JSON.stringify(log)).not.toContain('13800138000');
});

it('logs a problem at once, and its repetitions with a count', async () => {
  const holder = new DatabaseSync(database.file);
  holder.exec('BEGIN IMMEDIATE');
  const started = performance.now();
  await Promise.all(Array.from({ length: 12 }, () => passback()));
  const seconds = (performance.now() - started) / 1000;
  holder.exec('ROLLBACK');
  holder.close();
  await service.close();
  const logged = log.filter((event) => event.event === 'store_unavailable') as ProblemEvent[];
  const problem = 'the database is locked by another process';
  expect(logged[0]).toEqual({
    event: 'store_unavailable',
    problem,
    request_id: expect.any(String),
  });
  // The first one, at most two in each second, and the rest when it is closed.
  expect(logged.length).toBeLessThanOrEqual(4 + 2 * seconds);
  expect(logged.reduce((count, { repeats = 1 }) => count + repeats, 0)).toBe(12);
});
