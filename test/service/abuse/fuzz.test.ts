import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readableValues } from '../../../src/core/contract/user-record.js';
import { createLog } from '../../../src/service/index.js';
import { type Attack, attack, personal, type Target, writeAttack } from '../../support/attack.js';
import { exchange, expectAnyEnvelope } from '../../support/raw-exchange.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

/** More by hand: USERINFO_FUZZ_BATCHES=5000 npx vitest run test/service/abuse/fuzz.test.ts */
const batches = Number(process.env.USERINFO_FUZZ_BATCHES ?? 40);
const together = 24;

let running: RunningService;
let target: Target;
const lines: string[] = [];

beforeAll(async () => {
  const write = (line: string) => lines.push(line);
  const pretty = createLog({ format: 'pretty', write, now: Date.now });
  const json = createLog({ format: 'json', write, now: Date.now });
  running = await runService({
    maxBodyBytes: 20_000,
    log: (event) => {
      pretty(event);
      json(event);
    },
  });
  const users = Array.from({ length: 10 }, (_, index) => `u${index}`);
  for (const unionId of users) await running.service.admin.putUser(user(unionId));
  const { code } = await running.service.admin.issueCode({
    tenantCode: tenant,
    unionId: 'u0',
    uses: 'unlimited',
    ttlSeconds: 100_000,
  });
  target = { app: running.app, code, users };
});
afterAll(() => running.service.close());

it('answers whatever is sent with an envelope of the table or not at all, stores only what was signed, logs no secret', {
  timeout: 24 * 3_600_000,
}, async () => {
  const seen = new Map<number, number>();
  const signed = new Set<string>();
  const attempt = async (one: Attack) => {
    const { bytes, signedUserInfo } = writeAttack(one, target);
    if (signedUserInfo !== undefined) addSigned(signed, signedUserInfo);
    const answers = await exchange(running.service.url, bytes, { patienceMs: 30 });
    for (const answer of answers) {
      const code = expectAnyEnvelope(answer);
      expect(code, answer.body).toBeLessThan(50_000);
      seen.set(code, (seen.get(code) ?? 0) + 1);
    }
    if (answers.length === 0) seen.set(0, (seen.get(0) ?? 0) + 1);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(attack, { minLength: together, maxLength: together }),
      async (attacks) => {
        await Promise.all(attacks.map(attempt));
      },
    ),
    { numRuns: batches, endOnFailure: true },
  );

  // Each comes several times in a run of any seed.
  const codes = [200, 40001, 40002, 40003, 40004, 40103, 40402, 41301];
  expect([...seen.keys()]).toEqual(expect.arrayContaining(codes));
  for await (const record of running.service.admin.listUsers({ tenantCode: tenant })) {
    for (const [name, value] of readableValues(record))
      expect(signed).toContain(`${name}\0${value}`);
  }
  expectCleanLog([running.app.secret, target.code, ...Object.values(personal)]);
  if (process.env.USERINFO_FUZZ_BATCHES !== undefined) {
    const counts = [...seen].sort(([a], [b]) => a - b);
    process.stdout.write(`${batches * together} requests: ${JSON.stringify(counts)}\n`);
  }
});

/** What a `user_info` gives leave to store: its own values, under their keys. */
function addSigned(signed: Set<string>, userInfo: string): void {
  let entries: unknown;
  try {
    entries = JSON.parse(userInfo);
  } catch {
    return;
  }
  for (const [name, value] of Object.entries(entries ?? {})) {
    if (typeof value === 'object') continue; // never stored
    // A number is stored as it is written.
    const written =
      typeof value === 'number' ? (userInfo.match(/-?\d[\d.eE+-]*/g) ?? []) : [String(value)];
    for (const text of written) signed.add(`${name}\0${text}`);
  }
}

function expectCleanLog(hidden: readonly string[]): void {
  const log = lines.join('\n');
  expect(lines.length).toBeGreaterThan(batches * together);
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  // What is masked shows no more than three characters, and four at the end.
  const pieces = hidden.flatMap((text) => [...text].map((_, at) => text.slice(at, at + 8)));
  const found = pieces.find((piece) => piece.length === 8 && log.includes(piece));
  expect(found && lines.filter((line) => line.includes(found))).toBeUndefined();
}
