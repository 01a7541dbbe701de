import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  InvalidInputError,
  JsonNumber,
  Secret,
  UserInfoClient,
  UserInfoError,
} from '../../../src/index.js';
import { passbackAll } from '../../support/all-rows.js';
import { credentials } from '../../support/credentials.js';
import { httpServer } from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';

const ok = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';
let server: Awaited<ReturnType<typeof httpServer>>;
let client: UserInfoClient;

beforeAll(async () => {
  server = await httpServer((_, response) => response.end(ok));
  client = new UserInfoClient(options() as never);
});

beforeEach(() => void server.requests.splice(0));

afterAll(async () => {
  await client.close();
  await server.close();
});

const options = () => ({ baseUrl: server.url, ...credentials });

/** The InvalidInputError that something ends with, whether it throws or rejects. */
async function fault(act: () => unknown): Promise<InvalidInputError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('an option of a client is refused by name', () => {
  const make = (given: object | undefined) => () => new UserInfoClient(given as never);

  it.each<[string, Record<string, unknown>, string]>([
    ['no tenant', { tenantCode: undefined }, 'tenantCode is missing'],
    ['an empty channel', { channel: '' }, 'channel is empty'],
    ['an app key that is a number', { appKey: 5 }, 'appKey is 5, not text'],
    ['no secret', { appSecret: undefined }, 'appSecret is missing'],
    ['an object as the secret', { appSecret: {} }, 'appSecret is an object, not text'],
    ['an empty secret', { appSecret: '' }, 'appSecret is empty'],
    ['a secret that was shown', { appSecret: '<secret>' }, 'appSecret is <secret>'],
    [
      'a base URL with the path',
      { baseUrl: 'https://x.example/api/v1/' },
      'baseUrl contains /api/v1',
    ],
    ['an empty proxy', { proxy: '' }, 'proxy is not the address of an http proxy'],
    [
      'a proxy of another kind',
      { proxy: 'socks5://x' },
      'proxy is not the address of an http proxy',
    ],
    ['a base URL of another kind', { baseUrl: 5 }, 'baseUrl is 5, not text'],
    ['a base URL that is none', { baseUrl: 'x' }, 'the option baseUrl is not an absolute http'],
    [
      'plain http to another machine',
      { baseUrl: 'http://service.example' },
      'the option baseUrl is plain http',
    ],
    ['a time-out that is text', { timeoutMs: '100' }, 'timeoutMs is text, not a number'],
    ['a time-out of 0', { timeoutMs: 0 }, 'timeoutMs is 0, not a number'],
    ['a time-out beyond a timer', { timeoutMs: 2 ** 31 }, 'timeoutMs is 2147483648'],
    ['no attempt', { attempts: 0 }, 'attempts is 0, not a whole number from 1'],
    ['half an attempt', { attempts: 1.5 }, 'attempts is 1.5'],
    ['no connection', { connections: 0 }, 'connections is 0'],
    ['allowHttp as text', { allowHttp: 'no' }, 'allowHttp is text, not true or false'],
    [
      'signing without recipes',
      { signing: {} },
      'signing is an object, not the signers app_sign and sign (recipes belong into platform.signing)',
    ],
    ['a dispatcher that is none', { dispatcher: new Map() }, 'dispatcher is an instance of Map'],
    ['a hook that is none', { onRequest: 'log' }, 'onRequest is text, not a function'],
    ['a clock that is none', { now: 5 }, 'now is 5, not a function'],
    ['a misspelt option', { timeout: 5 }, '"timeout" is unknown'],
  ])('%s', async (_, given, said) => {
    const error = await fault(make({ ...options(), ...given }));
    expect(error.message).toContain(said);
    expect(error.message).not.toContain('do-not-show-me');
  });

  it('all options that are missing', async () => {
    const error = await fault(make({ channel: 'web', appKey: 'app-1', appSecret: 's1' } as never));
    expect(error.message).toContain('baseUrl, tenantCode are missing');
  });

  it.each([undefined, null, 'http://127.0.0.1', []])(
    'and so are options that are none: %s',
    async (given) => {
      const error = await fault(make(given as never));
      expect(error.message).toMatch(/^the options of UserInfoClient: .* was given, not an object$/);
      expect(error.hint).toContain('baseUrl, tenantCode');
    },
  );

  it('also for many rows', async () => {
    const given = { ...options(), appSecret: '' };
    const run = async () => {
      for await (const _ of passbackAll([], given)) expect.unreachable();
    };
    expect((await fault(run)).message).toContain('appSecret is empty');
  });

  it('and a base URL may be a URL', async () => {
    await using other = new UserInfoClient({
      ...options(),
      baseUrl: new URL('/prefix', server.url),
    });
    await other.read({ code: 'c' });
    expect(server.requests[0]?.path).toMatch(/^\/prefix\/api/);
  });

  it('and a random that is not text, or a clock that was never set, is reported by the call', async () => {
    for (const random of [() => 12345678, () => undefined, async () => 'abcdefgh']) {
      await using client = new UserInfoClient({ ...options(), random: random as never });
      const error = await fault(() => client.read({ code: 'c' }));
      expect(error.message).toBe('what the option random returns is not text');
    }
    await using early = new UserInfoClient({ ...options(), now: () => 86_400_000 });
    expect(await fault(() => early.read({ code: 'c' }))).toMatchObject({
      hint: expect.stringContaining('clock'),
    });
  });

  it('and a dispatcher that accepts no request is reported by the call', async () => {
    const dispatch = () => {
      throw new Error('invalid onError method');
    };
    await using other = new UserInfoClient({ ...options(), dispatcher: { dispatch } as never });
    const error = await fault(() => other.read({ code: 'c' }));
    expect(error).toMatchObject({
      message: 'the dispatcher rejects the request',
      cause: { message: 'invalid onError method' },
    });
  });
});

