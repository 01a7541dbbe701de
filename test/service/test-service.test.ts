import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError, UserInfoClient } from '../../src/index.js';
import { createService, createTestService, useTestService } from '../../src/service/index.js';
import { deploymentVariables, Machine } from '../support/cli.js';
import { tcpServer } from '../support/raw-server.js';

/** A file of the built package. */
const built = (name: string) => join(import.meta.dirname, '../../dist', name);
const users = [{ union_id: 'u1', basic_info: { mobile: '13800001111' } }];
const service = useTestService({ beforeEach, afterAll }, { users });
const write = { unionId: 'u1', userInfo: { acme_level: 'gold', acme_n: 5 } };

/** A client that waits as short as a test wants. */
async function withClient<T>(use: (client: UserInfoClient) => Promise<T>): Promise<T> {
  await using client = new UserInfoClient({ ...service.clientOptions, timeoutMs: 5_000 });
  return await use(client);
}
const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe('the test service', () => {
  it('does what the service does, and keeps the requests', async () => {
    await withClient(async (client) => {
      await client.passback(write);
      const code = await service.issueCode('u1', { infoNames: ['mobile', 'acme_level'] });
      const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
      expect(data).toEqual({ union_id: 'u1', mobile: '13800001111', acme_level: 'gold' });
      expect(await errorOf(client.read({ code }))).toMatchObject({ means: 'codeNotValid' });
    });
    const [passback, read, again] = service.requests;
    expect(passback).toMatchObject({
      operation: 'passback',
      parameters: { union_id: 'u1', tenant_code: 'acme' },
      userInfo: { acme_level: 'gold', acme_n: 5 },
      answer: { httpStatus: 200, body: expect.stringContaining('"ok"') },
    });
    expect(read?.parameters).toMatchObject({ info_name: 'mobile,acme_level' });
    expect(again?.answer?.httpStatus).toBe(401);
  });

  it('starts each test afresh, for the same client', async () => {
    expect(service.requests).toEqual([]);
    await withClient((client) => client.passback(write));
    await service.reset();
    expect(service.requests).toEqual([]);
    const code = await service.issueCode('u1');
    const { data } = await withClient((client) => client.read({ code }));
    expect(data).toMatchObject({ extension_info: {} });
  });

  it('fails the next requests of an operation, and then no more', async () => {
    service.failNext(2, { operation: 'passback', code: 50301 });
    const code = await service.issueCode('u1');
    await withClient(async (client) => {
      await client.read({ code });
      expect(await client.passback(write)).toMatchObject({ attempts: 3 });
    });
    expect(service.requests.map(({ answer }) => answer?.httpStatus)).toEqual([200, 503, 503, 200]);
  });

  it("fails with a platform's own code, after a while, or by cutting the connection", async () => {
    await withClient(async (client) => {
      service.failNext(1, { code: 1001, httpStatus: 429, retryAfter: 0, msg: 'slow down' });
      expect(await client.passback(write)).toMatchObject({ attempts: 2 });
      service.failNext(1, { code: 1002 });
      expect(await errorOf(client.passback(write))).toMatchObject({
        resultCode: 1002,
        httpStatus: 200,
      });
      service.failNext(1, { cut: 'before' });
      const lost = client.passback({ unionId: 'u1', userInfo: { lost: 1 } }, { attempts: 1 });
      expect(await errorOf(lost)).toMatchObject({ reason: 'reset', received: true });
      service.failNext(1, { cut: 'after' });
      const kept = client.passback({ unionId: 'u1', userInfo: { kept: 1 } }, { attempts: 1 });
      expect(await errorOf(kept)).toMatchObject({ reason: 'reset', received: true });
      service.failNext(1, { delayMs: 10_000, operation: 'read' });
      const code = await service.issueCode('u1');
      expect(await errorOf(client.read({ code }, { timeoutMs: 300 }))).toMatchObject({
        reason: 'timeout',
      });
      const { data } = await client.read({ code });
      expect(data.extension_info).toEqual({ acme_level: 'gold', acme_n: '5', kept: '1' });
    });
    expect(service.requests.map(({ answer }) => answer)).toContain(null);
  });

  it('answers as a stub says, for good or a number of times', async () => {
    service.stub(({ parameters }) => ({
      body: { code: 200, msg: 'ok', data: { union_id: parameters.union_id } },
    }));
    service.stub(
      { httpStatus: 502, body: '<title>Bad Gateway</title>' },
      { times: 1, operation: 'passback' },
    );
    await withClient(async (client) => {
      const failed = client.passback({ ...write, unionId: 'nobody' }, { attempts: 1 });
      expect(await errorOf(failed)).toMatchObject({ reason: 'not-envelope', httpStatus: 502 });
      const { data } = await client.passback({ ...write, unionId: 'nobody' });
      expect(data.union_id).toBe('nobody');
      service.stub({ body: [] }, { times: Number.POSITIVE_INFINITY });
      expect(await errorOf(client.passback(write))).toMatchObject({ reason: 'not-envelope' });
    });
  });

  it('replays the answer that the command line recorded, personal data masked', async () => {
    const machine = new Machine();
    const own = { mobile: '13800138000', level: '1.00' };
    const recorded = await tcpServer((socket) => {
      const body = `{"code":200,"msg":"ok","data":{"union_id":"u9","mobile":"${own.mobile}","level":${own.level},"z":{}}}`;
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    const args = ['read', 'c', 'mobile,level,z', '--json', '--mask'];
    const { stdout: body } = await machine.run(args, { env: deploymentVariables(recorded.url) });
    await recorded.close();
    machine[Symbol.dispose]();
    expect(body).not.toContain(own.mobile);
    service.stub({ headers: { 'content-type': 'application/json' }, body }, { operation: 'read' });
    await withClient(async (client) => {
      const answer = await client.read({ code: 'any' });
      expect(answer.data).toMatchObject({ union_id: 'u9', mobile: '138****8000' });
      expect(new TextDecoder().decode(answer.body)).toContain('"level":1.00');
    });
  });

  it('has one clock with its client: codes and old secrets expire, and the client is not late', async () => {
    const [code, lasting] = [
      await service.issueCode('u1'),
      await service.issueCode('u1', { ttlSeconds: 900 }),
    ];
    const { appKey, appSecret } = service.clientOptions;
    await withClient(async (client) => {
      await service.advanceClock(299_000);
      // A code is as old as the clock has moved since it was issued.
      const fresh = await service.issueCode('u1');
      await service.advanceClock(2_500);
      expect(await errorOf(client.read({ code }))).toMatchObject({ means: 'codeNotValid' });
      await client.read({ code: lasting });
      await client.read({ code: fresh });
      await service.admin.rotateSecret({ appKey, overlapSeconds: 60 });
      await service.advanceClock(59_000);
      await client.passback(write);
      await service.advanceClock(1_600);
      expect(await errorOf(client.passback(write))).toMatchObject({ means: 'wrongAppSign' });
      service.faults = { skewSeconds: 301, seed: 1 };
      expect(await errorOf(client.passback(write))).toMatchObject({
        means: 'timestampOutsideWindow',
      });
    });
    await service.reset();
    const before = Date.now();
    const now = service.clientOptions.now();
    expect(now >= before && now <= Date.now()).toBe(true);
    expect(service.clientOptions.appSecret).toBe(appSecret);
  });

  it('reports what a function of stub throws or returns where the call fails, and waits for a promise', async () => {
    await withClient(async (client) => {
      const failure = async (stub: () => unknown) => {
        service.stub(stub as never, { times: 1 });
        return errorOf(client.passback(write));
      };
      expect(await failure(() => (undefined as never as { code: 5 }).code)).toMatchObject({
        code: 'REJECTED',
        attempts: 1,
        msg: expect.stringMatching(/^stub: TypeError: .*'code'/),
      });
      expect(await failure(() => Promise.reject(new Error('no fixture')))).toMatchObject({
        msg: 'stub: Error: no fixture',
      });
      expect(await failure(() => ({ status: 200 }))).toMatchObject({
        msg: expect.stringContaining('the answer of a stub: body is missing'),
      });
      service.stub(async () => ({ body: { code: 200, msg: 'later', data: { union_id: 'u1' } } }));
      expect((await client.passback(write)).envelope.msg).toBe('later');
    });
  });

  it('warns of no listeners when a client leaves before its answer', async () => {
    const warnings: unknown[] = [];
    const collect = (warning: unknown) => warnings.push(warning);
    process.on('warning', collect);
    const events = new EventEmitter();
    const received = once(events, 'received');
    service.stub(async () => {
      events.emit('received');
      await once(events, 'left');
      return { body: '' };
    });
    await withClient(async (client) => {
      const call = errorOf(client.passback(write));
      await received;
      await client.close({ force: true });
      expect(await call).toMatchObject({ code: 'CANCELLED' });
      // Once the service has noticed that the client is gone.
      await expect
        .poll(() => errorOf(fetch(`${service.url}/livez`)))
        .toMatchObject({ status: 200 });
      events.emit('left');
    });
    await expect.poll(() => service.requests).toMatchObject([{ answer: null }]);
    process.off('warning', collect);
    expect(warnings).toEqual([]);
  });

  it.each<[string, () => unknown, string]>([
    ['failNext(0)', () => service.failNext(0), '0 is not a number of requests'],
    ["failNext('2')", () => service.failNext('2' as never), '2 is not a number of requests'],
    ['a misspelt member', () => service.failNext(1, { op: 'read' } as never), '"op" is unknown'],
    [
      'a misspelt operation',
      () => service.failNext(1, { operation: 'reads' as never }),
      'operation is text, not read or passback',
    ],
    [
      'a misspelt cut',
      () => service.failNext(1, { cut: 'during' as never }),
      'cut is text, not before',
    ],
    ['a code as text', () => service.failNext(1, { code: '50301' as never }), 'code is text'],
    [
      'a negative time to retry after',
      () => service.failNext(1, { retryAfter: -1 }),
      'retryAfter is -1',
    ],
    [
      'a date to retry after',
      () => service.failNext(1, { retryAfter: '5' as never }),
      'retryAfter is text',
    ],
    ['a negative delay', () => service.failNext(1, { delayMs: -1 }), 'delayMs is -1'],
    [
      'a cut with a code',
      () => service.failNext(1, { cut: 'after', code: 50301 }),
      'and thus no code',
    ],
    ['stub()', () => service.stub(undefined as never), 'undefined was given, not an object'],
    ['no body', () => service.stub({ httpStatus: 200 } as never), 'body is missing'],
    ['a status that is none', () => service.stub({ httpStatus: 99, body: '' }), 'httpStatus is 99'],
    ['a Map', () => service.stub({ body: new Map() }), 'body is an instance of Map, not text'],
    ['times: 0', () => service.stub({ body: '' }, { times: 0 }), 'times is 0'],
    [
      'a misspelt limit',
      () => service.stub({ body: '' }, { time: 1 } as never),
      '"time" is unknown',
    ],
    [
      "advanceClock('5')",
      () => service.advanceClock('5' as never),
      'text, not a number of milliseconds',
    ],
    ['advanceClock(-5)', () => service.advanceClock(-5), 'is -5, not a number of milliseconds'],
    ['a misspelt ttl', () => service.issueCode('u1', { ttl: 5 } as never), '"ttl" is unknown'],
    [
      'one name, not a list',
      () => service.issueCode('u1', { infoNames: 'mobile' as never }),
      'infoNames is text, not a list of texts',
    ],
    ['a user of another shape', () => service.putUser({ unionId: 'u1' } as never), 'unionId'],
    [
      'hooks that are none',
      () => useTestService({ beforeAll: it } as never),
      'beforeEach is missing',
    ],
    [
      'an option that there is not',
      () => createTestService({ nope: 1 } as never),
      '"nope" is unknown',
    ],
    [
      'users that are none',
      () => createTestService({ users: {} as never }),
      'users is an object, not an',
    ],
    ['a clock of its own', () => createTestService({ now: Date.now } as never), '"now" is unknown'],
    ['an option of the service', () => createService({ prot: 8787 } as never), '"prot" is unknown'],
  ])('refuses %s by name', async (_, act, said) => {
    const refused = await errorOf((async () => act())());
    expect(refused).toBeInstanceOf(InvalidInputError);
    expect((refused as Error).message).toContain(said);
    await withClient((client) => client.passback(write));
  });

  it('has random faults that a test sets, checked', async () => {
    service.faults = { error: 1, seed: 1 };
    await withClient(async (client) => {
      expect(await errorOf(client.passback(write, { attempts: 1 }))).toMatchObject({
        means: 'internal',
      });
      service.faults = null;
      await client.passback(write);
    });
    expect(() => {
      service.faults = { error: 7, seed: 1 };
    }).toThrow(InvalidInputError);
  });

  it('has the app that a test wants, several at once, and none outside of tests', async () => {
    await using other = await createTestService({
      tenantCode: 't',
      appKey: 'k',
      appSecret: 'from .env.test',
    });
    expect(other.clientOptions).toMatchObject({
      tenantCode: 't',
      appKey: 'k',
      appSecret: 'from .env.test',
    });
    await using client = new UserInfoClient(other.clientOptions);
    expect(await errorOf(client.passback(write))).toMatchObject({ means: 'noSuchUser' });
    await expect(createTestService({ appSecret: '' })).rejects.toThrow('app_secret is empty');
    // As node:test calls them.
    const hooks: (() => Promise<void>)[] = [];
    const keep = (hook: () => Promise<void>) => void hooks.push(hook);
    const early = useTestService({ beforeEach: keep, after: keep });
    expect(() => early.url).toThrow('use it inside of a test');
    await hooks[0]?.();
    const { url } = early;
    await hooks[1]?.();
    await expect(fetch(url)).rejects.toThrow();
  });
});

it('a delayed fault keeps no process alive, however long it is', async () => {
  const program = `
    import { UserInfoClient } from ${JSON.stringify(built('index.js'))};
    import { createTestService } from ${JSON.stringify(built('service/index.js'))};
    const service = await createTestService({ users: [{ union_id: 'u001' }] });
    const client = new UserInfoClient(service.clientOptions);
    service.failNext(1, { delayMs: 600_000 });
    const call = client.passback({ unionId: 'u001', userInfo: { a: 'x' } }, { timeoutMs: 100 });
    await call.catch(({ reason }) => console.log(reason));
    await client.close();
    await service.close();`;
  const args = ['--input-type=module', '--eval', program];
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('timeout\n');
});

it('a user with a field of basic_info beside it is told where the field belongs', async () => {
  const users = [{ union_id: 'u001', mobile: '13800138000' }] as never;
  await expect(createTestService({ users })).rejects.toMatchObject({
    message: 'the record has the unknown field "mobile"',
    hint: 'Put mobile into basic_info.',
  });
});
