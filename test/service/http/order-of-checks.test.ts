import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, type OperationName } from '../../../src/core/contract/endpoints.js';
import {
  type Draft,
  draftPassback,
  draftRead,
  freshRandom,
  send,
  signDraft,
} from '../../support/foreign-client.js';
import { endpointAt, OpenApiSchema } from '../../support/openapi-schema.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

/** Breaks one rule of a good request, and no other. */
type Break = (draft: Draft) => void;

const maxBodyBytes = 4096;
let running: RunningService;
let usedRandom: string;

beforeAll(async () => {
  running = await runService({ maxBodyBytes });
  await running.service.admin.putUser(user('u1', { extension_info: { seat: '1', level: 'gold' } }));
  await running.service.admin.putUser(user('u2', { extension_info: { seat: '2', level: 'gold' } }));
  usedRandom = freshRandom();
  const first = goodPassback();
  first.query.set('random', usedRandom);
  expect((await send(running.service.url, first)).envelope.code).toBe(200);
});
afterAll(() => running.service.close());

function goodPassback(): Draft {
  return draftPassback(running.app, { primary_key: 'seat', user_info: '{"seat":"1"}' });
}

async function goodRead(): Promise<Draft> {
  const { code } = await running.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
  return draftRead(running.app, code);
}

const noPath: [number, Break] = [
  40402,
  (draft) => {
    draft.path = '/api/v1/server/user/nothing';
  },
];
const wrongMethod: [number, Break] = [
  40501,
  (draft) => {
    draft.method = draft.form === null ? 'DELETE' : 'POST';
  },
];
const tooLarge: [number, Break] = [
  41301,
  (draft) => {
    draft.form?.set('padding', 'x'.repeat(maxBodyBytes));
  },
];
/** What both operations check, in the order of the design, from the parameters on. */
const common: readonly [number, Break][] = [
  [40001, (draft) => draft.query.delete('channel')],
  [40002, (draft) => draft.query.set('random', `${draft.query.get('random')}`.slice(0, 7))],
  [40101, (draft) => draft.query.set('app_key', 'nobody')],
  [40301, (draft) => draft.query.set('tenant_code', 'other')],
  [40104, (draft) => draft.query.set('timestamp', String(Math.floor(Date.now() / 1000) - 310))],
  [
    40102,
    (draft) => {
      draft.spoilAppSign = true;
    },
  ],
  [
    40103,
    (draft) => {
      draft.spoilSign = true;
    },
  ],
  [40105, (draft) => draft.query.set('random', usedRandom)],
];
const passbackBreaks: readonly [number, Break][] = [
  noPath,
  wrongMethod,
  tooLarge,
  ...common,
  [40005, (draft) => draft.form?.delete('primary_key')],
  [40004, (draft) => draft.form?.set('user_info', '{"channel":"x","nested":{}}')],
  [40003, (draft) => draft.form?.set('user_info', '{"channel":"x"}')],
  [40006, (draft) => draft.form?.set('user_info', '{"other":"x"}')],
];
const readBreaks: readonly [number, Break][] = [
  noPath,
  wrongMethod,
  ...common,
  [40106, (draft) => draft.query.set('code', 'unknown')],
];

/** Each rule alone, and each with the one after it, which must stay unsaid. */
function cases(breaks: readonly [number, Break][]) {
  return breaks.flatMap(([code, first], index) => {
    const next = breaks[index + 1];
    const alone = { code, with: 'alone', breaks: [first] };
    return next === undefined
      ? [alone]
      : [alone, { code, with: `before ${next[0]}`, breaks: [next[1], first] }];
  });
}

describe('a passback', () => {
  it.each(cases(passbackBreaks))('is answered with $code, $with', async ({ code, breaks }) => {
    const draft = goodPassback();
    for (const rule of breaks) rule(draft);
    expectRefusal(await send(running.service.url, draft), code, draft);
  });

  it.each([
    [40401, { union_id: 'nobody', user_info: '{"a":"b"}' }],
    [40401, { primary_key: 'seat', user_info: '{"seat":"9"}' }],
    [40901, { primary_key: 'level', user_info: '{"level":"gold"}' }],
  ])('is answered with %i for %j', async (code, form) => {
    expectRefusal(await running.passback(form), code);
  });
});

describe('a read', () => {
  it.each(cases(readBreaks))('is answered with $code, $with', async ({ code, breaks }) => {
    const draft = await goodRead();
    for (const rule of breaks) rule(draft);
    expectRefusal(await send(running.service.url, draft), code, draft);
  });
});

