import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type Instead, phpWithProfiles, secret, signing } from './php-platform.js';

const { machine, php, probe, close } = await phpWithProfiles();

beforeEach(() => php.reset());
afterAll(close);

const user = ['--union-id', 'u1', '--yes', '--json'];
const command = 'userinfo passback userinfo_probe:=null --union-id ID -p php';
const isPassback = ({ user_info }: Readonly<Record<string, string>>) => user_info !== undefined;
const passbacks = () => php.requests.filter(({ parameters }) => isPassback(parameters));

/** The codes of the saved table with these meanings. */
function codesOf(
  platform: { result_codes: Record<string, { means: string | string[] }> },
  ...means: string[]
) {
  const entries = Object.entries(platform.result_codes);
  const isAbout = ({ means: names }: { means: string | string[] }) =>
    [names].flat().some((name) => means.includes(name));
  return entries.flatMap(([code, entry]) => (isAbout(entry) ? [code] : []));
}

const ofPassbacks = ['userNotNamed', 'primaryKeyNotInUserInfo', 'userInfoNotFlat', 'reservedKey'];

it('concludes nothing from passbacks where a right one is refused', async () => {
  const refused: Instead = [200, '{"code":2005,"msg":"no such user","data":[]}'];
  php.instead = (parameters) => (isPassback(parameters) ? refused : undefined);
  const done = await probe('-p', 'php', ...user);
  const { platform, doubts, points } = JSON.parse(done.stdout);
  expect(codesOf(platform, ...ofPassbacks)).toEqual([]);
  expect(doubts).toEqual([expect.stringContaining('the passback was refused (2005)')]);
  expect(points).toContainEqual({
    field: 'values',
    found: false,
    detail: 'the passback was refused',
  });
  expect(passbacks().every(({ parameters }) => parameters.union_id === 'u1')).toBe(true);
});

it('concludes nothing from passbacks where a right one is refused after them', async () => {
  const refused: Instead = [200, '{"code":2009,"msg":"too many changes of this user","data":[]}'];
  php.instead = (parameters) =>
    isPassback(parameters) && passbacks().length > 1 ? refused : undefined;
  const done = await probe('-p', 'php', ...user);
  const { platform, refusals, doubts } = JSON.parse(done.stdout);
  expect(codesOf(platform, ...ofPassbacks)).toEqual([]);
  const ofLimit = refusals.filter(({ code }: { code: number }) => code === 2009);
  expect(ofLimit).toHaveLength(ofPassbacks.length);
  expect(doubts).toEqual([expect.stringContaining(`its removal failed. Remove it: ${command}`)]);
});

it.each<[string, Instead]>([
  ['with a code of its own', [200, '{"code":5,"msg":"blocked","data":[]}']],
  ['with HTML', [503, '<p>busy</p>']],
  ['with HTTP 429', [429, '{"code":5,"msg":"blocked","data":[]}']],
])('removes its key, though the platform answers all other requests %s', async (_, blocked) => {
  php.codes.set('fresh-code', 20);
  php.instead = ({ user_info = '' }) =>
    !user_info.includes('null') && 'userinfo_probe' in php.user ? blocked : undefined;
  const done = await probe('-p', 'php', '--code', 'fresh-code', ...user);
  expect(done.stderr).toContain('stopped: ');
  expect([passbacks().length > 1, php.user]).toEqual([true, {}]);
});

it('removes its key with requests that are reserved for it, where the others are used up', async () => {
  // Two of three answers are a gateway's.
  php.instead = () => (php.requests.length % 3 === 1 ? undefined : [503, '<p>busy</p>']);
  const bare = await probe('-p', 'php', '--json');
  expect(bare.stderr).toContain('the announced number of requests is used up');
  php.reset();
  // The same from about the first passback on.
  php.instead = ({ user_info = '' }) =>
    php.requests.length > 40 && php.requests.length % 3 !== 1 && !user_info.includes('null')
      ? [503, '<p>busy</p>']
      : undefined;
  const done = await probe('-p', 'php', ...user);
  const [, announced] = /at most (\d+) requests/.exec(done.stderr) ?? [];
  expect(done.stderr).toContain('the announced number of requests is used up');
  expect(php.requests.length).toBeLessThanOrEqual(Number(announced));
  expect(php.user).toEqual({});
});

it.each<[string, Instead, string]>([
  ['blocked', [200, '{"code":5,"msg":"blocked","data":[]}'], `Remove it: ${command}`],
  ['refused', [200, '{"code":1012,"msg":"empty","data":[]}'], 'refused null for it (1012)'],
])(
  'names the key that is left with the user, and what removes it: its removal is %s',
  async (_, answer, said) => {
    const isAll = answer[1].includes('blocked');
    php.instead = ({ user_info = '' }) =>
      user_info.includes('null') || (isAll && 'userinfo_probe' in php.user) ? answer : undefined;
    const done = await probe('-p', 'php', ...user);
    expect(php.user).toEqual({ userinfo_probe: 1.5 });
    const about = JSON.parse(done.stdout).doubts.filter((doubt: string) =>
      doubt.startsWith('userinfo_probe is'),
    );
    expect(about).toEqual([expect.stringContaining(said)]);
  },
);

it('says whether a key is still read that was removed', async () => {
  php.codes.set('fresh-code-1', 2);
  php.codes.set('fresh-code-2', 2);
  // It takes null, and keeps the key.
  php.instead = ({ user_info = '' }) =>
    user_info.includes('null')
      ? [200, '{"code":200,"msg":"ok","data":{"union_id":"u1"}}']
      : undefined;
  const codes = ['--code', 'fresh-code-1', '--code', 'fresh-code-2'];
  const done = await probe('-p', 'php', ...codes, ...user);
  expect(done.stderr).toContain('the platform accepted null for it, and keeps it');
  const unread = await probe('-p', 'php', ...user);
  expect(unread.stderr).toContain('but no read shows that it is gone');
});

