import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointNamed, type OperationName } from '../../../src/core/contract/endpoints.js';
import { NoAnswerError, RejectedError, UserInfoClient } from '../../../src/index.js';
import { deploymentFlags, Machine } from '../../support/cli.js';
import { type TestServer, tcpServer } from '../../support/raw-server.js';
import { type Expected, type Meaning, oddAnswers } from './odd-answers.js';

/** What is right for each meaning, for each operation. */
const right: Readonly<
  Record<
    Meaning,
    { readonly status: readonly number[]; readonly outcome: string; readonly isDoubt?: true }
  >
> = {
  ok: { status: [0], outcome: 'ok' },
  refused: { status: [4], outcome: 'failed' },
  'caller refused': { status: [4], outcome: 'stopped' },
  // With an envelope or without one.
  unread: { status: [4, 5], outcome: 'failed' },
  fault: { status: [4], outcome: 'unknown', isDoubt: true },
  open: { status: [5], outcome: 'unknown', isDoubt: true },
  elsewhere: { status: [5], outcome: 'unknown' },
};
/** Whether a hint says that the request may have been carried out. */
function saysDoubt(hint: string, { doubt }: { readonly doubt: string }): boolean {
  const inOtherWords =
    /The request may have been carried out: this platform|Whether the request was carried out is not known: ask/;
  return hint.includes(doubt) || inOtherWords.test(hint);
}

const operations: readonly OperationName[] = ['read', 'passback'];
const machine = new Machine();
const app = { tenantCode: 'acme', channel: 'web', appKey: 'a1', appSecret: 's1', attempts: 1 };
let server: TestServer;

beforeAll(async () => {
  server = await tcpServer(answerByName);
  const flags = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'shop', ...flags, '--app-secret-stdin'], { stdin: 's1' });
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

/** Answers a whole request, which names an answer: in its path, as its code or as a value. */
function answerByName(socket: Socket, sent: Buffer): void {
  let request = sent.toString('latin1');
  const answer = () => {
    const [head = '', body = ''] = request.split('\r\n\r\n', 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!request.includes('\r\n\r\n') || body.length < length) return;
    const [, index] = /case(\d+)/.exec(request) ?? [];
    socket.end(oddAnswers[Number(index)]?.bytes ?? '');
  };
  socket.on('data', (more) => {
    request += more.toString('latin1');
    answer();
  });
  answer();
}

const named = oddAnswers.map((answer, index) => ({ ...answer, code: `case${index}` }));

it('there are a hundred of them, each with a name of its own', () => {
  expect(named.length).toBeGreaterThanOrEqual(100);
  expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
});

const argumentsOf = {
  read: (code: string) => ['read', code],
  passback: (code: string) => ['passback', `acme_case=${code}`, '--union-id', 'u1'],
} as const;

describe.each(operations)('a %s that is answered with', (operation) => {
  const endpoint = endpointNamed[operation];

  it.each(named)('$name', async ({ code, [operation]: expected }) => {
    const { meaning, said, stdout } = expected;
    const { status, isDoubt } = right[meaning];
    const args = [
      ...argumentsOf[operation](code),
      '--base-url',
      `${server.url}/${code}`,
      '--attempts',
      '1',
    ];
    const done = await machine.run([...args, '--json']);
    expect(status).toContain(done.status);
    const printed = stdout === null ? '' : Buffer.concat([Buffer.from(stdout), Buffer.from('\n')]);
    expect(Buffer.compare(done.bytes, Buffer.from(printed))).toBe(0);
    if (typeof said !== 'string') {
      const warnings = done.stderr.split('\n').filter((line) => line.startsWith('warning: '));
      expect(warnings.map((line) => line.slice('warning: '.length))).toEqual(said);
      return;
    }
    const { error } = JSON.parse(done.stderr.trim().split('\n').at(-1) ?? '');
    expect(error.message).toContain(said);
    expect([error.hint, saysDoubt(error.hint, endpoint)]).toEqual([error.hint, isDoubt === true]);
  });
});

