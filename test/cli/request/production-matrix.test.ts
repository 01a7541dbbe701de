import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { httpServer, writtenBy } from '../../support/raw-server.js';

type Address = 'test' | 'production' | 'unknown';
type Listener = Awaited<ReturnType<typeof httpServer>>;

const machine = new Machine();
const listeners = {} as Record<Address, Listener>;
const values = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'a1'];
const secret = { USERINFO_APP_SECRET: 'secret-of-the-app' };

beforeAll(async () => {
  for (const address of ['test', 'production', 'unknown'] as const)
    listeners[address] = await httpServer((request, response) => response.end(writtenBy(request)));
  for (const name of ['test', 'production'] as const) {
    const at = ['--base-url', listeners[name].url, '--environment', name];
    const added = await machine.run([
      'profile',
      'add',
      name,
      ...values,
      ...at,
      '--app-secret-env',
      'SECRET',
    ]);
    expect(added).toMatchObject({ status: 0 });
  }
  writeFileSync(join(machine.folder, 'rows.csv'), 'union_id,a\nu1,x\nu2,y\n');
});
beforeEach(() => {
  for (const { requests } of Object.values(listeners)) requests.splice(0);
});
afterAll(async () => {
  for (const listener of Object.values(listeners)) await listener.close();
  machine[Symbol.dispose]();
});

/** How a profile is chosen, and where the base URL comes from. */
interface Cell {
  readonly profile: 'test' | 'production' | null;
  readonly by: '-p' | 'USERINFO_PROFILE' | 'active';
  readonly url: 'profile' | 'flag' | 'variable';
  readonly address: Address;
}

const addresses = ['test', 'production', 'unknown'] as const;
const cells: Cell[] = [
  ...(['test', 'production'] as const).flatMap((profile) =>
    (['-p', 'USERINFO_PROFILE', 'active'] as const).flatMap((by): Cell[] => [
      { profile, by, url: 'profile', address: profile },
      ...(['flag', 'variable'] as const).flatMap((url) =>
        addresses.map((address): Cell => ({ profile, by, url, address })),
      ),
    ]),
  ),
  ...(['flag', 'variable'] as const).flatMap((url) =>
    addresses.map((address): Cell => ({ profile: null, by: 'active', url, address })),
  ),
];

/**
 * A production profile is production wherever it sends, and so is the address of one, whoever names
 * it.
 */
const isGuarded = ({ profile, address }: Cell) =>
  profile === 'production' || address === 'production';

async function run(command: readonly string[], { profile, by, url, address }: Cell) {
  const { url: baseUrl } = listeners[address];
  if (profile !== null && by === 'active') await machine.run(['profile', 'use', profile]);
  const flags = [
    ...(profile !== null && by === '-p' ? ['-p', profile] : []),
    ...(url === 'flag' ? ['--base-url', baseUrl] : []),
    ...(profile === null ? values : []),
  ];
  const env = {
    ...secret,
    ...(profile !== null && by === 'USERINFO_PROFILE' ? { USERINFO_PROFILE: profile } : {}),
    ...(url === 'variable' ? { USERINFO_BASE_URL: baseUrl } : {}),
  };
  const done = await machine.run([...command, ...flags, '--no-input'], { env });
  const writes = addresses.map((name) =>
    listeners[name].requests.filter(({ method }) => method === 'PUT'),
  );
  const reads = addresses.map((name) =>
    listeners[name].requests.filter(({ method }) => method === 'GET'),
  );
  return {
    ...done,
    writes: writes.map(({ length }) => length),
    reads: reads.map(({ length }) => length),
  };
}

const at = (address: Address, count: number) =>
  addresses.map((name) => (name === address ? count : 0));

describe('a passback', () => {
  it.each(cells)('by profile $profile ($by), base URL of the $url: $address', async (cell) => {
    const done = await run(['passback', 'a=x', '--union-id', 'u1'], cell);
    if (isGuarded(cell)) {
      expect(done).toMatchObject({ status: 2, writes: at('test', 0) });
      expect(done.stderr).toContain('Add --yes');
    } else expect(done).toMatchObject({ status: 0, writes: at(cell.address, 1) });
  });
});

const chosen: Cell[] = [
  { profile: 'test', by: '-p', url: 'profile', address: 'test' },
  { profile: 'production', by: 'active', url: 'profile', address: 'production' },
  { profile: 'test', by: '-p', url: 'variable', address: 'production' },
  { profile: 'test', by: 'USERINFO_PROFILE', url: 'flag', address: 'production' },
  { profile: 'test', by: 'active', url: 'variable', address: 'production' },
  { profile: 'test', by: '-p', url: 'variable', address: 'unknown' },
];