describe("invalid arguments of a call are refused by name, with the caller's frames, and nothing is sent", () => {
  const userInfo = { a: 'x' };

  it.each<
    [
      string,
      (client: {
        read: (...given: unknown[]) => unknown;
        passback: (...given: unknown[]) => unknown;
      }) => unknown,
      string,
    ]
  >([
    ['no input', (to) => to.read(), 'the input of a read: undefined was given'],
    ['a code in place of the input', (to) => to.read('c'), 'the input of a read: text was given'],
    ['a code that is a number', (to) => to.read({ code: 5 }), 'code is 5, not text'],
    ['an empty code', (to) => to.read({ code: '' }), 'parameter code is missing'],
    ['names as text', (to) => to.read({ code: 'c', infoNames: 'mobile' }), 'infoNames is text'],
    ['a name that is none', (to) => to.read({ code: 'c', infoNames: [5] }), 'infoNames is an'],
    [
      'a list of info names with a hole',
      // biome-ignore lint/suspicious/noSparseArray: it is what is tested
      (to) => to.read({ code: 'c', infoNames: ['mobile', , 'gps'] }),
      'infoNames is an array with',
    ],
    ['a wire name', (to) => to.read({ code: 'c', info_name: 'mobile' }), '"info_name" is unknown'],
    ['a number as user', (to) => to.passback({ unionId: 5, userInfo }), 'unionId is 5, not text'],
    ['null as user', (to) => to.passback({ unionId: null, userInfo }), 'unionId is null, not text'],
    ['an object as key', (to) => to.passback({ primaryKey: {}, userInfo }), 'primaryKey is an'],
    ['another name', (to) => to.passback({ unionId: 'u', user_info: {} }), 'userInfo is missing'],
    ['an unknown option', (to) => to.read({ code: 'c' }, { timeout: 5 }), '"timeout" is unknown'],
    ['no signal', (to) => to.read({ code: 'c' }, { signal: {} }), 'signal is an object'],
  ])('%s', async (_, call, said) => {
    async function theCallOfOurs() {
      await call(client as never);
    }
    const error = await fault(theCallOfOurs);
    expect(error.message).toContain(said);
    expect(error.stack).toContain('theCallOfOurs');
    expect(server.requests).toHaveLength(0);
  });

  class Profile {
    level = 'gold';
  }
  function argumentsOf(..._: unknown[]) {
    // biome-ignore lint/complexity/noArguments: it is what is tested
    return arguments;
  }

  it.each<[unknown, string]>([
    ['a=b', 'text'],
    [['a', 'b'], 'an array'],
    [new Map([['a', 'b']]), 'an instance of Map'],
    [new Set(['a']), 'an instance of Set'],
    [new Date(), 'an instance of Date'],
    [new URLSearchParams('a=b'), 'an instance of URLSearchParams'],
    [Promise.resolve({ a: 'b' }), 'an instance of Promise'],
    [new Profile(), 'an instance of Profile'],
    [Object.create({ a: 'b' }), 'an object'],
    [argumentsOf('a', 'b'), 'an object'],
    [(function* () {})(), 'an object'],
    [() => {}, 'a function'],
    [5, '5'],
    [null, 'null'],
  ])('userInfo that is no plain object: %s', async (given, kind) => {
    const error = await fault(() => client.passback({ unionId: 'u1', userInfo: given as never }));
    expect(error.message).toContain(`userInfo is ${kind}, not a plain object of keys and values`);
    expect(server.requests).toHaveLength(0);
  });

  it('while plain objects of any kind are accepted', async () => {
    const { runInNewContext } = await import('node:vm');
    const plain = [
      { a: 'x' },
      Object.assign(Object.create(null), { a: 'x' }),
      Object.freeze({ a: 'x' }),
      new Proxy({ a: 'x' }, {}),
      runInNewContext("({ a: 'x' })"),
    ];
    for (const userInfo of plain) await client.passback({ unionId: 'u1', userInfo });
    const sent = server.requests.map(({ body }) => new URLSearchParams(body).get('user_info'));
    expect(sent).toEqual(Array(plain.length).fill('{"a":"x"}'));
  });

  it('a signal of another realm is accepted', async () => {
    const listeners = { addEventListener: () => {}, removeEventListener: () => {} };
    await client.read({ code: 'c' }, { signal: { aborted: false, ...listeners } as never });
    expect(server.requests).toHaveLength(1);
  });
});

