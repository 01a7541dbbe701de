import { rmSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { httpServer } from '../../support/raw-server.js';
import { type SignedPlatform, startPlatform } from './signed-platform.js';

const machine = new Machine();
const quick = ['--rate', '1000000/s'];

afterEach(() => rmSync(machine.configFolder, { recursive: true, force: true }));
afterAll(() => machine[Symbol.dispose]());

const run = (platform: SignedPlatform, ...args: readonly string[]) =>
  machine.run(args, { env: { SHOP: platform.secret } });

async function addFromRead(platform: SignedPlatform, ...more: readonly string[]) {
  const file = machine.file('captured.txt', await platform.capture('read'));
  await platform.record();
  const args = [
    'profile',
    'add',
    'shop',
    '--from',
    file,
    '--app-secret-env',
    'SHOP',
    '--yes',
    ...quick,
  ];
  return run(platform, ...args, ...more);
}

/** The kinds of requests that are refused afterwards. */
async function refusedLater(platform: SignedPlatform): Promise<string[]> {
  const info = ['mobile=13800001111', 'acme_note=李 a/b+c~*'];
  const six = {
    read: ['read', await platform.issueCode('c1')],
    'read by names': ['read', await platform.issueCode('c2'), 'mobile', 'acme_level'],
    'read with a scope': ['read', await platform.issueCode('c3'), '--scope', 'get_user_info'],
    'passback by user': ['passback', ...info, '--union-id', 'u1'],
    'passback by key': ['passback', ...info, '--primary-key', 'mobile'],
    'passback by both': ['passback', ...info, '--union-id', 'u1', '--primary-key', 'mobile'],
  };
  const refused: string[] = [];
  for (const [name, args] of Object.entries(six)) {
    const { status } = await run(platform, ...args, '-p', 'shop');
    if (status !== 0) refused.push(name);
  }
  return refused;
}

/** What was sent cannot have changed anything. */
async function harmless(platform: SignedPlatform) {
  const { requests, changes, dangers } = await platform.record();
  expect({ changes, dangers }).toEqual({ changes: 0, dangers: 0 });
  return requests;
}

/** A rule as simple as any, and a platform that tells each refusal. */
const simple = {
  sign: {
    ...{
      place: 'query',
      app_sign: true,
      empty: 'keep',
      without: [],
      order: 'name',
      writing: 'k=v&',
    },
    ...{ encode: 'none', way: '&key=', digested: false, algorithm: 'md5', output: 'HEX', from: 0 },
  },
  app_sign: {
    ...{ kind: 'parts', parts: ['app_key', 'timestamp'], way: 'last', joiner: '' },
    ...{ algorithm: 'md5', output: 'hex', cut: false },
  },
  ...{ checks: 'app_sign first', words: 'english', lenient: false, strict: false, replay: 'allow' },
};

describe('profile add --from a read', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'makes a profile whose every request is accepted: platform %i',
    async (seed) => {
      await using platform = await startPlatform(seed, {
        checks: seed % 2 ? 'app_sign first' : 'sign first',
      });
      const done = await addFromRead(platform);
      expect(done).toMatchObject({ status: 0 });
      const requests = await harmless(platform);
      expect(requests.length).toBeLessThanOrEqual(20);
      expect(done.stdout).toMatch(/^✓ read {10}app_sign and sign were accepted: /m);
      expect(done.stdout).toMatch(/^✓ passback {6}app_sign and sign were accepted: /m);
      expect(await refusedLater(platform)).toEqual([]);
    },
  );

  it('says that a passback cannot be seen where the form is judged before the signature', async () => {
    await using platform = await startPlatform(1, { ...simple, checks: 'form first' });
    const done = await addFromRead(platform);
    expect(done).toMatchObject({ status: 0 });
    expect(done.stdout).toMatch(
      /^– passback {6}not seen: the platform refuses something else before the/m,
    );
    await harmless(platform);
  });

  it('sees by passbacks what a platform hides that judges the code before the signature', async () => {
    await using platform = await startPlatform(1, { ...simple, checks: 'code first' });
    const done = await addFromRead(platform);
    expect(done.stdout).toMatch(/^– read {10}not seen: a wrong signature is answered alike/m);
    expect(done.stdout).toMatch(/^✓ passback/m);
    await harmless(platform);
    expect(await refusedLater(platform)).toEqual([]);
  });

  it.each(['form', 'component', 'dotnet'])(
    'finds the encoding of the query by a passback where the code is judged first: %s',
    async (encode) => {
      const rule = { ...simple, sign: { ...simple.sign, encode } };
      await using platform = await startPlatform(1, { ...rule, checks: 'code first' });
      const done = await addFromRead(platform);
      expect(done.stdout).toMatch(/^✓ passback/m);
      expect((await harmless(platform)).length).toBeLessThanOrEqual(20);
      expect(await refusedLater(platform)).toEqual([]);
    },
  );

  it('sends no passback after one that was answered with a success', async () => {
    await using platform = await startPlatform(1, { ...simple, lenient: true });
    const done = await addFromRead(platform);
    expect(done.stdout).toMatch(/answers a passback that names no user with a\s+success/);
    const passbacks = (await harmless(platform)).filter(({ form }) => form.length > 0);
    expect(passbacks.findIndex(({ refused }) => refused === null)).toBe(passbacks.length - 1);
    expect(await refusedLater(platform)).toEqual([]);
  });

  it('takes what a passback showed of one rule for both signatures', async () => {
    const same = { ...simple, app_sign: { kind: 'same' }, checks: 'code first', lenient: true };
    await using platform = await startPlatform(1, same);
    const done = await addFromRead(platform);
    expect(done.stdout).toMatch(/whether app_sign is right could not be seen/);
    await harmless(platform);
    expect(await refusedLater(platform)).toEqual([]);
  });

  it.each([false, true])('sends only reads to production: codes are plain, %s', async (plain) => {
    const encoded = { ...simple.sign, encode: 'form' };
    await using platform = await startPlatform(1, { ...simple, sign: encoded, plain_codes: plain });
    const done = await addFromRead(platform, '--environment', 'production');
    expect(done.stdout).toMatch(/^✓ read/m);
    expect(done.stdout).toMatch(/^– passback {6}not asked/m);
    expect((await harmless(platform)).every(({ form }) => form.length === 0)).toBe(true);
  });

  it('stops where the platform throttles, and says so', async () => {
    await using platform = await startPlatform(1, { ...simple, throttle: 3 });
    const done = await addFromRead(platform);
    expect(done.stdout).toMatch(/^– passback {6}not seen: the platform throttles/m);
    expect((await harmless(platform)).length).toBeLessThan(8);
  });
});

