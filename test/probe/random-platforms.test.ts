import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import type { PlatformFile } from '../../src/index.js';
import { createTestService, type TestService } from '../../src/service/index.js';
import { Machine } from '../support/cli.js';
import { type Draft, draftPassback, draftRead, freshRandom, send } from '../support/foreign-client.js';

/** What random_platform.py says about itself. */
interface Truth {
  readonly port: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly window: number | 'unlimited';
  readonly ahead: number | 'unlimited';
  readonly uses: number | 'unlimited';
  readonly [field: string]: unknown;
}

interface Report {
  readonly platform: PlatformFile;
  readonly refusals: readonly {
    readonly means: string;
    readonly code: number | null;
    readonly http_status: number | null;
    readonly unclear: string | null;
  }[];
  readonly points: readonly { readonly field: string; readonly found: boolean; readonly value?: unknown }[];
  readonly breaks: readonly { readonly section: string; readonly what: string }[];
  readonly doubts: readonly string[];
}

/** Numbers of the platforms, and what is fixed of them: a limit by count, which a slow machine meets, too. */
const quick = { slow: 0, per: 0.1 };
const few: readonly (readonly [seed: number, fixed: object])[] = [
  [1, { ...quick, throttle: null, block: null }],
  [
    2,
    {
      ...quick,
      throttle: 'once',
      block: null,
      order: 'before late',
      ids: 'hex',
      window: 60,
      ahead: 'unlimited',
    },
  ],
  [3, { ...quick, throttle: null, block: 'short', app_sign: false, ids: 'counter', window: 137, ahead: 30 }],
];
const many = Number(process.env.USERINFO_TEST_PLATFORMS ?? 0);
const first = Number(process.env.USERINFO_TEST_SEED ?? 1);
const platforms: typeof few =
  many === 0 ? few : Array.from({ length: many }, (_, index) => [first + index, { per: 0.4 }] as const);
const pause = many === 0 ? '10ms' : '100ms';

const machine = new Machine();
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
  machine[Symbol.dispose]();
});

const secret = 'Zq7-secret-of-app-01';

