import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createService } from '../../src/service/index.js';
import {
  type Draft,
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
} from '../support/foreign-client.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';
import { type RunningService, runService, tenant, user } from '../support/running-service.js';

let schema: TestSchema;
let running: RunningService;
/** An SQL program beside the service. */
let program: Client;

beforeEach(async () => {
  schema = await createSchema();
  running = await runService({ database: schema.url });
  await running.service.admin.putUsers(Array.from({ length: 31 }, (_, index) => user(`u${index}`)));
  program = new Client(schema.url);
  await program.connect();
});
afterEach(async () => {
  await program.end();
  await running.service.close();
  await schema.remove();
});

const lock = async (table: string, condition: string) => {
  await program.query('BEGIN');
  await program.query(`SELECT 1 FROM ${table} WHERE ${condition} FOR UPDATE`);
};
const passback = (unionId: string) =>
  draftPassback(running.app, { union_id: unionId, user_info: `{"key":"${unionId}"}` });
const codeOf = async (draft: Draft) => (await send(running.service.url, draft)).envelope.code;

/**
 * The answers to requests for a row that is locked until `others`, some rounds of them, are
 * answered.
 */
async function answersBeside(
  ofLocked: readonly (() => Promise<number>)[],
  others: () => Promise<readonly Promise<number>[]>,
): Promise<number[]> {
  const early: number[] = [];
  let isLocked = true;
  const asked = ofLocked.map(async (ask) => {
    const code = await ask();
    if (isLocked) early.push(code);
    return code;
  });
  for (let round = 0; round < 4; round++) {
    expect(await Promise.all(await others())).toEqual(Array(30).fill(200));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  isLocked = false;
  await program.query('COMMIT');
  // On a slow machine they may have waited too long.
  expect(early.filter((code) => code !== 50301)).toEqual([]);
  return (await Promise.all(asked)).filter((code) => code !== 50301);
}

it('answers the passbacks of all other users while the row of one is locked', async () => {
  await running.service.admin.putUser(user('u0', { extension_info: { seat: '7' } }));
  await lock('users', "union_id = 'u0'");
  const byKey = { primary_key: 'seat', user_info: '{"seat":"7"}' };
  const ofLocked = [() => passback('u0'), () => draftPassback(running.app, byKey)].flatMap(
    (draft) => Array(20).fill(() => codeOf(draft())),
  );
  const others = async () =>
    Array.from({ length: 30 }, (_, index) => codeOf(passback(`u${index + 1}`)));
  const codes = await answersBeside(ofLocked, others);
  expect(codes).toEqual(codes.map(() => 200));
});

it('passes nothing back to a user who loses the named value while the row is waited for', async () => {
  await running.service.admin.putUser(user('u0', { extension_info: { seat: '7' } }));
  await lock('users', "union_id = 'u0'");
  await program.query(
    `UPDATE users SET record = replace(record, '"7"', '"8"') WHERE union_id = 'u0'`,
  );
  await program.query("DELETE FROM user_values WHERE union_id = 'u0'");
  const byKey = { primary_key: 'seat', user_info: '{"seat":"7"}' };
  const codes = Promise.all(
    Array.from({ length: 8 }, () => codeOf(draftPassback(running.app, byKey))),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  await program.query('COMMIT');
  expect((await codes).filter((code) => code !== 40401 && code !== 50301)).toEqual([]);
});

it('refuses the locked user in time, is ready meanwhile, and takes the same request later', async () => {
  const ready = async () => (await fetchAnswer(`${running.service.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  await lock('users', "union_id = 'u0'");
  // The next probe, a second after the last, finds its table locked, too.
  await program.query('LOCK TABLE service_state IN ACCESS EXCLUSIVE MODE');
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await ready()).toBe(200);
  const draft = passback('u0');
  const answer = await send(running.service.url, draft);
  expect(answer.envelope.code).toBe(50301);
  const problems = () => running.log.filter(({ event }) => event === 'store_unavailable');
  await expect.poll(problems).toHaveLength(2);
  const problem = expect.stringContaining('stays locked by another transaction');
  expect(problems()).toContainEqual(expect.objectContaining({ problem }));
  expect(await ready()).toBe(200);
  await program.query('COMMIT');
  expect(await codeOf(draft)).toBe(200);
  expect(await codeOf(draft)).toBe(40105);
});

it('answers the reads of all other codes while one is locked, which is then used once', async () => {
  const issue = async (unionId: string) =>
    (await running.service.admin.issueCode({ tenantCode: tenant, unionId })).code;
  const locked = await issue('u0');
  await lock('codes', `code = '${locked}'`);
  const ofLocked = Array(5).fill(() => codeOf(draftRead(running.app, locked)));
  const codes = await answersBeside(ofLocked, async () => {
    const issued = await Promise.all(Array.from({ length: 30 }, (_, index) => issue(`u${index}`)));
    return issued.map((code) => codeOf(draftRead(running.app, code)));
  });
  expect(codes.sort()).toEqual([200, 40106, 40106, 40106, 40106].slice(0, codes.length));
});

it('creates other users, and is ready, while a process is stopped that creates one', async () => {
  await using creating = await createService({
    database: schema.url,
    platform: { unknown_user: 'create' },
    log: () => {},
  });
  const create = async (unionId: string) =>
    (await send(creating.url, passback(unionId))).envelope.code;
  const ready = async () => (await fetchAnswer(`${creating.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  // What a process holds that is stopped in the middle, and the row that each probe writes.
  const named = JSON.stringify([tenant, { by: 'union_id', unionId: 'new0' }]);
  await lock('service_state', 'true');
  await program.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [named]);
  await program.query("INSERT INTO users VALUES ($1, 'new0', '{}', 1)", [tenant]);
  const stopped = create('new0');
  for (let round = 0; round < 3; round++) {
    const others = Array.from({ length: 20 }, (_, index) => create(`new${round} ${index}`));
    expect(await Promise.all(others)).toEqual(Array(20).fill(200));
    expect(await ready()).toBe(200);
    // Each probe is a second after the last.
    await new Promise((resolve) => setTimeout(resolve, 1100));
  }
  await program.query('ROLLBACK');
  expect([200, 50301]).toContain(await stopped);
  expect(await create('new0')).toBe(200);
});

it('refuses at once to look up more than a hundred unknown apps', async () => {
  await program.query('BEGIN');
  await program.query('LOCK TABLE apps IN ACCESS EXCLUSIVE MODE');
  const codes: number[] = [];
  const unknown = Array.from({ length: 130 }, async (_, index) => {
    const app = { ...running.app, app_key: `unknown${index}` };
    codes.push(await codeOf(draftRead(app, 'code')));
  });
  await expect.poll(() => codes.length).toBeGreaterThanOrEqual(30);
  await program.query('COMMIT');
  await Promise.all(unknown);
  expect(codes.filter((code) => code === 50301).length).toBeGreaterThanOrEqual(30);
  const problem = expect.stringContaining('too many requests name apps that are not known');
  expect(running.log).toContainEqual(
    expect.objectContaining({ event: 'store_unavailable', problem }),
  );
});