describe('sign try', () => {
  const add = (platform: SignedPlatform) =>
    run(platform, 'profile', 'add', 'shop', ...platform.flags);
  const attempt = (platform: SignedPlatform, ...more: readonly string[]) =>
    run(platform, 'sign', 'try', '-p', 'shop', '--save', 'shop', ...quick, ...more);

  it.each(['app_sign first', 'sign first'])(
    'finds both rules without a captured request, and lets the platform decide what they cover: %s',
    async (checks) => {
      await using platform = await startPlatform(1, { ...simple, checks });
      await add(platform);
      const done = await attempt(platform, '--yes');
      expect(done).toMatchObject({
        status: 0,
        stderr: 'saved in profile "shop": app_sign and sign\n',
      });
      await harmless(platform);
      expect(await refusedLater(platform)).toEqual([]);
      const again = await attempt(platform, '--yes');
      expect(again.stderr).toBe('the rules of the profile are accepted\n');
    },
  );

  it('says that nothing was decided where both signatures have one answer, and goes on from there', async () => {
    const constant = { ...simple, app_sign: { kind: 'constant' } };
    await using platform = await startPlatform(1, constant);
    await add(platform);
    const dialogue = [
      ['Send up to 150 requests', 'y'],
      ['Send up to 450 more', 'n'],
    ] as const;
    const args = ['sign', 'try', '-p', 'shop', '--save', 'shop', ...quick];
    const done = await machine.onTerminal(args, dialogue, { env: { SHOP: platform.secret } });
    expect(done).toMatchObject({ status: 4 });
    expect(done.stdout).toMatch(/neither app_sign nor sign was found by 130 requests/);
    expect(done.stdout).toContain('userinfo sign solve -p shop --save shop --sample request.txt');
    const sent = await harmless(platform);
    expect(sent).toHaveLength(130);
    const [, skipped] =
      /userinfo sign try -p shop --save shop --rate 1000000\/s --skip (\d+)/.exec(done.stdout) ??
      [];
    const on = await machine.onTerminal([...args, '--skip', String(skipped)], dialogue, {
      env: { SHOP: platform.secret },
    });
    expect(on.stdout).toMatch(new RegExp(`--skip ${2 * Number(skipped)}\\b`));
  });

  it('stops where the platform blocks, and names the command that goes on', async () => {
    await using platform = await startPlatform(1, {
      ...simple,
      block: 12,
      app_sign: { kind: 'constant' },
    });
    await add(platform);
    const done = await attempt(platform, '--yes');
    expect(done).toMatchObject({ status: 4 });
    expect(done.stderr).toMatch(/Stopped: the platform no longer answers as it did at the start/);
    expect(done.stderr).toMatch(
      /userinfo sign try -p shop --save shop --rate 1000000\/s --yes --skip \d+/,
    );
    expect((await harmless(platform)).length).toBeLessThan(20);
  });

  it.each([
    [
      'is no envelope: the address is that of another service',
      404,
      '<title>Not found</title>',
      'error: the answer is no envelope: HTTP 404\n' +
        'Check the base URL first: its path may lack a part, such as /gw.\n',
    ],
    ['has no code', 200, '{"status":"ok"}', 'error: the answer is no envelope: HTTP 200\n'],
    [
      'is a success in spite of a wrong signature',
      200,
      '{"code":200,"msg":"ok","data":{"union_id":"u1"}}',
      'error: a wrong signature is accepted: 200 "ok"\n',
    ],
  ])('stops at the first answer that %s', async (_, status, body, said) => {
    await using platform = await startPlatform(1, simple);
    const server = await httpServer((_request, response) => response.writeHead(status).end(body));
    await add(platform);
    const done = await attempt(platform, '--yes', '--base-url', server.url);
    await server.close();
    expect(done).toMatchObject({ status: 4, stdout: '', stderr: expect.stringContaining(said) });
    expect(server.requests).toHaveLength(1);
  });

  it('sends nothing to production, or without consent', async () => {
    await using platform = await startPlatform(1, simple);
    await add(platform);
    expect(await attempt(platform)).toMatchObject({ status: 2 });
    const production = await attempt(platform, '--yes', '--environment', 'production');
    expect(production).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('is production'),
    });
    expect(await harmless(platform)).toEqual([]);
  });
});
