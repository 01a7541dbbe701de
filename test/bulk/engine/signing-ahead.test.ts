import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SignedRow } from '../../../src/bulk/engine/prepared-row.js';
import { RowEngine } from '../../../src/bulk/engine/row-engine.js';
import { SigningAhead, type SigningThread } from '../../../src/bulk/engine/signing-ahead.js';
import { toBatches } from '../../../src/bulk/row-batches.js';
import { passbackRequest } from '../../../src/client/request.js';
import { RequestSigner } from '../../../src/client/request-signer.js';
import { Sender } from '../../../src/client/sender.js';
import { httpServer } from '../../support/raw-server.js';

const credentials = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: 'do-not-show-me' };
const startedAt = 1_790_000_000_000;

/** Who signed a request is told by its `random`. */
const randomBy = (name: string) => {
  let count = 0;
  return () => {
    count += 1;
    return name + String(count).padStart(8, '0');
  };
};

let server: Awaited<ReturnType<typeof httpServer>>;
/** Is asked for the HTTP status of each answer. */
let statusOf: (user: string, sent: number) => number;
/** Milliseconds since 1970, as the run sees it. */
let now: number;

beforeEach(async () => {
  now = startedAt;
  statusOf = () => 200;
  const sent = new Map<string, number>();
  server = await httpServer(({ body }, response) => {
    const user = new URLSearchParams(body).get('union_id') ?? '';
    sent.set(user, (sent.get(user) ?? 0) + 1);
    const status = statusOf(user, sent.get(user) ?? 0);
    const code = status === 200 ? 200 : 50001;
    response.statusCode = status;
    response.end(`{"code":${code},"msg":"m","data":{}}`);
  });
});
afterEach(() => server.close());

type Row = readonly [n: number, unionId: string];

const requestFor = ([n, unionId]: Row) => passbackRequest({ unionId, userInfo: { n } });

function signed(signer: RequestSigner, row: Row): SignedRow {
  return { user: row[1], request: signer.sign(requestFor(row)) };
}

/** Signs as another thread would: later. */
function threadThat(sign: (signer: RequestSigner, row: Row) => SignedRow | null): SigningThread<Row> {
  const signer = new RequestSigner({
    ...credentials,
    baseUrl: server.url,
    now: () => now,
    random: randomBy('ahead'),
  });
  return {
    async sign(rows, done) {
      await nextTurn();
      done(rows.map((row) => sign(signer, row)));
    },
  };
}

/** Passes back a row for each user, in their order; gives who signed what was sent for each. */
async function signersOf(
  users: readonly string[],
  thread: SigningThread<Row>,
): Promise<Map<string, string[]>> {
  const sender = new Sender({
    ...credentials,
    baseUrl: server.url,
    now: () => now,
    random: randomBy('here'),
  });
  const signingAhead = new SigningAhead<Row>(() => now);
  signingAhead.begin(() => thread);
  const outcomes: string[] = [];
  const engine = new RowEngine<Row>(toBatches(users.entries()), {
    operation: 'passback',
    sender,
    signingAhead,
    prepare: (row) => ({ request: requestFor(row), user: row[1] }),
    sizeOf: () => 0,
    concurrency: 8,
    ratePerSecond: null,
    attempts: 3,
    timeoutMs: 10_000,
    listener: { onOutcome: ({ outcome }) => outcomes.push(outcome) },
    now: () => performance.now(),
    random: () => 0,
  });
  await engine.run().finally(() => sender.drop());
  expect(outcomes).toEqual(users.map(() => 'ok'));
  const signers = new Map<string, string[]>();
  for (const { query, body } of server.requests) {
    const user = new URLSearchParams(body).get('union_id') ?? '';
    const random = new URLSearchParams(query).get('random') ?? '';
    signers.set(user, [...(signers.get(user) ?? []), random.replace(/\d+$/, '')]);
  }
  return signers;
}

const usersOf = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`);
const all = (signers: Map<string, string[]>) => [...signers.values()].flat();
const part = (signers: readonly string[], name: string) =>
  signers.filter((signer) => signer === name).length / signers.length;

it('a row is sent as it was signed ahead, each with a random of its own', async () => {
  const signers = await signersOf(usersOf(1000), threadThat(signed));
  expect(signers.size).toBe(1000);
  expect(part(all(signers), 'ahead')).toBeGreaterThan(0.8);
  const randoms = server.requests.map(({ query }) => new URLSearchParams(query).get('random'));
  expect(new Set(randoms).size).toBe(1000);
});

it('a row that is tried again is signed again', async () => {
  statusOf = (_, sent) => (sent === 1 ? 500 : 200);
  const signers = await signersOf(usersOf(300), threadThat(signed));
  expect(
    part(
      [...signers.values()].map(([first]) => first ?? ''),
      'ahead',
    ),
  ).toBeGreaterThan(0.5);
  expect([...signers.values()].map(([, second]) => second)).toEqual(Array(300).fill('here'));
});

it('what was signed a while ago is signed again, whichever way the clock went', async () => {
  for (const jump of [1_000, -1_000]) {
    const signers = await signersOf(
      usersOf(200),
      threadThat((signer, row) => {
        const ready = signed(signer, row);
        now += jump;
        return ready;
      }),
    );
    expect(new Set(all(signers))).toEqual(new Set(['here']));
  }
});

it('what the thread cannot sign, or no thread signs any more, is signed by the one that sends', async () => {
  const unable = await signersOf(
    usersOf(200),
    threadThat(() => null),
  );
  expect(all(unable)).toEqual(Array(200).fill('here'));
  server.requests.length = 0;
  const ended = await signersOf(usersOf(1000), { sign() {} });
  expect(all(ended)).toEqual(Array(1000).fill('here'));
});

it('rows of one user are sent in their order', async () => {
  const users = Array.from({ length: 400 }, (_, i) => `u${i % 3}`);
  await signersOf(users, threadThat(signed));
  for (const user of ['u0', 'u1', 'u2']) {
    const sent = server.requests
      .map(({ body }) => new URLSearchParams(body))
      .filter((body) => body.get('union_id') === user)
      .map((body) => JSON.parse(body.get('user_info') ?? '').n);
    expect(sent).toEqual(users.flatMap((one, n) => (one === user ? [n] : [])));
  }
});