async function start(seed: number, fixed: object): Promise<Truth> {
  const script = `${import.meta.dirname}/random_platform.py`;
  const child = spawn('python3', [script, String(seed), JSON.stringify(fixed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return JSON.parse(line);
}

async function control({ port }: Truth, query = ''): Promise<Record<string, unknown>> {
  return (await (await fetch(`http://127.0.0.1:${port}/_control?${query}`)).json()) as Record<
    string,
    unknown
  >;
}

const skipped = (truth: Truth): string[] => [
  ...(truth.unknown_parameters === 'ignore' ? ['unknownParameter'] : []),
  ...(truth.scopes === 'any' ? ['scopeNotAccepted'] : []),
  ...(truth.replay === 'allow' ? ['randomReplayed'] : []),
  ...(truth.window === 'unlimited' && truth.ahead === 'unlimited' ? ['timestampOutsideWindow'] : []),
  ...(truth.app_sign ? [] : ['wrongAppSign']),
];

/** Compares what the probe claims with the truth: each meaning, each field, each entry of the file. */
function compare({ refusals, points, platform, breaks, doubts }: Report, truth: Truth) {
  const wrong: string[] = [];
  const open: string[] = [];
  let right = 0;
  const count = (name: string, isRight: boolean, shown: unknown) => {
    if (isRight) right += 1;
    else wrong.push(`${name}: ${JSON.stringify(shown)}`);
  };
  const limits = [truth.limit, truth.blocked];
  const isMeant = (means: string, code: number) =>
    means === 'tooManyRequests' ? limits.includes(code) : truth.codes[means] === code;
  for (const means of Object.keys(truth.codes)) {
    if (skipped(truth).includes(means)) continue;
    if (!refusals.some((refusal) => refusal.means === means && refusal.unclear === null)) open.push(means);
  }
  for (const { means, code, http_status, unclear } of refusals) {
    if (unclear !== null) continue;
    const isStatus = means === 'tooManyRequests' || truth.statuses[means] === http_status;
    count(means, isMeant(means, code ?? 0) && isStatus && !skipped(truth).includes(means), [
      code,
      http_status,
    ]);
  }
  for (const [code, entry] of Object.entries(platform.result_codes ?? {})) {
    const { means = [], msg } = typeof entry === 'string' ? { means: entry } : entry;
    for (const name of [means].flat()) if (!isMeant(name, Number(code))) wrong.push(`${code} means ${name}`);
    if (msg !== undefined && !/^[a-z_ ]+$/.test(msg)) wrong.push(`the text ${msg}`);
  }
  const isLimited = truth.throttle !== null || truth.block !== null;
  if (!isLimited && doubts.some((doubt) => doubt.includes('throttles'))) wrong.push(`doubts: ${doubts}`);
  const accepted = breaks.filter(({ what }) => what.endsWith('is accepted'));
  count('accepted', accepted.length <= Number(!truth.app_sign), accepted);
  const isNear = (one: unknown, other: unknown) =>
    one === other || (typeof one === 'number' && typeof other === 'number' && Math.abs(one - other) <= 1);
  const expected: Record<string, (value: unknown) => boolean> = {
    http_status: (value) => value === truth.http_status,
    ...Object.fromEntries(
      ['absent', 'empty_object', 'refusal_data', 'values', 'unknown_parameters', 'replay'].map((field) => [
        field,
        (value: unknown) => value === truth[field],
      ]),
    ),
    scopes: (value) => JSON.stringify(value) === JSON.stringify(truth.scopes),
    clock_window_seconds: (value) => isNear(value, truth.window),
    clock_ahead_seconds: (value) =>
      value === 'same'
        ? isNear(truth.window, truth.ahead) || Math.abs(Number(truth.window) - Number(truth.ahead)) <= 2
        : isNear(value, truth.ahead),
    code_uses: (value) => value === truth.uses,
    passback_union_id: (value) => (value === 'same') === truth.same_id,
    chat_prefix: (value) => value === truth.prefix,
    unknown_user: () => false,
    code_ttl_seconds: () => false,
  };
  for (const [field, isRight] of Object.entries(expected)) {
    const point = points.find((one) => one.field === field);
    if (!point?.found) open.push(field);
    else count(field, isRight(point.value), point.value);
  }
  return { right, wrong, open };
}

/** The points that decide how requests of a kind are answered: where one is not known, the service has the default. */
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

/** The kinds of requests that are sent to the platform and to the service: a fault each, with a code that is good. */
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

/** Sends requests to the platform and to a service with its file; returns those that are answered otherwise. */
async function unlike(
  truth: Truth,
  { platform }: Report,
  open: readonly string[],
  requests: number,
): Promise<string[]> {
  // §5 is a fixed rule: the service checks app_sign.
  const isOpen = (kind: string) =>
    pointsOf[kind]?.some((point) => open.includes(point)) || (kind === 'app_sign' && !truth.app_sign);
  const options = { platform, users, appKey: 'k', appSecret: secret, tenantCode: 'acme', channel: 'web' };
  await using service: TestService = await createTestService(options);
  await control(truth, 'calm=1');
  const differences: string[] = [];
  for (let number = 0; number < requests; number += 1) {
    const kind = kinds[number % kinds.length] ?? '';
    const seconds = (number * 37) % 1200;
    const bound = kind === 'old' ? truth.window : truth.ahead;
    // Within two seconds of its end the window depends on the moment.
    const lead = ['old', 'ahead'].includes(kind) && Math.abs(Number(bound) - seconds) < 3 ? 0 : seconds;
    const ask = async (url: string, code: string, skew: number) => {
      const draft = draftOf(kind, lead, code, skew);
      if (kind === 'used' || kind === 'copy')
        for (let use = 0; use < (kind === 'copy' ? 1 : Math.min(4, Number(truth.uses) || 4)); use += 1)
          await send(url, kind === 'copy' ? draft : draftOf(kind, lead, code, skew));
      const { status, envelope } = await send(url, draft);
      return `${envelope.code}, HTTP ${status}`;
    };
    await control(truth, `issue=code-${number}`);
    const one = await ask(`http://127.0.0.1:${truth.port}`, `code-${number}`, Number(truth.skew));
    const other = await ask(service.url, await service.issueCode('u1'), 0);
    if (one !== other)
      differences.push(`${isOpen(kind) ? 'not known: ' : ''}${kind} ${lead}: ${one}; the service ${other}`);
  }
  return differences;
}

async function probe(seed: number, fixed: object) {
  const truth = await start(seed, fixed);
  const values = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'k', '--environment', 'test'];
  const where = ['--base-url', `http://127.0.0.1:${truth.port}`, ...values];
  const codes = ['c1', 'c2', 'c3', 'c4', 'c5'].flatMap((code) => ['--code', code]);
  const user = [...codes, '--union-id', 'u1', '--yes'];
  const env = { USERINFO_APP_SECRET: secret };
  const done = await machine.run(['probe', ...where, ...user, '--pause', pause, '--json'], { env });
  expect(done.status, `${seed}: ${done.stderr}`).toBe(0);
  const report: Report = JSON.parse(done.stdout);
  const compared = compare(report, truth);
  const sent = await control(truth);
  const [, most] = /at most (\d+) requests/.exec(done.stderr) ?? [];
  const differences = await unlike(truth, report, compared.open, many === 0 ? 46 : 200);
  const isLeft = JSON.stringify(sent.extension) !== JSON.stringify(truth.extension);
  const isSaid = report.doubts.some((doubt) => doubt.includes('userinfo_probe is left'));
  return {
    seed,
    truth,
    ...compared,
    requests: Number(sent.requests),
    most: Number(most),
    writes: Number(sent.writes),
    codes: Number(sent.codes),
    isLeft: isLeft && !isSaid,
    differences,
    doubts: report.doubts,
  };
}

it('says only what is true of platforms of another making', { timeout: 3_600_000 }, async () => {
  const results: Awaited<ReturnType<typeof probe>>[] = [];
  const waiting = [...platforms];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await probe(...next);
      results.push(result);
      if (many === 0) continue;
      const { truth, doubts, ...rest } = result;
      const { order, ids, throttle, block, skew, slow } = truth;
      process.stdout.write(
        `${JSON.stringify({ ...rest, is: { order, ids, throttle, block, skew, slow }, doubts })}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: many === 0 ? few.length : 10 }, work));
  const sum = (of: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const [right, open] = [sum((result) => result.right), sum((result) => result.open.length)];
  if (many > 0) process.stdout.write(`${JSON.stringify({ right, open, share: open / (right + open) })}\n`);
  for (const { seed, wrong, requests, most, writes, codes, isLeft } of results) {
    expect([seed, wrong]).toEqual([seed, []]);
    expect(requests).toBeLessThanOrEqual(most);
    expect([seed, writes <= 1, codes <= 5, isLeft]).toEqual([seed, true, true, false]);
  }
  expect(open / (right + open)).toBeLessThan(0.15);
  for (const { seed, differences } of results) {
    const unsaid = differences.filter((difference) => !difference.startsWith('not known'));
    expect([seed, unsaid]).toEqual([seed, []]);
  }
});
