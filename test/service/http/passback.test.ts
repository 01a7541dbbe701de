import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftPassback, fetchAnswer, send, signDraft } from '../../support/foreign-client.js';
import {
  createAppKeys,
  type RunningService,
  runService,
  tenant,
  user,
} from '../../support/running-service.js';

let running: RunningService;

beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.service.close());

const put = (...args: Parameters<typeof user>) => running.service.admin.putUser(user(...args));
const get = (unionId: string) => running.service.admin.getUser({ tenantCode: tenant, unionId });

describe('a passback (§4.2)', () => {
  it('answers with the union_id, byte for byte', async () => {
    await put('u1');
    const { status, text } = await running.passback({ union_id: 'u1', user_info: '{"a":"b"}' });
    expect([status, text]).toEqual([200, '{"code":200,"msg":"ok","data":{"union_id":"u1"}}']);
  });

  it("reaches no other tenant's user", async () => {
    await put('u6');
    const stranger = await createAppKeys(running.service, 'other');
    const answer = await send(
      running.service.url,
      draftPassback(stranger, { union_id: 'u6', user_info: '{"a":"b"}' }),
    );
    expect(answer.envelope.code).toBe(40401);
    expect((await get('u6')).extension_info).toEqual({});
  });

  it.each([
    ['union_id', 'belongs in the body'],
    ['primary_key', 'belongs in the body'],
    ['user_info', 'belongs in the body'],
    ['tenant_code', 'belongs in the query'],
    ['app_key', 'belongs in the query'],
    ['channel', 'belongs in the query'],
    ['random', 'belongs in the query'],
    ['timestamp', 'belongs in the query'],
  ])('takes %s from its place alone, though the signature is the same', async (name, said) => {
    await put('u7', { extension_info: { seat: '7' } });
    const form = { union_id: 'u7', primary_key: 'seat', user_info: '{"seat":"7","a":"b"}' };
    const draft = draftPassback(running.app, form);
    const { target, body } = signDraft(draft);
    const query = new URLSearchParams(target.split('?')[1]);
    const moved = new URLSearchParams(body ?? '');
    const [from, to] = moved.has(name) ? [moved, query] : [query, moved];
    to.set(name, from.get(name) ?? '');
    from.delete(name);
    const answer = await fetchAnswer(`${running.service.url}${draft.path}?${query}`, {
      method: 'PUT',
      body: moved,
    });
    expect(answer.envelope).toMatchObject({ code: 40002, msg: `parameter ${name} ${said}` });
    expect((await get('u7')).extension_info).toEqual({ seat: '7' });
  });

  it.each(['x', '', 'code', 'a=b', 'a&b'])(
    'has no parameter %j, in the query or the body',
    async (name) => {
      const inQuery = draftPassback(running.app, { union_id: 'u1', user_info: '{"a":"b"}' });
      inQuery.query.set(name, 'x');
      const inBody = draftPassback(running.app, {
        union_id: 'u1',
        user_info: '{"a":"b"}',
        [name]: 'x',
      });
      for (const draft of [inQuery, inBody]) {
        const { envelope } = await send(running.service.url, draft);
        expect(envelope).toMatchObject({
          code: 40002,
          msg: expect.stringContaining('has no parameter'),
        });
      }
    },
  );

  it('refuses a record larger than 16 KiB', async () => {
    await put('u11');
    const pass = (key: string, length: number) =>
      running.passback({ union_id: 'u11', user_info: `{"${key}":"${'x'.repeat(length)}"}` });
    expect((await pass('a', 12_000)).envelope.code).toBe(200);
    const left = 16_384 - Buffer.byteLength(JSON.stringify(await get('u11'))) - ',"b":""'.length;
    const refused = await pass('b', left + 1);
    expect([refused.status, refused.envelope]).toEqual([
      413,
      {
        code: 41301,
        msg: expect.stringContaining('would have 16385 bytes; the maximum is 16384'),
        data: {},
      },
    ]);
    expect(Object.keys((await get('u11')).extension_info)).toEqual(['a']);
    expect((await pass('b', left)).envelope.code).toBe(200);
    await expect(put('u12', { extension_info: { a: 'x'.repeat(16_384) } })).rejects.toMatchObject({
      resultCode: 41301,
    });
  });
});

const text = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((found) => found.isWellFormed() && !found.includes('\0'));
const number = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom(
    ...'1.00 -0 9007199254740993 1e400 0.1000 2E+2 123456789012345678901234567890'.split(' '),
  ),
);
const value = fc.oneof(
  text.map((plain) => [JSON.stringify(plain), plain] as const),
  number.map((written) => [written, written] as const),
  fc.constantFrom('true', 'false').map((written) => [written, written] as const),
);
/**
 * Two names have a meaning of their own in `info_name`, a comma parts names there, and names are
 * trimmed.
 */
const key = fc
  .oneof(
    text,
    fc.constantFrom('__proto__', 'constructor', 'toString', '10', 'mobile', 'gps', 'chat_nickname'),
  )
  .filter(
    (name) =>
      !name.includes(',') &&
      name === name.trim() &&
      !['', 'union_id', 'channel', 'device_info', 'location_info'].includes(name),
  );

describe('passed-back data', () => {
  it('is read by name as written, and identifies its user', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 8 }),
        async (given) => {
          await put('property');
          const entries = new Map(given);
          const members = [...entries].map(
            ([name, [written]]) => `${JSON.stringify(name)}:${written}`,
          );
          const user_info = `{${members.join(',')}}`;
          const stored = await running.passback({ union_id: 'property', user_info });
          expect(stored.envelope).toMatchObject({ code: 200 });
          const { envelope } = await running.read('property', [...entries.keys()].join(','));
          const expected = [...entries].map(([name, [, plain]]) => [name, plain]);
          expect(Object.entries(envelope.data).sort()).toEqual(
            [['union_id', 'property'], ...expected].sort(),
          );
          const [first, [written]] = given.at(-1) ?? ['', ['']];
          const again = await running.passback({ primary_key: first, user_info });
          const isName = !['""', 'true', 'false'].includes(written);
          expect(again.envelope).toMatchObject(
            isName ? { data: { union_id: 'property' } } : { code: 40006 },
          );
        },
      ),
      { numRuns: 40 },
    );
  });
});
