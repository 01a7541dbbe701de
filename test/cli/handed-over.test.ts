import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fromProfile } from '../../src/client/profiles.js';
import { UserInfoClient } from '../../src/index.js';
import { createService } from '../../src/service/index.js';
import { deploymentFlags, Machine } from '../support/cli.js';
import { httpServer } from '../support/raw-server.js';

const machine = new Machine();
const folder = machine.folder;
const marker = join(folder, 'was-run');
const module = join(folder, 'signer.mjs');
const file = join(folder, 'theirs.json');
const stolen = 'AKIA-never-to-be-sent';
let server: Awaited<ReturnType<typeof httpServer>>;
let env: Record<string, string>;
let before: string;

beforeAll(async () => {
  server = await httpServer((_, response) =>
    response.end('{"code":200,"msg":"ok","data":{"union_id":"u1"}}'),
  );
  writeFileSync(
    module,
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(marker)}, ''); export const sign = () => ({ digest: 'x' });`,
  );
  env = {
    USERINFO_CONFIG_DIR: machine.configFolder,
    AWS_SECRET_ACCESS_KEY: stolen,
    SHOP_SECRET: 'secret-of-the-shop',
  };
  const values = deploymentFlags(server.url);
  const added = await machine.run(
    ['profile', 'add', 'shop', ...values, '--app-secret-env', 'SHOP_SECRET'],
    { env },
  );
  expect(added).toMatchObject({ status: 0 });
  before = readFileSync(machine.profileFile, 'utf8');
});
beforeEach(() => server.requests.splice(0));
afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const command = `touch ${marker}; echo x`;
const recipe = { message: ['$params', '$secret'], steps: ['md5'] };

/** What a file may not name: its place in a platform file, and what the advice sets instead. */
const inPlatform: [place: string, content: object, option: string][] = [
  ['headers.X-Trace', { headers: { 'X-Trace': { command } } }, '--header X-Trace=env:X_TRACE'],
  [
    'headers.X-Trace',
    { headers: { 'X-Trace': { env: 'AWS_SECRET_ACCESS_KEY' } } },
    '--header X-Trace=env:X_TRACE',
  ],
  ['headers.X-Trace', { headers: { 'X-Trace': 'v' } }, '--header X-Trace=env:X_TRACE'],
  ['signing.module', { signing: { module } }, '--signing-module signer.mjs'],
  ['signing.sign.module', { signing: { sign: { module } } }, '--signing-module signer.mjs'],
  [
    'signing.app_sign.module',
    { signing: { app_sign: { module }, sign: recipe } },
    '--signing-module signer.mjs',
  ],
];
const ofOneself: typeof inPlatform = [
  ['secret', { secret: { kind: 'command', command } }, '--app-secret-stdin'],
  [
    'secret',
    { secret: { kind: 'environment', name: 'AWS_SECRET_ACCESS_KEY' } },
    '--app-secret-stdin',
  ],
  ['secret', { secret: { kind: 'file' } }, '--app-secret-stdin'],
  ['proxy', { proxy: 'http://127.0.0.1:9' }, '--proxy http://proxy.example:3128'],
  ['ca_file', { ca_file: '/tmp/mitm.pem' }, '--ca-file authority.pem'],
  ['allow_http', { allow_http: true }, '--allow-http'],
  ['signing_module', { signing_module: module }, '--signing-module signer.mjs'],
];
const inProfile: typeof inPlatform = [
  ...ofOneself,
  ['headers', { headers: { 'X-Trace': { command } } }, "--header 'X-Key=env:X_KEY'"],
  ...inPlatform.map(([place, content, option]): (typeof inPlatform)[number] => [
    `platform: ${place}`,
    { platform: content },
    option,
  ]),
];
const inRecipe: typeof inPlatform = [
  ['module', { module }, '--signing-module signer.mjs'],
  ['sign.module', { sign: { module } }, '--signing-module signer.mjs'],
  ['app_sign.module', { app_sign: { module }, sign: recipe }, '--signing-module signer.mjs'],
  ['signing.sign.module', { signing: { sign: { module } } }, '--signing-module signer.mjs'],
];

type Way = (
  given: object,
) => Promise<{ readonly message: string; readonly commands: readonly string[] }>;

/** A command that reads the file. */
const by =
  (...args: string[]): Way =>
  async () => {
    const { status, stderr } = await machine.run([...args, '--json'], { env });
    expect(status).toBe(2);
    return JSON.parse(stderr).error;
  };
/** A call of the SDK. */
const from =
  (call: (given: object) => unknown): Way =>
  async (given) => {
    const attempt = async () => call(given);
    return attempt().then(
      () => expect.unreachable(),
      (error) => error,
    );
  };
const byVariable = () => ({ ...env, USERINFO_PLATFORM: file });
const values = {
  baseUrl: 'http://127.0.0.1:9',
  tenantCode: 't',
  channel: 'c',
  appKey: 'k',
  appSecret: 's',
};
const added = [
  '--tenant-code',
  'a',
  '--channel',
  'w',
  '--app-key',
  'k',
  '--base-url',
  'http://127.0.0.1:9',
];

const platformWays: Record<string, Way> = {
  'read --platform': by('read', 'c1', '--platform', file),
  'profile set --platform': by('profile', 'set', 'shop', '--platform', file),
  'profile add --platform': by(
    'profile',
    'add',
    'other',
    ...added,
    '--app-secret-env',
    'HOME',
    '--platform',
    file,
  ),
  'doctor --platform': async () => {
    const { stdout } = await machine.run(['doctor', '--platform', file, '--json'], { env });
    const failed = JSON.parse(stdout).find(({ status }: { status: string }) => status === 'failed');
    return { message: failed.detail, commands: failed.commands };
  },
  'serve --platform': by('serve', '--port', '0', '--platform', file),
  'admin app create --platform': by(
    ...'admin app create --tenant-code t --channel c --platform'.split(' '),
    file,
  ),
  USERINFO_PLATFORM: async () => {
    const { stderr } = await machine.run(['read', 'c1', '--json'], { env: byVariable() });
    return JSON.parse(stderr).error;
  },
  fromEnv: from(() => UserInfoClient.fromEnv(values, byVariable())),
  fromProfile: from(() => fromProfile('shop', {}, byVariable())),
  'the option platform': from((platform) => new UserInfoClient({ ...values, platform })),
  'createService({ platform })': from((platform) => createService({ platform })),
};
const profileWays: Record<string, Way> = {
  'profile import': by(
    'profile',
    'import',
    file,
    '--name',
    'other',
    '--app-secret-env',
    'SHOP_SECRET',
    '--yes',
  ),
};
const recipeWays: Record<string, Way> = {
  'sign explain --recipe': by('sign', 'explain', 'read', 'c1', '--recipe', file),
  'sign export --recipe': by('sign', 'export', '--lang', 'python', '--recipe', file),
};
const shared = {
  environment: 'test',
  base_url: 'http://127.0.0.1:9',
  tenant_code: 't',
  channel: 'c',
  app_key: 'k',
};

const table = [
  // One way has each of them, the others have one that is in the platform and one that is beside it.
  ...Object.entries(platformWays).flatMap(([name, way], index) => {
    const cells = [...inPlatform, ...ofOneself];
    const some = index === 0 ? cells : [cells[0], cells.at(-1)];
    return some.flatMap((cell) => (cell === undefined ? [] : [[name, ...cell, {}, way] as const]));
  }),
  ...Object.entries(profileWays).flatMap(([name, way]) =>
    inProfile.map((cell) => [name, ...cell, shared, way] as const),
  ),
  ...Object.entries(recipeWays).flatMap(([name, way]) =>
    inRecipe.map((cell) => [name, ...cell, {}, way] as const),
  ),
];

describe('a file that is handed over', () => {
  it.each(table)('by %s names no %s: %j', async (_way, place, content, option, rest, way) => {
    const given = { ...rest, ...content };
    writeFileSync(file, JSON.stringify(given));
    const { message, commands } = await way(given);
    expect(message).toMatch(
      new RegExp(`: ${place.replaceAll('.', '\\.')} is not taken from a file$`),
    );
    expect(commands).toEqual([`userinfo profile set shop ${option}`]);
    expect(existsSync(marker)).toBe(false);
    expect(server.requests).toEqual([]);
    expect(readFileSync(machine.profileFile, 'utf8')).toBe(before);
  });

  it('and the commands of that advice work', async () => {
    const options = new Set(table.map(([, , , option]) => option));
    for (const option of options) {
      const { status } = await machine.type(`echo typed | userinfo profile set shop ${option}`, {
        env,
      });
      expect([option, status]).toEqual([option, 0]);
    }
    const { shop } = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles;
    expect(shop).toMatchObject({
      headers: { 'X-Trace': { env: 'X_TRACE' }, 'X-Key': { env: 'X_KEY' } },
      signing_module: module,
      proxy: 'http://proxy.example:3128',
      secret: { kind: 'file', value: 'typed' },
    });
    expect(existsSync(marker)).toBe(false); // it is loaded where it signs
    writeFileSync(machine.profileFile, before);
  });
});

it('what one types is not run by add, set, import and show, but where it signs and sends', async () => {
  mkdirSync(join(folder, 'mine'), { recursive: true });
  const own = [
    '--signing-module',
    module,
    '--app-secret-command',
    command,
    '--header',
    `X-Trace=command:echo traced`,
  ];
  const plain = { ...shared, base_url: server.url };
  writeFileSync(file, JSON.stringify(plain));
  for (const args of [
    ['profile', 'add', 'mine', ...added, ...own],
    ['profile', 'set', 'mine', '--base-url', server.url, ...own],
    ['profile', 'show', 'mine'],
    ['profile', 'import', file, '--name', 'third', '--app-secret-command', command],
    ['profile', 'export', 'mine'],
    ['profile', 'list'],
  ]) {
    expect(await machine.run(args, { env })).toMatchObject({ status: 0 });
    expect(existsSync(marker)).toBe(false);
  }
  expect(await machine.run(['read', 'c1', '-p', 'mine'], { env })).toMatchObject({ status: 0 });
  expect(existsSync(marker)).toBe(true);
  expect(server.requests[0]?.headers['x-trace']).toBe('traced');
  expect(JSON.stringify(server.requests)).not.toContain(stolen);
});
