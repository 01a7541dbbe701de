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

  it('stores each key in its place, and removes keys that are null', async () => {
    await put('u2', {
      basic_info: { id_card: 'old', chat_sex: '1' },
      extension_info: { gone: 'x' },
    });
    const passed = {
      mobile: '13800138000',
      mobile_district_code: '86',
      id_card: null,
      device_token: 't1',
      gps: '120.1,30.2',
      gone: null,
      name: '张三/李四',
      vip: true,
    };
    await running.passback({ union_id: 'u2', user_info: JSON.stringify(passed) });
    expect(await get('u2')).toEqual(
      user('u2', {
        basic_info: { chat_sex: '1', mobile: '13800138000' },
        extension_info: { name: '张三/李四', vip: 'true' },
        login_device_info: [{ device_token: 't1' }],
        mobile_district_code: '86',
        gps: '120.1,30.2',
      }),
    );
  });

  it('finds the user by primary key, whatever its JSON type', async () => {
    await put('u3', { extension_info: { number: '3003' } });
    const byNumber = await running.passback({
      primary_key: 'number',
      user_info: '{"number":3003,"a":1}',
    });
    expect(byNumber.envelope.data).toEqual({ union_id: 'u3' });
    const byText = await running.passback({
      primary_key: 'number',
      user_info: '{"number":"3003","a":2}',
    });
    expect(byText.envelope.data).toEqual({ union_id: 'u3' });
    const other = await running.passback({
      primary_key: 'number',
      user_info: '{"number":"3003.0"}',
    });
    expect(other.envelope.code).toBe(40401);
  });

  it('uses union_id if both are sent', async () => {
    await put('u4');
    await put('u5', { extension_info: { seat: '5' } });
    const { envelope } = await running.passback({
      union_id: 'u4',
      primary_key: 'seat',
      user_info: '{"seat":"5","b":"c"}',
    });
    expect(envelope.data).toEqual({ union_id: 'u4' });
    expect((await get('u5')).extension_info).toEqual({ seat: '5' });
  });

  it('creates no user', async () => {
    expect(
      (await running.passback({ union_id: 'nobody', user_info: '{"a":"b"}' })).envelope.code,
    ).toBe(40401);
    await expect(get('nobody')).rejects.toMatchObject({ resultCode: 40401 });
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

  it('matches no user by an empty value, true or false', async () => {
    await put('u10', { basic_info: { mobile: '' }, extension_info: { member: 'true' } });
    const by = (primary_key: string, user_info: string) =>
      running.passback({ primary_key, user_info });
    expect((await by('mobile', '{"mobile":"","level":"gold"}')).envelope.code).toBe(40006);
    expect((await by('member', '{"member":true,"level":"gold"}')).envelope.code).toBe(40006);
    expect((await by('member', '{"member":"true"}')).envelope.data).toEqual({ union_id: 'u10' });
  });

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

  it('loses no key of concurrent passbacks to one user', async () => {
    await put('u8');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        running.passback({ union_id: 'u8', user_info: `{"key${i}":${i}}` }),
      ),
    );
    expect(answers.map(({ envelope }) => envelope.code)).toEqual(Array(50).fill(200));
    expect(Object.keys((await get('u8')).extension_info)).toHaveLength(50);
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
