import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog, type LogEvent, type LogFormat } from '../../src/service/index.js';
import { foldRepeats } from '../../src/service/log.js';
import {
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
  signDraft,
} from '../support/foreign-client.js';
import { type RunningService, runService, tenant, user } from '../support/running-service.js';

const time = '2026-01-02T03:04:05.678Z';

function logged(format: LogFormat, event: LogEvent): string[] {
  const lines: string[] = [];
  const log = createLog({ format, write: (line) => lines.push(line), now: () => Date.parse(time) });
  log(event);
  return lines;
}

const request = {
  event: 'request',
  operation: 'read',
  app_key: 'k1',
  tenant_code: 'acme',
  status: 401,
  code: 40103,
  means: 'wrongSign',
  msg: 'sign is wrong',
  ms: 3.214,
} satisfies LogEvent;
const rejected: LogEvent = {
  event: 'signature_rejected',
  signature: 'sign',
  app_key: 'k1',
  params: 'a=1',
  message: 'a=1&key=<secret>',
  expected: 'e0',
  received: 'r0',
};

it('leaves out events below its level', () => {
  const lines: string[] = [];
  const log = createLog({
    format: 'json',
    level: 'warn',
    write: (line) => lines.push(line),
    now: () => 0,
  });
  // The platform has a code of its own for it, and one HTTP status for all.
  const failed: LogEvent = { ...request, status: 200, code: 9001, means: 'storeUnavailable' };
  for (const event of [request, rejected, failed]) log(event);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', event: 'signature_rejected' },
    { level: 'warn', event: 'request', code: 9001 },
  ]);
});

describe('an event', () => {
  const faults: LogEvent = {
    event: 'faults',
    latencyMs: { min: 200, max: 2_000 },
    error: 0.05,
    reset: 0.01,
    dropAfterCommit: 0.025,
    skewSeconds: -400,
    seed: 7,
  };

  it.each<[level: string, LogEvent, string[]]>([
    ['info', request, ['401 read app_key=k1 tenant_code=acme 3ms 40103 sign is wrong']],
    [
      'info',
      { ...request, status: 200, code: 200, means: 'ok', msg: 'ok', app_key: null },
      ['200 read app_key=- tenant_code=acme 3ms 200'],
    ],
    [
      'warn',
      rejected,
      [
        'sign of app k1 is wrong; the service computes:',
        '    params    a=1',
        '    message   a=1&key=<secret>',
        '    expected  e0',
        '    received  r0',
      ],
    ],
    [
      'warn',
      faults,
      [
        'warning: injecting faults: latency=200ms..2000ms,error=5%,reset=1%,drop-after-commit=2.5%,' +
          'skew=-400s,seed=7',
      ],
    ],
    [
      'warn',
      { event: 'faults', reset: 1, seed: 1 },
      ['warning: injecting faults: reset=100%,seed=1'],
    ],
    ['warn', { event: 'overload', problem: 'too much' }, ['warning: too much']],
    [
      'warn',
      { event: 'overload', problem: 'too much', repeats: 1 },
      ['warning: too much (once more)'],
    ],
    [
      'error',
      { event: 'store_unavailable', problem: 'disk full', repeats: 5251 },
      ['the store is unavailable: disk full (5251 more times)'],
    ],
    [
      'error',
      { event: 'unreadable_secret', problem: 'no key', repeats: 2 },
      ['no key (2 more times)'],
    ],
    [
      'error',
      { event: 'clock', problem: 'late', repeats: 2 },
      ['requests are refused: late (2 more times)'],
    ],
    [
      'error',
      { event: 'fault', problem: 'Error: a\u001b[2J\n    at b', repeats: 2 },
      ['internal error (2 more times):', '    Error: a\\u001b[2J', '        at b'],
    ],
    [
      'warn',
      { event: 'log_dropped', events: 9 },
      [expect.stringMatching(/^warning: 9 events were not /)],
    ],
    [
      'warn',
      { event: 'needless_escapes', app_key: 'k', tenant_code: 't' },
      [
        expect.stringMatching(
          /^warning: app k of tenant t escapes characters of user_info that it should/,
        ),
      ],
    ],
    [
      'warn',
      { event: 'unencrypted_token', host: '0.0.0.0' },
      [
        expect.stringMatching(
          /^warning: the admin token .* the admin port is on 0\.0\.0\.0, without TLS$/,
        ),
      ],
    ],
  ])('is of level %s, and has the lines of %j', (level, event, lines) => {
    const [first = '', ...others] = logged('pretty', event);
    expect([first.replace(`${time} `, ''), ...others]).toEqual(lines);
    expect(JSON.parse(logged('json', event).join(''))).toEqual({ level, time, ...event });
  });
});

it('the duration of a request is never negative, even if the clock is set back', async () => {
  let now = Date.now();
  const { service, log } = await runService({ now: () => (now -= 3_600_000) });
  // Of a long path, the log has the first names.
  await fetchAnswer(`${service.url}/nothing${'/x'.repeat(20)}`);
  await service.close();
  const [event] = log.filter((logged) => logged.event === 'request');
  expect(event).toMatchObject({ operation: 'GET /nothing/x/x/x/x/x/x', ms: expect.any(Number) });
  expect(event?.event === 'request' && event.ms).toBeGreaterThanOrEqual(0);
});