const calls = {
  read: (client: UserInfoClient, code: string) => client.read({ code }),
  passback: (client: UserInfoClient, code: string) =>
    client.passback({ unionId: 'u1', userInfo: { acme_case: code } }),
};
const runs = {
  read: (client: UserInfoClient, code: string) => client.readAll([{ code }]),
  passback: (client: UserInfoClient, code: string) =>
    client.passbackAll([{ unionId: 'u1', userInfo: { acme_case: code } }]),
};

/** The outcome of the only row of a run, and its error. */
async function rowOf(operation: OperationName, client: UserInfoClient, code: string) {
  try {
    for await (const row of runs[operation](client, code)) return row;
  } catch (error) {
    return { outcome: 'stopped', error };
  }
  return { outcome: 'none' };
}

describe.each(operations)('the SDK: a %s that is answered with', (operation) => {
  const endpoint = endpointNamed[operation];

  it.each(named)('$name', async ({ code, [operation]: expected }) => {
    const { meaning, said } = expected;
    const { outcome, isDoubt } = right[meaning];
    await using client = new UserInfoClient({ ...app, baseUrl: `${server.url}/${code}` });
    const row = await rowOf(operation, client, code);
    expect(row.outcome).toBe(outcome);
    const answer = await calls[operation](client, code).catch((failure: unknown) => failure);
    if (typeof said !== 'string') {
      expect(answer).toMatchObject({ warnings: said, envelope: { code: 200 } });
      expect(row).toMatchObject({ answer: { warnings: said } });
      const { envelope, data } = answer as { envelope: { data: unknown }; data: unknown };
      expect(envelope.data).toBe(data);
      return;
    }
    const error = 'error' in row ? row.error : undefined;
    for (const failure of [answer, error] as (RejectedError | NoAnswerError)[]) {
      expect(failure.message).toContain(said);
      expect(saysDoubt(failure.hint ?? '', endpoint)).toBe(isDoubt === true);
      if (failure instanceof NoAnswerError) expect(failure.received).toBe(true);
      if (meaning === 'unread') expect(failure.retryable).toBe(true);
      if (meaning === 'fault') expect(failure.retryable).toBe(endpoint.repeatable);
      expect(failure instanceof RejectedError).toBe(
        !['open', 'elsewhere'].includes(meaning) && !said.includes('HTTP'),
      );
    }
  });
});

/** A line of the results. */
interface Result {
  readonly outcome?: string;
  readonly body?: string;
  readonly body_encoding?: string;
}
const plain: Expected = { meaning: 'ok', said: [], stdout: null };

it.each(operations)(
  'a bulk run has the outcome of each %s, and says what is not known',
  async (operation) => {
    const rows = named.filter((answer) => right[answer[operation].meaning].outcome !== 'stopped');
    // A right answer between them: a service that answers nothing is waited for.
    const codes = rows.flatMap(({ code }, index) => [code, `case0-${index}`]);
    const lines =
      operation === 'read'
        ? ['code', ...codes]
        : ['union_id,acme_case', ...codes.map((code) => `u1,${code}`)];
    const options = ['--attempts', '1', '--concurrency', '1', '-p', 'shop'];
    const done = await machine.run(['bulk', operation, '-', ...options], {
      stdin: lines.join('\n'),
    });
    expect(done.status).toBe(6);
    const results = new Map<string, Result>();
    for (const text of done.stdout.trim().split('\n')) {
      const result = JSON.parse(text);
      results.set(codes[result.line - 2] ?? '', result);
    }
    expect(results.size).toBe(codes.length);
    for (const code of codes) {
      const { meaning, stdout } = rows.find((answer) => answer.code === code)?.[operation] ?? plain;
      const { outcome, body, body_encoding } = results.get(code) ?? {};
      expect([code, outcome]).toEqual([code, right[meaning].outcome]);
      if (operation !== 'read' || outcome !== 'unknown' || typeof stdout !== 'string') continue;
      const printed = JSON.parse(stdout);
      expect(body_encoding).toBe(printed.body_encoding);
      expect((body ?? '').startsWith(printed.body)).toBe(true);
    }
    expect(done.stderr).toContain(` is unknown. ${endpointNamed[operation].doubt}`);
  },
);