describe('the parameters', () => {
  it.each(['tenant_code', 'app_key', 'channel', 'code', 'random', 'timestamp'])(
    'must have %s, and not empty',
    async (name) => {
      const missing = await goodRead();
      missing.query.delete(name);
      expect((await send(running.service.url, missing)).envelope).toMatchObject({
        code: 40001,
        msg: `parameter ${name} is missing`,
      });
      const empty = await goodRead();
      empty.query.set(name, '');
      expect((await send(running.service.url, empty)).envelope.code).toBe(40001);
    },
  );

  it.each([
    ['random', 'x'.repeat(21)],
    ['random', 'with\0nul00'],
    ['timestamp', '123456789'],
    ['timestamp', '12345678901'],
    ['timestamp', '1800000000000'],
    ['timestamp', '1e12345678'],
    ['timestamp', '-123456789'],
    ['scope', 'all'],
  ])('must not have a %s of %j', async (name, value) => {
    const draft = await goodRead();
    draft.query.set(name, value);
    expectRefusal(await send(running.service.url, draft), 40002);
  });

  it('must have a sign of the length that the app signs with; an app_sign of another length is wrong', async () => {
    const { target } = signDraft(await goodRead());
    const long = await fetch(`${running.service.url}${target}0`);
    expect(await long.json()).toMatchObject({ code: 40002, msg: 'sign has 33 characters, not 32' });
    for (const other of ['a', '$&0']) {
      const changed = target.replace(/(?<=&app_sign=)\w+/, other);
      const answer = await fetch(`${running.service.url}${changed}`);
      expect(await answer.json()).toMatchObject({ code: 40102 });
    }
  });

  it.each([8, 20])('can have a random of %i characters', async (length) => {
    const draft = await goodRead();
    draft.query.set('random', freshRandom().padStart(length, 'x').slice(-length));
    expect((await send(running.service.url, draft)).envelope.code).toBe(200);
  });

  it.each([-300, 300])('can have a timestamp that is off by %i seconds', async (seconds) => {
    const timed = await runService({ now: () => 1_800_000_000_000 });
    await timed.service.admin.putUser(user('u1'));
    const readAt = async (timestamp: number) => {
      const { code } = await timed.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
      const draft = draftRead(timed.app, code, { random: freshRandom() });
      draft.query.set('timestamp', String(timestamp));
      return (await send(timed.service.url, draft)).envelope.code;
    };
    expect(await readAt(1_800_000_000 + seconds)).toBe(200);
    expect(await readAt(1_800_000_000 + seconds + Math.sign(seconds))).toBe(40104);
    await timed.service.close();
  });

  it('are refused for another channel of the same tenant', async () => {
    const draft = await goodRead();
    draft.query.set('channel', 'other');
    expectRefusal(await send(running.service.url, draft), 40301);
  });
});

const goodRequests: Readonly<Record<OperationName, () => Draft | Promise<Draft>>> = {
  read: goodRead,
  passback: goodPassback,
};

it.each(endpoints)('keeps the random of a $operation', async ({ operation }) => {
  const draft = await goodRequests[operation]();
  draft.query.set('random', freshRandom());
  expect((await send(running.service.url, draft)).envelope.code).toBe(200);
  expectRefusal(await send(running.service.url, draft), 40105);
});

it('keeps the random of a request that a later check refuses', async () => {
  const random = freshRandom();
  const refused = goodPassback();
  refused.query.set('random', random);
  refused.form?.set('user_info', 'no json');
  expectRefusal(await send(running.service.url, refused), 40004);
  const again = goodPassback();
  again.query.set('random', random);
  expectRefusal(await send(running.service.url, again), 40105);
});

it('does not keep the random of a request with a wrong signature', async () => {
  const random = freshRandom();
  const forged = goodPassback();
  forged.query.set('random', random);
  forged.spoilSign = true;
  expectRefusal(await send(running.service.url, forged), 40103);
  const good = goodPassback();
  good.query.set('random', random);
  expect((await send(running.service.url, good)).envelope.code).toBe(200);
});

const schema = new OpenApiSchema();

/** An answer to a request for an operation is also one of the OpenAPI document. */
function expectRefusal(
  answer: Awaited<ReturnType<typeof send>>,
  code: number,
  { path, method }: Pick<Draft, 'path' | 'method'> = goodPassback(),
): void {
  expect(answer.envelope).toEqual({ code, msg: expect.stringMatching(/./), data: {} });
  expect(answer.status).toBe(Math.floor(code / 100));
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const endpoint = endpointAt(path);
  if (endpoint?.method !== method) return;
  expect(schema.faultsOfAnswer(endpoint, answer)).toEqual([]);
}