describe('another copy of the package', () => {
  it('recognizes secrets and numbers of this one, and the reverse', async () => {
    vi.resetModules();
    const other = await import('../../../src/index.js');
    expect(other.UserInfoClient).not.toBe(UserInfoClient);
    const secret = new other.Secret('do-not-show-me');
    expect(secret).toBeInstanceOf(Secret);
    await using mixed = new UserInfoClient({ ...options(), appSecret: secret as never });
    const [now, random] = [() => 1_700_000_000_000, () => 'abcdefgh'];
    const sign = (appSecret: unknown) =>
      new UserInfoClient({ ...options(), appSecret: appSecret as never, now, random })
        .signRead({ code: 'c' })
        .url.searchParams.get('sign');
    expect(sign(secret)).toBe(sign('do-not-show-me'));
    await mixed.passback({ unionId: 'u1', userInfo: { n: new other.JsonNumber('1.00') } });
    expect(new URLSearchParams(server.requests[0]?.body).get('user_info')).toBe('{"n":1.00}');
    expect(new JsonNumber('1')).toBeInstanceOf(other.JsonNumber);
    expect({ text: '1' }).not.toBeInstanceOf(JsonNumber);
    expect({ reveal: () => 'x' }).not.toBeInstanceOf(Secret);
  });
});

it.each([
  ['a shown secret', () => new Secret('<secret>'), 'CREDENTIALS'],
  ['a number that is none', () => new JsonNumber('01'), 'INVALID_INPUT'],
  [
    'a recipe',
    () => new UserInfoClient({ ...options(), platform: { signing: { sign: {} } } as never }),
    'INVALID_INPUT',
  ],
])('every error thrown on purpose is a UserInfoError: %s', (_, act, code) => {
  let thrown: unknown;
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UserInfoError);
  expect(thrown).toMatchObject({ code });
});

describe('an error about the input of a passback has the names of the SDK', () => {
  it.each([
    [{ userInfo: { a: 'x' } }, 'neither unionId nor primaryKey is given'],
    [{ userInfo: { a: 'x' }, primaryKey: 'b' }, 'primaryKey "b" is not a key of userInfo'],
    [{ userInfo: { a: true }, primaryKey: 'a' }, 'primaryKey "a" has no usable value in userInfo'],
    [{ userInfo: { a: 'x' }, unionId: '\0' }, 'parameter "unionId" holds U+0000'],
    [{ userInfo: { '\0': 'x' }, primaryKey: '\0' }, 'userInfo key "\\u0000" holds U+0000'],
    [{ userInfo: {}, unionId: 'u1' }, 'userInfo is empty: nothing to pass back'],
    [{ userInfo: { '': 'x' }, unionId: 'u1' }, 'userInfo has an empty key'],
    [{ userInfo: { a: [1] }, unionId: 'u1' }, 'userInfo key "a" holds an array: one level only'],
    [{ userInfo: { a: Number.POSITIVE_INFINITY }, unionId: 'u1' }, 'userInfo key "a" is Infinity'],
    [{ userInfo: { a: '\ud800' }, unionId: 'u1' }, 'userInfo key "a" holds an unpaired surrogate'],
    [{ userInfo: { channel: 'x' }, unionId: 'u1' }, 'userInfo key "channel" is reserved'],
  ])('%j: %s', async (input, words) => {
    await using client = new UserInfoClient({
      baseUrl: 'http://127.0.0.1:1',
      tenantCode: 'acme',
      channel: 'web',
      appKey: 'app-1',
      appSecret: 's1',
    });
    const { message, hint } = await rejection<InvalidInputError>(client.passback(input as never));
    expect(message).toContain(words);
    expect(`${message} ${hint}`).not.toMatch(/union_id|primary_key|user_info/);
  });
});