describe.each(['pretty', 'json'] as const)('the %s log of a running service', (format) => {
  let running: RunningService;
  let lines: string[];

  beforeEach(async () => {
    lines = [];
    const log = createLog({ format, write: (line) => lines.push(line), now: Date.now });
    running = await runService({ log });
    await running.service.admin.putUser(user('u1', { basic_info: { mobile: '13800138000' } }));
  });
  afterEach(() => running.service.close());

  it('reports start and stop', async () => {
    await running.service.close();
    expect(lines[0]).toContain(
      format === 'pretty' ? `listening on ${running.service.url}` : '"listening"',
    );
    expect(lines.at(-1)).toContain('stopped');
  });

  it('warns about a user_info with unnecessary escapes', async () => {
    await running.passback({ union_id: 'u1', user_info: '{"name":"\\u5f20"}' });
    expect(lines.join('\n')).toMatch(/escape/);
    lines.length = 0;
    await running.passback({ union_id: 'u1', user_info: '{"name":"张\\n"}' });
    expect(lines.join('\n')).not.toMatch(/escape/);
  });

  it.each(['app_sign', 'sign'])('hides a secret that was sent as %s', async (name) => {
    const draft = draftPassback(running.app, { union_id: 'u1', user_info: '{"a":"b"}' });
    const { target, body } = signDraft(draft);
    const url = new URL(target, running.service.url);
    url.searchParams.set(name, running.app.secret);
    await fetchAnswer(url.href, {
      method: draft.method,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    expect(running.app.secret).toHaveLength(32);
    const text = lines.join('\n');
    expect(text).toContain('<secret>');
    expect(text).not.toContain(running.app.secret);
  });

  it('truncates very long values', async () => {
    const many = Object.fromEntries(Array.from({ length: 330 }, (_, index) => [`k${index}`, 'a']));
    const draft = draftPassback(running.app, { union_id: 'u1', user_info: JSON.stringify(many) });
    draft.spoilSign = true;
    await send(running.service.url, draft);
    const text = lines.join('\n');
    expect(text).toContain('k99');
    expect(text).toContain('…');
    expect(text).not.toContain('&key=<secret>');
  });

  it('explains a rejected signature with secret and personal data masked', async () => {
    const draft = draftPassback(running.app, {
      union_id: 'u1',
      user_info: '{"mobile":"13800138000","name":"张三丰李四光王五","330106199001011234":"x"}',
    });
    draft.spoilSign = true;
    expect((await send(running.service.url, draft)).envelope.code).toBe(40103);
    const text = lines.join('\n').replaceAll('\\"', '"');
    expect(text).toContain('user_info={"mobile":"138****8000","name":');
    expect(text).toContain('&key=<secret>');
    expect(text).toContain(`random=${draft.query.get('random')}`);
    const right = new URLSearchParams(signDraft({ ...draft, spoilSign: false }).target);
    const signatures = ['app_sign', 'sign'].map((name) => right.get(name) ?? '');
    expect(signatures.map((digest) => digest.length)).toEqual([32, 32]);
    const secrets = [running.app.secret, ...signatures];
    for (const hidden of ['13800138000', '张三丰李四光王五', '330106199001011234', ...secrets]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('never holds a secret, a code or personal data, whatever is sent', async () => {
    const { service, app } = running;
    const issued = await service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
    const personal = {
      mobile: '13912345678',
      id_card: '330106199001011234',
      gps: '120.155070,30.274084',
    };
    const drafts = [
      draftRead(app, issued.code, { info_name: 'mobile' }),
      draftRead(app, issued.code),
      draftRead(app, issued.code, personal),
      draftPassback(app, { union_id: 'u1', user_info: JSON.stringify(personal) }),
      draftPassback(app, { union_id: 'u1', user_info: `${JSON.stringify(personal)}oops` }),
      draftPassback(app, { primary_key: 'mobile', user_info: JSON.stringify(personal) }),
      draftRead(app, issued.code, { random: personal.mobile }),
    ];
    for (const draft of drafts) {
      for (const spoil of ['none', 'app_sign', 'sign', 'query']) {
        await send(service.url, {
          ...draft,
          spoilAppSign: spoil === 'app_sign',
          spoilSign: spoil === 'sign',
          path: spoil === 'query' ? '/elsewhere' : draft.path,
        });
      }
    }
    const text = lines.join('\n');
    expect(lines.length).toBeGreaterThan(24);
    for (const hidden of [...Object.values(personal), '13800138000', issued.code, app.secret]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('shows neither names that may be values nor an app key that nobody has', async () => {
    const { app, service } = running;
    const hidden = ['a13800138000', app.secret, 'tenant-of-nobody'];
    const draft = draftRead(app, 'code', { a13800138000: 'x' });
    await send(service.url, draft);
    await fetchAnswer(`${service.url}/a13800138000`);
    await send(service.url, draftRead({ ...app, app_key: app.secret }, 'code'));
    await send(service.url, draftRead({ ...app, tenant_code: 'tenant-of-nobody' }, 'code'));
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const text of hidden) expect(lines.join('\n')).not.toContain(text);
  });

  it('escapes control characters from the network', async () => {
    const attack = 'x\u001b[2J\n\r\u009b31m\u202e';
    const draft = draftRead(running.app, 'code', { info_name: attack });
    draft.query.set('tenant_code', attack);
    draft.spoilAppSign = true;
    await send(running.service.url, draft);
    await send(running.service.url, {
      ...draftRead(running.app, 'c', { 'n\u001bame': attack }),
      spoilSign: true,
    });
    await fetchAnswer(`${running.service.url}/%1b%5b2J`);
    expect(lines.join('\n')).toContain('u001b');
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});

it('logs another problem of the same kind at once, and counts the repeats of each', () => {
  const logged: LogEvent[] = [];
  const { log, end } = foldRepeats((event) => void logged.push(event));
  const [first, second] = ['one limit', 'another limit'].map(
    (problem) => ({ event: 'overload', problem }) as const,
  );
  for (const event of [first, first, second, first]) if (event !== undefined) log(event);
  expect(logged).toEqual([first, second]);
  end();
  expect(logged.slice(2)).toEqual([{ ...first, repeats: 2 }]);
});
