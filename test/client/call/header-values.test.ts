import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NoAnswerError, UserInfoClient } from '../../../src/index.js';
import { passbackAll, readAll } from '../../support/all-rows.js';
import { deploymentFlags, Machine } from '../../support/cli.js';
import { httpServer, type TestServer } from '../../support/raw-server.js';

/**
 * A gateway whose tokens are good for a number of requests; it writes the current one into a file.
 */
const gateway = {
  token: '',
  left: 0,
  life: 3,
  /** Its answer to another token. */
  refusal: [401, '{"message":"token expired"}'] as readonly [number, string],
  requests: [] as string[],
  carriedOut: 0,
  issued: 0,
  issue(): string {
    this.issued += 1;
    this.token = `Bearer token-${this.issued}`;
    this.left = this.life;
    return this.token;
  },
};
const machine = new Machine();
let server: TestServer;
let baseUrl = '';

beforeAll(async () => {
  server = await httpServer(({ method, headers }, response) => {
    gateway.requests.push(method);
    if (headers.authorization !== gateway.token || gateway.left === 0) {
      response
        .writeHead(gateway.refusal[0], { 'content-type': 'application/json' })
        .end(gateway.refusal[1]);
      return;
    }
    gateway.left -= 1;
    gateway.carriedOut += 1;
    response.end('{"code":200,"msg":"ok","data":{"union_id":"u1"}}');
  });
  baseUrl = server.url;
});
beforeEach(() => {
  Object.assign(gateway, {
    requests: [],
    carriedOut: 0,
    issued: 0,
    life: 3,
    refusal: [401, '{"message":"no"}'],
  });
});
afterAll(async () => {
  machine[Symbol.dispose]();
  await server.close();
});

const app = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: 's1' };
const platform = { result_codes: { 4011: { refuses: 'caller' } } } as const;
/** A function that keeps its token until it is refused. */
const kept = () => {
  let token = '';
  return async (isRefused: boolean) => {
    if (token === '' || isRefused) token = gateway.issue();
    return token;
  };
};
const options = () => ({ baseUrl, ...app, platform, headers: { Authorization: kept() } });

const places = {
  async call(count: number) {
    await using client = new UserInfoClient(options());
    for (let number = 1; number <= count; number += 1)
      await client.passback({ unionId: 'u1', userInfo: { a: String(number) } });
  },
  async read(count: number) {
    await using client = new UserInfoClient(options());
    for (let number = 1; number <= count; number += 1) await client.read({ code: `c${number}` });
  },
  async rows(count: number) {
    const rows = Array.from({ length: count }, () => ({ unionId: 'u1', userInfo: { a: 'x' } }));
    const outcomes: string[] = [];
    for await (const { outcome } of passbackAll(rows, { ...options(), concurrency: 1 }))
      outcomes.push(outcome);
    expect(outcomes).toEqual(rows.map(() => 'ok'));
  },
  async codes(count: number) {
    const rows = Array.from({ length: count }, (_, index) => ({ code: `c${index}` }));
    for await (const { outcome } of readAll(rows, { ...options(), concurrency: 1 }))
      expect(outcome).toBe('ok');
  },
};

it.each(
  Object.keys(places).flatMap((place) =>
    [
      [401, '{"message":"expired"}'],
      [403, '<title>no</title>'],
      [200, '{"code":4011,"msg":"expired","data":{}}'],
    ].map((refusal) => [place, ...refusal] as const),
  ),
)(
  'a token is renewed when it is refused, and nothing is lost: %s, HTTP %i %s',
  async (place, status, body) => {
    gateway.refusal = [status as number, body as string];
    await places[place as keyof typeof places](10);
    expect([gateway.carriedOut, gateway.issued]).toEqual([10, 4]);
  },
);

it('a caller that is refused with a new token, too, is refused', async () => {
  gateway.life = 0;
  await expect(places.call(1)).rejects.toMatchObject({ httpStatus: 401, attempts: 2 });
  await expect(places.rows(3)).rejects.toThrow();
  expect(gateway.issued).toBe(4);
});

it('a call that was refused with an old token, and reached nothing after that, was not received', async () => {
  const closing = await httpServer((_, response) => {
    response
      .writeHead(401, { connection: 'close' })
      .end('{"message":"no"}', () => void closing.close());
  });
  await using client = new UserInfoClient({ ...options(), baseUrl: closing.url });
  await expect(client.read({ code: 'c' }, { attempts: 2 })).rejects.toMatchObject({
    ...{ reason: 'connect', received: false, retryable: true, attempts: 2 },
  });
});

it('a function that fails at first fails the call, before anything is sent', async () => {
  const cause = new Error('vault is sealed');
  const headers = { Authorization: () => Promise.reject(cause) };
  await using client = new UserInfoClient({ baseUrl, ...app, headers });
  const error = await client.read({ code: 'c' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NoAnswerError);
  expect(error).toMatchObject({ reason: 'secret', received: false, attempts: 0, cause });
  expect(gateway.requests).toEqual([]);
});

it.each([',expires=3600', ''])(
  'a command%s runs again when its token is refused',
  async (lasts) => {
    const issue = join(machine.folder, 'issue.cjs');
    const issued = join(machine.folder, 'issued');
    writeFileSync(issued, '');
    // The gateway has to know the token that the command prints.
    writeFileSync(
      issue,
      `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(issued)}, 'x'); console.log('Bearer t' + fs.statSync(${JSON.stringify(issued)}).size)`,
    );
    const current = () => `Bearer t${readFileSync(issued).length}`;
    const command = `${process.execPath} ${issue}`;
    const header = `Authorization=command${lasts}:${command}`;
    const values = deploymentFlags(baseUrl);
    const added = await machine.run(
      ['profile', 'add', 'shop', '--header', header, ...values, '--app-secret-stdin'],
      { stdin: 's1' },
    );
    expect(added.status, added.stderr).toBe(0);
    Object.defineProperty(gateway, 'token', { get: current, set() {}, configurable: true });
    let served = 0;
    Object.defineProperty(gateway, 'left', {
      // The first token ends after three requests.
      get: () => (current() === 'Bearer t1' && served >= 3 ? 0 : 1),
      set: () => {
        served += 1;
      },
      configurable: true,
    });
    writeFileSync(join(machine.folder, 'rows.csv'), `union_id,a\n${'u1,x\n'.repeat(8)}`);
    const done = await machine.run(
      'bulk passback rows.csv --concurrency 1 -p shop --restart'.split(' '),
    );
    expect(done.stderr).toContain('ok');
    expect([done.status, gateway.carriedOut, readFileSync(issued).length]).toEqual([0, 8, 2]);
    const preview = await machine.run(['read', 'c', '-p', 'shop', '--dry-run', '--reveal']);
    expect(preview.stdout).toContain('Bearer t3');
    await machine.run(['profile', 'delete', 'shop', '--yes']);
  },
);
