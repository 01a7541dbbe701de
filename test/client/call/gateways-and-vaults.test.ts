import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectedSignatures } from '../../../src/core/signing/app-signatures.js';
import {
  CallError,
  compileRecipe,
  defaultRecipes,
  type NoAnswerError,
  type RejectedError,
  type RetryEvent,
  Secret,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import {
  httpServer,
  type ReceivedRequest,
  type TestServer,
  writtenBy,
} from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';
import { ca, certificates, tlsServer } from '../../support/tls-server.js';

/**
 * A platform that accepts the signatures of one secret: it computes them from what came, as the
 * default recipes say.
 */
const platform = {
  secret: 's1',
  requests: [] as ReceivedRequest[],
  bodies: [] as string[],
  next: [] as Answer[],
};
interface Answer {
  readonly status?: number;
  readonly code: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of an envelope. */
  readonly text?: string;
}
const signers = {
  app_sign: compileRecipe(defaultRecipes.app_sign),
  sign: compileRecipe(defaultRecipes.sign),
};
function answer(request: ReceivedRequest, response: ServerResponse): void {
  platform.requests.push(request);
  const { method, path, query, body } = request;
  const params = [...new URLSearchParams(query), ...new URLSearchParams(body)];
  const received = { method, url: path, params, body: body || null, extra: {} };
  const { app_sign, sign } = expectedSignatures(signers, received, new Secret(platform.secret));
  const sent = new URLSearchParams(query);
  const isSigned = sent.get('app_sign') === app_sign.digest && sent.get('sign') === sign.digest;
  const {
    code,
    status,
    headers = {},
    text,
  }: Answer = platform.next.shift() ?? { code: isSigned ? 200 : 40102 };
  response.writeHead(status ?? 200, { 'content-type': 'application/json', ...headers });
  response.end(
    text ?? JSON.stringify({ code, msg: 'm', data: code === 200 ? { union_id: 'u1' } : {} }),
  );
}
const credentials = { tenantCode: 'acme', channel: 'web', appKey: 'app-1' };
const row = { unionId: 'u1', userInfo: { a: 'x' } };
let server: TestServer;
let baseUrl = '';
beforeAll(async () => {
  server = await httpServer(answer);
  baseUrl = server.url;
});
beforeEach(() => {
  Object.assign(platform, { secret: 's1', requests: [], next: [] });
});
afterAll(() => server.close());

const clientWith = (options: Partial<UserInfoClientOptions>) =>
  new UserInfoClient({ baseUrl, ...credentials, appSecret: 's1', ...options });

/** A call, and a run of one row: both send by the same rules. */
const ways = {
  call: async (client: UserInfoClient, options: object = {}) => {
    await client.passback(row, options);
  },
  run: async (client: UserInfoClient, options: object = {}) => {
    for await (const one of client.passbackAll([row], options))
      if (one.outcome !== 'ok') throw one.error;
  },
};

/** A vault whose calls are counted, and answered one turn later. */
function vault() {
  const state = { calls: [] as boolean[], atOnce: 0, most: 0 };
  const fetch = async (isRefused: boolean) => {
    state.calls.push(isRefused);
    state.atOnce += 1;
    state.most = Math.max(state.most, state.atOnce);
    await turn();
    state.atOnce -= 1;
    return platform.secret;
  };
  return { state, fetch };
}

describe.each(Object.entries(ways))('a secret in a vault, by a %s', (_, send) => {
  it.each(['a function', 'a source with a life time'])(
    'of %s is fetched once for all',
    async (kind) => {
      const { state, fetch } = vault();
      const appSecret = kind === 'a function' ? fetch : { fetch, lifetimeMs: 60_000 };
      await using client = clientWith({ appSecret });
      await Promise.all(Array.from({ length: 50 }, () => send(client)));
      expect(state.most).toBe(1);
      // A function alone is called again after a second.
      expect(state.calls.length).toBeLessThan(kind === 'a function' ? 20 : 2);
    },
  );

  it('is fetched anew when the service refuses its signature, and the request is sent once more', async () => {
    const { state, fetch } = vault();
    await using client = clientWith({ appSecret: { fetch, lifetimeMs: 60_000 } });
    await send(client);
    platform.secret = 's2';
    await send(client);
    expect(state.calls).toEqual([false, true]);
    expect(platform.requests).toHaveLength(3);
  });

  it('that is wrong, too, when it is fetched anew, is refused', async () => {
    await using client = clientWith({ appSecret: async () => 'another' });
    await expect(send(client)).rejects.toMatchObject({ means: 'wrongAppSign' });
    expect(platform.requests).toHaveLength(2);
  });
});

it('a row of one attempt is sent once more where its secret was old', async () => {
  const { fetch } = vault();
  await using client = clientWith({ appSecret: { fetch, lifetimeMs: 60_000 }, attempts: 1 });
  await ways.run(client);
  platform.secret = 's2';
  await ways.run(client);
  expect(platform.requests).toHaveLength(3);
});

it('a secret that comes late does not take the place of a newer one', async () => {
  platform.secret = 's2';
  let calls = 0;
  let comeLate = () => {};
  const late = new Promise<string>((resolve) => {
    comeLate = () => resolve('s1');
  });
  const fetch = () => {
    calls += 1;
    return calls === 1 ? late : 's2';
  };
  await using client = clientWith({ appSecret: { fetch, lifetimeMs: 60_000 }, timeoutMs: 100 });
  // The function has the time of the client, each call more.
  const call = () => client.passback(row, { timeoutMs: 60_000 });
  await expect(call()).rejects.toMatchObject({ reason: 'secret' });
  await call();
  comeLate();
  await turn();
  await call();
  expect([calls, platform.requests.length]).toEqual([2, 2]);
});

it('a request that is refused after its secret was renewed is sent once more, by the new one', async () => {
  const { state, fetch } = vault();
  const refused = JSON.stringify({ code: 40102, msg: 'm', data: {} });
  let [refuseFirst, refuseLate] = [() => {}, () => {}];
  const slow = await httpServer((request, response, count) => {
    const refuse = () => void response.end(refused);
    if (count === 1) refuseFirst = refuse;
    else if (count === 2) {
      refuseLate = refuse;
      refuseFirst();
    } else {
      response.end(writtenBy(request));
      refuseLate();
    }
  });
  await using client = clientWith({ baseUrl: slow.url, appSecret: { fetch, lifetimeMs: 60_000 } });
  await Promise.all([client.passback(row), client.passback(row)]);
  expect([state.calls, slow.requests.length]).toEqual([[false, true], 4]);
  await slow.close();
});

it('a secret is renewed before the end of its life: no request waits for it', async () => {
  const { state, fetch } = vault();
  await using client = clientWith({ appSecret: { fetch, lifetimeMs: 50_000 } });
  await ways.call(client);
  // The clock of the client's life times; nothing waits for it.
  const { now } = performance;
  const started = now.call(performance);
  performance.now = () => now.call(performance) + 41_000;
  try {
    await ways.call(client);
    expect(performance.now() - started).toBeLessThan(50_000 + 41_000);
    await ways.call(client);
    expect(state.calls).toHaveLength(2);
  } finally {
    performance.now = now;
  }
});

it('a renewal that fails is not tried again with each request', async () => {
  let calls = 0;
  const fetch = () => {
    calls += 1;
    if (calls > 1) throw new Error('the vault is sealed');
    return 's1';
  };
  const logger = { debug() {}, warn() {} };
  await using client = clientWith({ appSecret: { fetch, lifetimeMs: 60_000 }, logger });
  await ways.call(client);
  const { now } = performance;
  const later = now.call(performance) + 50_000;
  performance.now = () => later;
  try {
    for (let call = 0; call < 5; call++) await ways.call(client);
  } finally {
    performance.now = now;
  }
  expect(calls).toBe(2);
});

describe.each(Object.entries(ways))('a signer that returns a promise, by a %s', (_, send) => {
  const later = (name: 'app_sign' | 'sign') => ({
    digestLength: 32,
    sign: async (...given: Parameters<typeof signers.sign.sign>) => {
      await turn();
      return { digest: signers[name].sign(...given).digest };
    },
  });

  it('signs requests', async () => {
    for (const signing of [
      { app_sign: later('app_sign'), sign: later('sign') },
      { app_sign: signers.app_sign, sign: later('sign') },
    ]) {
      await using client = clientWith({ signing });
      await send(client);
      expect(() => client.signPassback(row)).toThrow('a signer returns a promise');
    }
    expect(platform.requests).toHaveLength(2);
    for (const name of ['app_sign', 'sign'] as const) {
      let query: string | undefined;
      const sign = (...given: Parameters<typeof signers.sign.sign>) => {
        query = given[0].query;
        return later(name).sign(...given);
      };
      const wrong = { digestLength: 31, usesQuery: true, sign };
      await using client = clientWith({ signing: { ...signers, [name]: wrong } });
      await expect(send(client)).rejects.toThrow(`${name} has 32 characters, not 31`);
      expect(query).toContain('&app_key=');
    }
  });

  it('that fails leaves the request unsent: it can be made again', async () => {
    const failing = { digestLength: 32, sign: () => Promise.reject(new Error('kms')) };
    await using client = clientWith({ signing: { app_sign: failing, sign: failing }, attempts: 1 });
    const fault = { reason: 'secret', received: false, retryable: true, cause: { message: 'kms' } };
    await expect(send(client)).rejects.toMatchObject(fault);
    expect(platform.requests).toHaveLength(0);
  });

  it('that never returns ends with the time-out', async () => {
    const stuck = { digestLength: 32, sign: () => new Promise<never>(() => {}) };
    await using client = clientWith({
      signing: { app_sign: stuck, sign: stuck },
      timeoutMs: 40,
      attempts: 1,
    });
    await expect(send(client)).rejects.toMatchObject({ reason: 'timeout', received: false });
  });
});

describe.each(Object.entries(ways))('headers of a %s', (_, send) => {
  it('are sent beside those of the client, and take precedence', async () => {
    await using client = clientWith({ headers: { 'X-Gateway': 'g', 'X-Tenant': 'of the client' } });
    await send(client, {
      headers: { 'x-request-id': 'r1', 'x-tenant': new Secret('of the call') },
    });
    await send(client);
    const shown = platform.requests.map(({ headers }) => [
      headers['x-gateway'],
      headers['x-request-id'],
      headers['x-tenant'],
    ]);
    expect(shown).toEqual([
      ['g', 'r1', 'of the call'],
      ['g', undefined, 'of the client'],
    ]);
  });

  it.each([
    [{ 'x-secret': 'is s1' }, 'the header x-secret would send the app secret'],
    [{ 'x-a': 'line\nbreak' }, 'x-a'],
    [{ 'x-a': 1 }, 'is neither text nor a function'],
    [{ 'x-a': '1', 'X-A': '2' }, 'is given twice'],
  ])('are checked: %j', async (headers, fault) => {
    await using client = clientWith({});
    await expect((async () => send(client, { headers }))()).rejects.toThrow(fault);
    expect(platform.requests).toHaveLength(0);
  });
});

describe('the value of a header that a gateway repeats is in no error and no event', () => {
  const key = 'sk-live-4711';
  const type = { 'content-type': 'text/html' };
  const answers: Readonly<Record<string, Answer>> = {
    'as msg': { code: 40301, text: `{"code":40301,"msg":"no ${key}","data":{}}` },
    'as another member': {
      code: 0,
      status: 401,
      text: `{"message":"no ${key}","error":{"reason":"${key}"}}`,
    },
    'as a title': { code: 0, status: 403, headers: type, text: `<title>${key}</title>` },
    'in a location': {
      code: 0,
      status: 302,
      headers: { ...type, location: `/in/${key}` },
      text: 'x',
    },
    'with another success': { code: 0, text: `{"code":1,"msg":"${key}","data":{"union_id":"u1"}}` },
  };
  it.each(Object.entries(answers))('%s', async (_, given) => {
    const events: unknown[] = [];
    const keep = (event: object) => void events.push(event);
    const headers = { authorization: `Bearer ${key}` };
    await using client = clientWith({ attempts: 1, headers, onResponse: keep, onNoAnswer: keep });
    platform.next = [given];
    const error: unknown = await rejection(ways.call(client));
    expect(platform.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(error).toBeInstanceOf(CallError);
    expect(events).toHaveLength(1);
    expect(
      inspect({ error, events }, { depth: 9 }) + JSON.stringify({ error, events }),
    ).not.toContain(key);
  });
});

it('the headers of a run are checked when it is asked for', async () => {
  await using client = clientWith({});
  expect(() => client.passbackAll([row], { headers: { 'x-a': 'line\nbreak' } })).toThrow('x-a');
});

describe('a derived client', () => {
  class Users extends UserInfoClient {
    readonly name = 'users';
    hello() {
      return `hello ${this.name}`;
    }
  }

  it('is of the same class, with its properties', async () => {
    await using users = new Users({ baseUrl, ...credentials, appSecret: 's1' });
    const derived = users.withOptions({ timeoutMs: 1_000 });
    expect(derived).toBeInstanceOf(Users);
    expect(derived.hello()).toBe('hello users');
    expect(await derived.passback(row)).toMatchObject({ data: { union_id: 'u1' } });
  });

  it('shares what its origin compiled, unless its recipes are other ones', async () => {
    let parsed = 0;
    const signing = {
      get app_sign() {
        parsed += 1;
        return defaultRecipes.app_sign;
      },
      sign: defaultRecipes.sign,
    };
    await using client = clientWith({ platform: { signing } });
    const before = parsed;
    expect(before).toBeGreaterThan(0);
    await ways.call(client.withOptions({ headers: { 'x-request-id': 'r1' } }));
    expect(parsed).toBe(before);
    const other = {
      app_sign: defaultRecipes.app_sign,
      sign: { ...defaultRecipes.sign, output: 'upper' },
    };
    expect(() => client.withOptions({ platform: { signing: other as never } })).toThrow();
  });
});

describe.each(Object.entries(ways))('the pause before another attempt of a %s', (way, send) => {
  it('is shown to onRetry, with its error, and is in the error in the end', async () => {
    const events: RetryEvent[] = [];
    await using client = clientWith({ onRetry: (event) => events.push(event), attempts: 2 });
    const refusal = { code: 42901, status: 429, headers: { 'retry-after': '0' } };
    platform.next = [refusal];
    await send(client, { context: 'job 7' });
    expect(events).toMatchObject([
      {
        operation: 'passback',
        attempt: 1,
        context: 'job 7',
        delayMs: way === 'call' ? 0 : expect.any(Number),
      },
    ]);
    expect(events[0]).toMatchObject({
      requestId: expect.any(String),
      error: { means: 'tooManyRequests' },
    });
  });
});

it('an error has the pause that the service asks for, and its message as JSON', async () => {
  await using client = clientWith({ attempts: 1 });
  platform.next = [{ code: 42901, status: 429, headers: { 'retry-after': '7' } }];
  const refused: RejectedError = await rejection(client.passback(row));
  expect(refused.retryAfterMs).toBe(7_000);
  expect(JSON.parse(JSON.stringify(refused))).toMatchObject({
    name: 'RejectedError',
    message: refused.message,
    retryAfterMs: 7_000,
    means: 'tooManyRequests',
  });
  platform.next = [{ code: 40106 }];
  await expect(client.read({ code: 'c' })).rejects.toMatchObject({ retryAfterMs: undefined });
});

describe('a gateway that asks for a client certificate', () => {
  const cert = readFileSync(join(certificates, 'good.crt'), 'utf8');
  const key = readFileSync(join(certificates, 'server.key'), 'utf8');

  it('gets it; without one, the error names the options', async () => {
    const gateway = await tlsServer('good', baseUrl, { requestCert: true, ca });
    try {
      await using client = clientWith({
        baseUrl: gateway.url,
        extraCa: ca,
        cert,
        key: new Secret(key),
      });
      await ways.call(client);
      await using without = clientWith({ baseUrl: gateway.url, extraCa: ca, attempts: 1 });
      const error: NoAnswerError = await rejection(without.passback(row));
      expect(`${error.hint}`).toContain('client certificate');
      expect(platform.requests).toHaveLength(1);
    } finally {
      await gateway.close();
    }
  });

  it.each([
    [{ cert }, 'key is missing: a client certificate needs both'],
    [{ key }, 'cert is missing'],
    [{ cert: 'x', key }, 'cert holds no certificate'],
    [{ cert, key: 'x' }, 'key holds no private key'],
    [{ cert: ca, key }, 'key is not the key of the certificate'],
  ])('is not called with what is not a pair', (options, fault) => {
    expect(() => clientWith(options)).toThrow(fault);
  });
});
