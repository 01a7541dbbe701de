import { expect, it } from 'vitest';
import { createTestService, type TestService } from '../../../src/service/index.js';
import { Machine } from '../../support/cli.js';
import {
  type Draft,
  draftPassback,
  draftRead,
  freshRandom,
  send,
} from '../../support/foreign-client.js';
import {
  type Comparison,
  controlOf,
  probePlatform,
  RandomPlatform,
  type Report,
  secret,
  type Truth,
} from './random-platforms.js';

/**
 * Probes the platforms with these numbers, some at a time; `fixed` are traits that are not drawn.
 */
async function probeAll(
  seeds: readonly number[],
  fixed: object,
  use: (result: Comparison) => unknown,
) {
  using machine = new Machine();
  machine.apart = true;
  const waiting = [...seeds];
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      using platform = await RandomPlatform.start(seed, fixed);
      await use(await probePlatform(machine, platform.truth, seed, '2ms'));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
}

it('says only what is true of platforms of another making', { timeout: 600_000 }, async () => {
  const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
  let right = 0;
  await probeAll(seeds, {}, (result) => {
    const { seed, wrong, falseSentences, unsaidKeys, requests, announced, stderr } = result;
    expect({ seed, wrong, falseSentences, unsaidKeys }, stderr).toEqual({
      seed,
      wrong: [],
      falseSentences: [],
      unsaidKeys: [],
    });
    expect(requests).toBeLessThanOrEqual(announced);
    right += result.right;
  });
  expect(right).toBeGreaterThan(150);
});

/** A user of the client without mistakes, and a platform that answers each fault of a request. */
const plain = {
  caller: { mistake: null, codes: 5, names_user: true, stale: 0 },
  ...{ limit: null, block: null, hiccup: 0, write_limit: 0, gateway: null, names_refused: false },
  ...{
    may_read: true,
    may_write: true,
    needs_scope: false,
    any_code: false,
    checks_code_form: false,
  },
  ...{ used_code_differs: false, looking_uses: false, null: 'remove', absent_basic: 'omit' },
};

it('a service with the saved file answers each fault as the platform', {
  timeout: 600_000,
}, async () => {
  await probeAll([21, 22, 23], plain, async ({ truth, report, open, stderr }) => {
    if (report === null) throw new Error(stderr);
    expect(await unlike(truth, report, open, 46)).toEqual([]);
  });
});

/**
 * The points that decide how requests of a kind are answered: where one is not known, the service
 * has the default.
 */
const pointsOf: Readonly<Record<string, readonly string[]>> = {
  old: ['clock_window_seconds', 'timestampOutsideWindow'],
  ahead: ['clock_ahead_seconds', 'clock_window_seconds', 'timestampOutsideWindow'],
  extra: ['unknown_parameters', 'unknownParameter'],
  scope: ['scopes', 'scopeNotAccepted'],
  copy: ['replay', 'randomReplayed'],
  used: ['code_uses', 'codeNotValid'],
  unknown: ['codeNotValid'],
  missing: ['missingParameter'],
  random: ['malformedParameter'],
  timestamp: ['malformedParameter'],
  app: ['unknownAppKey'],
  tenant: ['appNotAllowed'],
  app_sign: ['wrongAppSign'],
  sign: ['wrongSign'],
  method: ['wrongMethod'],
  path: ['noSuchPath'],
  nobody: ['userNotNamed'],
  key: ['primaryKeyNotInUserInfo'],
  nested: ['userInfoNotFlat'],
  reserved: ['reservedKey'],
};

const users = [{ union_id: 'u1', basic_info: { mobile: '13800001111', chat_nickname: 'Ming' } }];

/**
 * The kinds of requests that are sent to the platform and to the service: a fault each, with a code
 * that is good.
 */
const kinds =
  'whole named used unknown missing random timestamp app tenant app_sign sign old ahead extra scope copy method path write nobody key nested reserved'.split(
    ' ',
  );