describe('a bulk run', () => {
  it.each(chosen)('by profile $profile ($by), base URL of the $url: $address', async (cell) => {
    const done = await run(['bulk', 'passback', 'rows.csv', '--restart'], cell);
    if (isGuarded(cell)) expect(done).toMatchObject({ status: 2, writes: at('test', 0) });
    else expect(done).toMatchObject({ status: 0, writes: at(cell.address, 2) });
  });
});

describe.each([
  ['read', ['read', 'c1']],
  ['doctor', ['doctor']],
])('%s', (_, command) => {
  it.each(chosen)('by profile $profile ($by), base URL of the $url: $address', async (cell) => {
    const done = await run(command, cell);
    expect(done).toMatchObject({ status: 0, reads: at(cell.address, 1), writes: at('test', 0) });
    expect(/^production: /m.test(done.stderr)).toBe(isGuarded(cell));
  });
});

describe('probe', () => {
  it.each(chosen)('by profile $profile ($by), base URL of the $url: $address', async (cell) => {
    const done = await run(['probe', '--code', 'c1', '--union-id', 'u1'], cell);
    expect(done).toMatchObject({ status: 2, reads: at('test', 0), writes: at('test', 0) });
    const question = isGuarded(cell) ? 'Send this to production?' : 'Send this?';
    expect(done.stderr).toContain(question);
  });
});

it.each([['USERINFO_CONFIG_DIR'], ['-p test']])(
  'an address elsewhere that no profile has is asked about: %s',
  async (by) => {
    const elsewhere = { ...secret, USERINFO_BASE_URL: 'https://api.example.invalid' };
    const env =
      by === '-p test'
        ? elsewhere
        : { ...elsewhere, USERINFO_CONFIG_DIR: join(machine.folder, 'none') };
    const chosen = by === '-p test' ? by.split(' ') : values;
    const write = [...'passback a=x --union-id u1 --no-input --attempts 1'.split(' '), ...chosen];
    const asked = await machine.run(write, { env });
    expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('Add --yes') });
    const said = await machine.run([...write, '--environment', 'test'], { env });
    expect(said).toMatchObject({ status: 5, stderr: expect.not.stringContaining('production') });
  },
);

it('a production profile becomes a test one only after a question', async () => {
  const at = ['--base-url', listeners.unknown.url, '--environment', 'production'];
  await machine.run(['profile', 'add', 'live', ...values, ...at, '--app-secret-env', 'SECRET']);
  const set = ['profile', 'set', 'live', '--environment', 'test'];
  const question = `Profile "live" (production, ${new URL(listeners.unknown.url).host}) becomes a test profile`;
  expect(await machine.run(set)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(question),
  });
  expect((await machine.run(['profile', 'list'])).stdout).toMatch(/live +production/);
  expect(await machine.run([...set, '--yes'])).toMatchObject({ status: 0 });
  await machine.run(['profile', 'delete', 'live', '--yes']);
});

it('a profile of the other environment at the same address is asked about: add, set, import', async () => {
  const { url } = listeners.production;
  const question =
    'The test profile "twice" and the production profile "production" have the same address, ' +
    `${new URL(url).host}: writes with "twice" need no confirmation. Store it?`;
  const spelled = `${url.replace('127.0.0.1', '127.1')}//`;
  const file = {
    tenant_code: 'a',
    channel: 'w',
    app_key: 'k',
    environment: 'test',
    base_url: spelled,
  };
  writeFileSync(join(machine.folder, 'theirs.json'), JSON.stringify(file));
  const own = ['--app-secret-env', 'SECRET'];
  const add = ['profile', 'add', 'twice', ...values, '--environment', 'test', ...own, '--base-url'];
  const ways = [
    [...add, spelled],
    ['profile', 'import', 'theirs.json', '--name', 'twice', ...own],
  ];
  for (const args of ways) {
    const refused = await machine.run(args);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining(question) });
    expect((await machine.run(['profile', 'list'])).stdout).not.toContain('twice');
    expect(await machine.run([...args, '--yes'])).toMatchObject({ status: 0 });
    await machine.run(['profile', 'delete', 'twice', '--yes']);
  }
  await machine.run([...add, listeners.unknown.url]);
  const set = ['profile', 'set', 'twice', '--base-url', url];
  expect(await machine.run(set)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(question),
  });
  expect(await machine.run([...set, '--yes'])).toMatchObject({ status: 0 });
  // What does not touch the address is not asked about again.
  expect((await machine.run(['profile', 'set', 'twice', '--channel', 'app'])).status).toBe(0);
  const read = await machine.run(['read', 'c1', '-p', 'twice'], { env: secret });
  expect(read.stderr).toContain(
    'belongs to the production profile "production", though "twice" is a test profile',
  );
  await machine.run(['profile', 'delete', 'twice', '--yes']);
});
