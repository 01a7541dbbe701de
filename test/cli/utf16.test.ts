import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { deploymentFlags, deploymentVariables, Machine } from '../support/cli.js';
import { httpServer } from '../support/raw-server.js';

const utf8 = (text: string) => Buffer.from(text);
const marked: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-16LE, as Windows PowerShell 5.1 writes it': (text) =>
    Buffer.from(`\ufeff${text}`, 'utf16le'),
  'UTF-16BE': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'UTF-8 with a byte-order mark': (text) => utf8(`\ufeff${text}`),
};

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
const env = { SECRET: 's3cret', NO_PROXY: '*' };
const path = (name: string) => join(machine.folder, name);

beforeAll(async () => {
  server = await httpServer((_, response) => {
    response.end(JSON.stringify({ code: 200, msg: 'ok', data: { union_id: 'u1' } }));
  });
  const profile = [...deploymentFlags(server.url), '--app-secret-env', 'SECRET'];
  await machine.run(['profile', 'add', 'local', ...profile]);
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const local = ['-p', 'local'];
const passback = [...local, 'passback', '--union-id', 'u1'];
const bulk = (file: string) => [...local, 'bulk', 'passback', file, '--restart'];
const explain = [...local, 'sign', 'explain'];
const url = 'https://api.example.com/x?b=2&a=%E6%9D%AD&sign=609F2C5367A1FC0D926B7EFE8711EE83';
const recipe =
  '{"params":{"empty":"drop"},"message":["$params","&key=","$secret"],"steps":["md5"]}';
const sha256 = '{"message":["$params","杭","$secret"],"steps":["sha256"]}';
const platform = `{"signing":{"app_sign":${sha256},"sign":${sha256}},"result_codes":{"77":"wrongSign"}}`;

/** Each place where a command reads text of a user: the file, its text, and the command. */
const uses: readonly (readonly [file: string, text: string, args: readonly string[]])[] = [
  ['value.txt', '杭州', [...passback, '城市=@value.txt']],
  ['user info on stdin', '{"城市":"杭州"}', [...passback, '--user-info', '-']],
  ['a code on stdin', 'c杭1\r\n', [...local, 'read', '-']],
  ['ca.pem', `杭\n${rootCertificates[0]}\n`, [...passback, 'a=1', '--ca-file', 'ca.pem']],
  ['platform.json', platform, ['explain', '77', '--platform', 'platform.json']],
  ['recipe.json', recipe, [...explain, '--recipe', 'recipe.json', url]],
  ['sample.txt', url, [...explain, '--sample', 'sample.txt']],
  ['a request on stdin', url, [...explain, '-']],
  ['rows.csv', 'union_id,城市\r\nu1,杭州\r\n', bulk('rows.csv')],
  ['rows.tsv', 'union_id\t城市\r\nu1\t杭州\r\n', bulk('rows.tsv')],
  ['rows.ndjson', '{"union_id":"u1","城市":"杭州"}\r\n', bulk('rows.ndjson')],
  [
    'users.ndjson',
    '\r\n{"tenant_code":"acme","union_id":"u杭","basic_info":{}}\r\n',
    ['admin', 'user', 'put', 'users.ndjson', '--database', 'users.db'],
  ],
];

/**
 * What a user sees of a command, and what the platform receives; but for times and random texts.
 */
async function outcomeOf(args: readonly string[], stdin: Uint8Array) {
  server.requests.length = 0;
  const { status, stdout, stderr } = await machine.run(args, { env, stdin });
  const varying = /(?:random|timestamp|app_sign|sign)=[^&]*&?/g;
  const received = server.requests.map((request) => [
    request.path,
    decodeURIComponent(request.query.replace(varying, '')),
    request.body,
  ]);
  return {
    status,
    stdout,
    stderr: stderr.replace(/in [\d.]+ s, [\d,]+ rows?\/s/, 'in …'),
    received,
  };
}

describe.each(Object.entries(marked))('text in %s', (encoding, encode) => {
  it.each(uses)('is read as in UTF-8: %s', async (file, text, args) => {
    const outcomes = [];
    for (const bytes of [utf8(text), encode(text)]) {
      writeFileSync(path(file), bytes);
      outcomes.push(await outcomeOf(args, bytes));
    }
    const [expected, actual] = outcomes;
    expect(expected).toMatchObject({ status: 0 });
    expect(actual).toEqual(expected);
  });

  it('is read as in UTF-8: profiles, which a change writes in UTF-8', async () => {
    const folder = { env: { ...env, USERINFO_CONFIG_DIR: path(`profiles of ${encoding}`) } };
    await machine.run(['profile', 'add', 'shop', ...deploymentFlags('https://杭.example')], folder);
    const exported = await machine.run(['profile', 'export', 'local'], { env });
    writeFileSync(path('profile.json'), encode(exported.stdout));
    const imported = ['profile', 'import', 'profile.json', '--app-secret-env', 'SECRET', '--yes'];
    expect(await machine.run(imported, folder)).toMatchObject({ status: 0 });
    const file = join(path(`profiles of ${encoding}`), 'profiles.json');
    writeFileSync(file, encode(readFileSync(file, 'utf8')));
    expect((await machine.run(['profile', 'list'], folder)).stdout).toContain('local');
    expect((await machine.run(['__complete', '-p', ''], folder)).stdout).toContain('local');
    const changed = await machine.run(['profile', 'set', 'local', '--channel', '杭'], folder);
    expect(changed).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8')).profiles.local).toMatchObject({ channel: '杭' });
  });

  it('is read as in UTF-8 by the SDK: a platform file', async () => {
    writeFileSync(path('platform.json'), encode(platform));
    const variables = {
      ...deploymentVariables(server.url),
      USERINFO_PLATFORM: path('platform.json'),
    };
    await using client = UserInfoClient.fromEnv({}, { ...variables, ...env });
    const { url } = client.signRead({ code: 'c1' });
    expect(url.searchParams.get('sign')).toHaveLength(64);
  });
});

it('text whose byte-order mark promises UTF-16 is refused where it is not', async () => {
  const cut = Buffer.from('\ufeff杭州', 'utf16le').subarray(0, -1);
  for (const [file, args, said] of [
    ['cut.txt', [...passback, 'a=@cut.txt'], 'the file "cut.txt" of key "a" is not UTF-16'],
    ['cut.csv', bulk('cut.csv'), 'the input is not text in utf-16le'],
    [
      'cut.ndjson',
      uses.at(-1)?.[2].with(3, 'cut.ndjson') ?? [],
      'the input is not text in utf-16le',
    ],
  ] as const) {
    writeFileSync(path(file), cut);
    const refused = await outcomeOf(args, cut);
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(said),
      received: [],
    });
  }
});