/** A request of a kind, to be signed: `skew` is the lead of the platform's clock, in seconds. */
function draftOf(kind: string, number: number, code: string, skew: number): Draft {
  const app = { app_key: 'k', secret, tenant_code: 'acme', channel: 'web' };
  const change = (draft: Draft, name: string, value: string | null) => {
    if (value === null) draft.query.delete(name);
    else draft.query.set(name, value);
    return draft;
  };
  const at = (draft: Draft, lead: number) =>
    change(draft, 'timestamp', String(Math.floor(Date.now() / 1000) + skew + lead));
  const read = (query: Record<string, string> = {}) => at(draftRead(app, code, query), 0);
  const write = (form: Record<string, string>) => at(draftPassback(app, form), 0);
  const required = ['app_key', 'app_sign', 'channel', 'random', 'code', 'tenant_code'];
  const own = JSON.stringify({ acme_key: String(number) });
  switch (kind) {
    case 'named':
      return read({ info_name: 'mobile,acme_key,nothing' });
    case 'unknown':
      return change(read(), 'code', 'never-issued');
    case 'missing':
      return change(read(), required[number % required.length] ?? '', null);
    case 'random':
      return change(read(), 'random', freshRandom().slice(0, 7));
    case 'timestamp':
      return change(read(), 'timestamp', '123456789');
    case 'app':
      return change(read(), 'app_key', 'another');
    case 'tenant':
      return change(read(), 'tenant_code', 'another');
    case 'app_sign':
      return { ...read(), spoilAppSign: true };
    case 'sign':
      return { ...read(), spoilSign: true };
    case 'old':
      return at(read(), -number);
    case 'ahead':
      return at(read(), number);
    case 'extra':
      return read({ more: '1' });
    case 'scope':
      return read({ scope: number % 2 === 0 ? 'get_user_info' : 'other' });
    case 'method':
      return { ...read(), method: 'POST' };
    case 'path':
      return { ...read(), path: '/api/v1/other' };
    case 'copy':
    case 'write':
      return write({ union_id: 'u1', user_info: own });
    case 'nobody':
      return write({ user_info: own });
    case 'key':
      return write({ primary_key: 'acme_other', user_info: own });
    case 'nested':
      return write({ union_id: 'u1', user_info: '{"acme":{"a":1}}' });
    case 'reserved':
      return write({ union_id: 'u1', user_info: '{"channel":"web"}' });
    default:
      return read();
  }
}

/**
 * Sends requests to the platform and to a service with its file; returns those that are answered
 * otherwise, unless the report says that it is not known how.
 */
async function unlike(
  truth: Truth,
  { platform, refusals }: Report,
  open: readonly string[],
  requests: number,
): Promise<string[]> {
  const isClear = (name: string) => {
    const ofName = refusals.filter(({ means }) => means === name);
    return ofName.length > 0 && ofName.every(({ unclear }) => unclear === null);
  };
  const isKnown = (point: string) =>
    point in truth.codes ? isClear(point) : !open.includes(point);
  const options = {
    platform,
    users,
    appKey: 'k',
    appSecret: secret,
    tenantCode: 'acme',
    channel: 'web',
  };
  await using service: TestService = await createTestService(options);
  await controlOf(truth, 'calm=1');
  const differences: string[] = [];
  for (let number = 0; number < requests; number += 1) {
    const kind = kinds[number % kinds.length] ?? '';
    if (!(pointsOf[kind] ?? []).every(isKnown)) continue;
    const seconds = (number * 37) % 1200;
    const bound = kind === 'old' ? truth.window : truth.ahead;
    // Within two seconds of its end the window depends on the moment.
    const lead =
      ['old', 'ahead'].includes(kind) && Math.abs(Number(bound) - seconds) < 3 ? 0 : seconds;
    const ask = async (url: string, code: string, skew: number) => {
      const draft = draftOf(kind, lead, code, skew);
      if (kind === 'used' || kind === 'copy')
        for (
          let use = 0;
          use < (kind === 'copy' ? 1 : Math.min(4, Number(truth.uses) || 4));
          use += 1
        )
          await send(url, kind === 'copy' ? draft : draftOf(kind, lead, code, skew));
      const { status, envelope } = await send(url, draft);
      return `${envelope.code}, HTTP ${status}`;
    };
    await controlOf(truth, `issue=code-${number}`);
    const one = await ask(`http://127.0.0.1:${truth.port}`, `code-${number}`, Number(truth.skew));
    const other = await ask(service.url, await service.issueCode('u1'), 0);
    if (one !== other) differences.push(`${kind} ${lead}: ${one}; the service ${other}`);
  }
  return differences;
}