it.each([
  ['stores', true, ["union_id may be left in the user's record"]],
  ['drops', false, []],
])(
  'says that a reserved key may be left where the platform %s it',
  async (_, storesReserved, said) => {
    php.storesReserved = storesReserved;
    php.codes.set('fresh-code', 20);
    const done = await probe('-p', 'php', '--code', 'fresh-code', ...user);
    const { doubts, breaks } = JSON.parse(done.stdout);
    expect(doubts).toEqual(said.map((text) => expect.stringContaining(text)));
    expect(breaks).toContainEqual(
      expect.objectContaining({ what: 'a reserved key in user_info is accepted' }),
    );
    expect(php.user).toEqual(storesReserved ? { union_id: 'u1' } : {});
  },
);

it('removes its key, or names it, where the connection is lost', async () => {
  php.instead = ({ user_info = '' }) =>
    'userinfo_probe' in php.user && !user_info.includes('null') ? 'reset' : undefined;
  const done = await probe('-p', 'php', ...user);
  expect(done).toMatchObject({ status: 5, stdout: '' });
  expect(php.user).toEqual({});
  php.instead = () => ('userinfo_probe' in php.user ? 'reset' : undefined);
  const lost = await probe('-p', 'php', ...user);
  expect(lost.status).toBe(5);
  expect(lost.stderr).toContain(`Remove it: ${command}`);
});

it('names its key at Ctrl-C', async () => {
  const env = { SECRET: secret };
  const child = machine.start(['probe', '--pause', '20ms', '-p', 'php', ...user], { env });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  php.instead = () => {
    if ('userinfo_probe' in php.user) child.kill('SIGINT');
    return undefined;
  };
  expect(await once(child, 'close')).toEqual([130, null]);
  expect(stderr).toContain('nothing was saved');
  expect(stderr).toContain("userinfo_probe is, or may still be, in the user's record");
  expect(stderr).toContain(`Remove it: ${command}`);
});

it('reads three times with a code for one read', async () => {
  php.codes.set('fresh-code', 1);
  const done = await probe('-p', 'php', '--code', 'fresh-code', '--yes', '--json');
  const reads = php.requests.filter(({ parameters }) => parameters.code === 'fresh-code');
  expect(reads).toHaveLength(3);
  expect(JSON.parse(done.stdout).platform.code_uses).toBeUndefined();
});

it('saves the text of a code only if all refusals with it have that text', async () => {
  const nested: Instead = [200, '{"code":1003,"msg":"auth failed","data":[]}'];
  php.instead = ({ user_info = '' }) => (user_info.includes('{"a"') ? nested : undefined);
  const done = await probe('-p', 'php', ...user);
  const { result_codes } = JSON.parse(done.stdout).platform;
  expect(result_codes['1003']).toEqual({ means: ['userInfoNotFlat', 'wrongSign', 'wrongAppSign'] });
});

it('says that something was not asked, not that it needs what it was given', async () => {
  const blocked: Instead = [200, '{"code":5,"msg":"blocked","data":[]}'];
  php.codes.set('fresh-code', 20);
  php.instead = () => (php.requests.length > 12 ? blocked : undefined);
  const done = await probe('-p', 'php', '--code', 'fresh-code', ...user);
  type Point = { field: string; found: boolean; detail: string };
  const details = JSON.parse(done.stdout)
    .points.map(({ detail }: Point) => detail)
    .join('\n');
  expect(details).toContain('not asked');
  expect(details).not.toMatch(/needs|get_user_info/);
});

it('believes the refusal of a made-up code that has the form of one that was issued', async () => {
  const issued = 'QWERTYUIOPASDFGHJKLZXCVB';
  php.codes.set(issued, 1);
  const malformed: Instead = [200, '{"code":1013,"msg":"malformed code","data":[]}'];
  php.instead = ({ code }) =>
    code === undefined || /^[A-Z]{24}$/.test(code) ? undefined : malformed;
  const done = await probe('-p', 'php', '--code', issued, '--yes', '--json');
  const { result_codes } = JSON.parse(done.stdout).platform;
  expect([result_codes['1006'].means, result_codes['1013']]).toEqual(['codeNotValid', undefined]);
});

it('says that the rule of sign misses parameters, and nothing of scopes', async () => {
  // The names of a read that was captured.
  const include = ['app_key', 'app_sign', 'channel', 'code', 'random', 'tenant_code', 'timestamp'];
  const sign = { ...signing.sign, params: { ...signing.sign.params, include } };
  const platform = { signing: { ...signing, sign } };
  writeFileSync(join(machine.folder, 'names.json'), JSON.stringify(platform));
  php.codes.set('fresh-code', 20);
  const done = await probe(
    '-p',
    'php',
    '--platform',
    'names.json',
    '--code',
    'fresh-code',
    ...user,
  );
  const { doubts, points } = JSON.parse(done.stdout);
  expect(doubts).toEqual([
    expect.stringContaining(
      'scope and info_name are answered like a wrong sign: the rule of sign misses',
    ),
    expect.stringContaining(
      'It is answered like a wrong sign: the rule of sign may not fit a passback',
    ),
  ]);
  const open = points.filter(({ found }: { found: boolean }) => !found);
  const fields = open.map(({ field }: { field: string }) => field);
  expect(fields).toEqual(expect.arrayContaining(['scopes', 'unknown_parameters', 'code_uses']));
  expect(JSON.stringify(points)).not.toContain('refused: ask');
});
