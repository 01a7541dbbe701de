import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatRows } from '../../../../src/cli/commands/bulk/row-count.js';
import { formatDuration } from '../../../../src/cli/output/numbers.js';
import {
  ProgressDisplay,
  progressLine,
  withProgress,
} from '../../../../src/cli/output/progress.js';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { httpServer, type ReceivedRequest, writtenBy } from '../../../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
const answerOk = (response: ServerResponse, request: ReceivedRequest) => {
  setTimeout(() => response.end(writtenBy(request)), 2);
};
let answer = answerOk;
const env = { SECRET: 'never-to-be-seen-4711' };

beforeAll(async () => {
  server = await httpServer((request, response) => answer(response, request));
  const values = deploymentFlags(server.url);
  const secret = ['--app-secret-env', 'SECRET'];
  await machine.run([
    ...'profile add shop'.split(' '),
    ...values,
    ...secret,
    '--environment',
    'production',
  ]);
  const rows = Array.from({ length: 300 }, (_, i) => `u${i},x${i}`);
  writeFileSync(join(machine.folder, 'rows.csv'), `union_id,v\n${rows.join('\n')}\n`);
});

beforeEach(() => {
  server.requests.length = 0;
  answer = answerOk;
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const passBack = ['-p', 'shop', 'bulk', 'passback', 'rows.csv'];

it('the summary has a bar for each reason on a terminal, and none elsewhere', async () => {
  answer = (response, request) => {
    const user = Number(/union_id=u(\d+)/.exec(request.body)?.[1]);
    if (user >= 100) return answerOk(response, request);
    const [code, msg] =
      user < 75 ? [40401, 'no such user of this tenant or app'] : [41301, 'too many keys'];
    response.end(JSON.stringify({ code, msg, data: {} }));
  };
  copyFileSync(join(machine.folder, 'rows.csv'), join(machine.folder, 'mixed.csv'));
  const args = ['-p', 'shop', 'bulk', 'passback', 'mixed.csv', '--yes', '--restart'];
  const shown = await machine.onTerminal(args, [], { env: { ...env, NO_COLOR: '1' } });
  expect(shown.stdout).toMatch(
    / 75 {2}████████ {4}40401 no such user of this tenant or app: lines 2, …\r?\n/,
  );
  expect(shown.stdout).toMatch(/ 25 {2}███ {9}41301 /);
  const piped = await machine.run(args, { env });
  expect(piped.stderr).toMatch(/ 75 {2}40401 no such user of this tenant or app: lines 2, /);
});

describe('many rows for production', () => {
  it('need --yes without a terminal', async () => {
    const refused = await machine.run(passBack, { env });
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(
      `writing 300 rows to production (profile "shop", ${new URL(server.url).host}) needs a confirmation, and there is no terminal`,
    );
    expect(server.requests).toHaveLength(0);
    expect(existsSync(join(machine.folder, 'rows.csv.userinfo-journal'))).toBe(false);
    expect(await machine.run([...passBack, '--yes'], { env })).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(300);
  });

  it.each([
    ['shop', 0, 300, 'ok      300'],
    ['y', 2, 0, ' the answer was not shop\r\nNothing was sent.'],
    ['', 2, 0, ' the answer was not shop\r\nNothing was sent.'],
  ])(
    'have the name of the profile typed on a terminal: "%s" ends with status %i',
    async (answer, status, count, said) => {
      const done = await machine.onTerminal(
        passBack,
        [['type the name of the profile, shop:', answer]],
        { env },
      );
      expect(done.status).toBe(status);
      const { host } = new URL(server.url);
      expect(done.stdout).toContain(
        `about to write v of 300 rows to production (profile "shop", ${host})`,
      );
      expect(done.stdout).toContain(said);
      expect(server.requests).toHaveLength(count);
    },
  );

  it('need no confirmation for reads or a dry run', async () => {
    writeFileSync(join(machine.folder, 'codes.csv'), 'code\nc1\n');
    expect((await machine.run(['-p', 'shop', 'bulk', 'read', 'codes.csv'], { env })).status).toBe(
      0,
    );
    expect((await machine.run([...passBack, '--dry-run'], { env })).status).toBe(0);
  });
});

describe('the messages of a run', () => {
  it.each([
    ['by Ctrl-C', [['█░', null]], 130, /\r\u001b\[Kstopping: waiting for the answers to what/],
    [
      'finally',
      [],
      0,
      /\r\u001b\[Kpassback: 300 rows in \S+ s, \d+ rows\/s\r\n {2}ok {6}300\r\nresults/,
    ],
  ] as const)('are a progress bar on a terminal, removed %s', async (_, typed, status, behind) => {
    const args = [...passBack, '--yes', '--restart', '--rate', '500/s'];
    const done = await machine.onTerminal(args, typed, { env: { ...env, NO_COLOR: '1' } });
    expect(done.status).toBe(status);
    expect(done.stdout).toMatch(
      /\r█+░+ passback \d+% {2}\d+\/300 rows {2}(\d+ min )?\S+ s left {2}[\d,]+\/s/,
    );
    expect(done.stdout).toMatch(behind);
  });

  it('are none with --quiet', async () => {
    const done = await machine.run([...passBack, '--yes', '--quiet'], { env });
    expect(done).toMatchObject({ status: 0, stdout: '' });
    expect(done.stderr).toBe(`production: profile "shop", ${new URL(server.url).host}\n`);
  });

  it('are an object with --json', async () => {
    const done = await machine.run([...passBack, '--yes', '--json'], { env });
    expect(JSON.parse(done.stdout)).toEqual({
      ok: 300,
      failed: 0,
      invalid: 0,
      unknown: 0,
      done: 300,
      duration_ms: expect.any(Number),
      finished: true,
      results: 'rows.csv.results.ndjson',
      journal: 'rows.csv.userinfo-journal',
    });
  });

  it('are a line every ten seconds without a terminal', async () => {
    vi.useFakeTimers();
    try {
      const stderr = new PassThrough();
      const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} };
      const counts = { ok: 0, failed: 0, invalid: 0, unknown: 0 };
      const look = () => {
        counts.ok += 5_000;
        return {
          doing: 'passback',
          rows: counts.ok,
          share: counts.ok / 1e6,
          total: 1e6,
          counts,
          pausedMs: 0,
        };
      };
      const work = () => new Promise((resolve) => setTimeout(resolve, 25_000));
      const done = withProgress(io, {}, look, work as () => Promise<void>);
      await vi.advanceTimersByTimeAsync(25_000);
      await done;
      const lines = String(stderr.read()).trimEnd().split('\n');
      expect(lines).toEqual([
        'passback 1%  10,000/1,000,000 rows  33 min 0 s left  500/s',
        'passback 1%  15,000/1,000,000 rows  32 min 50 s left  500/s',
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('leave a terminal to a question, whose time is none of the work', async () => {
    vi.useFakeTimers();
    try {
      const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
      const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} };
      const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
      const startedAt = Date.now();
      let asked = 0;
      const rowsNow = () => ({
        ...{ doing: 'asking', unit: 'requests', share: null, total: null },
        rows: Math.floor((Date.now() - startedAt - asked) / 200),
      });
      const display = new ProgressDisplay(io, rowsNow);
      const done = display.during(async () => {
        await wait(1_000);
        await display.pauseFor(async () => {
          stderr.read();
          await wait(9_000);
          asked = 9_000;
          expect(stderr.read()).toBe(null);
        });
        await wait(1_000);
      });
      await vi.advanceTimersByTimeAsync(11_000);
      await done;
      const shown = String(stderr.read()).split('\r');
      expect(shown.at(-2)).toMatch(/^asking {2}9 requests {2}5\/s/);
    } finally {
      vi.useRealTimers();
    }
  });

  const whole =
    'passback 18%  18,175/100,000 rows  failed 1,020  unknown 3  6 min 40 s left  205/s';
  it.each([
    [120, `████░░░░░░░░░░░░░░░░ ${whole}`],
    [whole.length + 6, `█░░░░ ${whole}`],
    [whole.length + 5, whole],
    [80, 'passback 18%  18,175/100,000 rows  failed 1,020  unknown 3  6 min 40 s left'],
    [60, 'passback 18%  18,175/100,000 rows  failed 1,020  unknown 3'],
    [10, 'passback 18%'],
  ])('leave out what %i columns have no room for, the last part first', (width, line) => {
    const counts = { ok: 17_152, failed: 1_020, invalid: 0, unknown: 3 };
    const progress = { doing: 'passback', rows: 18_175, share: 0.18175, total: 100_000, counts };
    expect(progressLine(progress, 81_825 / 400_000, width)).toBe(line);
  });

  it('have readable numbers', () => {
    expect(formatRows(1)).toBe('1 row');
    expect(formatRows(48_211)).toBe('48,211 rows');
    expect([400, 9_949, 59_000, 3_661_000, 200_000].map(formatDuration)).toEqual([
      '0.4 s',
      '9.9 s',
      '59 s',
      '1 h 1 min',
      '3 min 20 s',
    ]);
    expect([59_700, 119_700, 3_599_700].map(formatDuration)).toEqual([
      '1 min 0 s',
      '2 min 0 s',
      '1 h 0 min',
    ]);
  });
});
