import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { parsePlatform } from '../../../../src/core/platform/platform.js';
import {
  type Instead,
  keys,
  md5,
  phpWithProfiles,
  secret,
  signed,
  signing,
} from '../../../lab/behavior/php-platform.js';
import { deploymentVariables } from '../../../support/cli.js';

/** What the operator of that platform would write down. */
const operatorsFile = {
  signing,
  result_codes: {
    '1001': {
      means: ['missingParameter', 'malformedParameter', 'userNotNamed', 'primaryKeyNotInUserInfo'],
      msg: 'param error',
    },
    '1003': { means: ['wrongSign', 'wrongAppSign'], msg: 'sign error' },
    '1005': { means: 'timestampOutsideWindow', msg: 'time error' },
    '1006': { means: 'codeNotValid', msg: 'code error' },
    '1008': 'userInfoNotFlat',
    '9404': { means: 'noSuchPath', msg: 'no route' },
    '9405': { means: 'wrongMethod', msg: 'bad method' },
    '-2': { means: ['unknownAppKey', 'appNotAllowed'], msg: 'app error' },
  },
  http_status: 200,
  absent: 'null',
  empty_object: 'list',
  refusal_data: 'list',
  values: 'as-written',
  unknown_parameters: 'ignore',
  scopes: 'any',
  clock_window_seconds: 120,
  replay: 'allow',
  code_uses: 2,
  chat_prefix: 'wx_',
};

const { machine, php, probe, run, close } = await phpWithProfiles();
const env = { SECRET: secret };

beforeEach(() => php.reset());
afterAll(close);

it('learns by refused reads alone, and says what it cannot know', async () => {
  const done = await probe('-p', 'php', '--json');
  expect(done.status).toBe(0);
  const { platform, points, refusals, breaks } = JSON.parse(done.stdout);
  expect(platform).toEqual({
    signing: expect.anything(),
    result_codes: {
      ...operatorsFile.result_codes,
      '1001': { means: ['missingParameter', 'malformedParameter'], msg: 'param error' },
      '1006': undefined,
      '1008': undefined,
    },
    http_status: 200,
    refusal_data: 'list',
    clock_window_seconds: 120,
  });
  const refused = refusals.map(({ request }: { request: string }) => request);
  expect(refused).toContain('a wrong sign');
  for (const taken of ['an unknown parameter', 'another scope', 'a random twice']) {
    expect(refused).not.toContain(taken);
  }
  // Something else may be refused in all requests.
  const control = refusals.find(({ code }: { code: number }) => code === 1006);
  expect(control).toMatchObject({
    means: 'codeNotValid',
    unclear: expect.stringContaining('needs --code'),
  });
  type Point = { field: string; found: boolean; detail: string };
  const open = points.flatMap(({ field, found, detail }: Point) =>
    found ? [] : [[field, detail]],
  );
  expect(Object.fromEntries(open)).toEqual({
    absent: 'needs --code',
    empty_object: 'needs --code',
    values: 'needs --union-id',
    unknown_parameters: 'not refused before the code is looked up: needs --code',
    scopes: 'not refused before the code is looked up: needs --code',
    replay: 'not refused before the code is looked up: needs --union-id',
    code_uses: 'needs --code',
    code_ttl_seconds: 'finding out would mean waiting for a code to expire',
    unknown_user: 'asking could create a user',
    passback_union_id: 'needs --union-id',
    chat_prefix: 'needs --code',
  });
  const ofRefusals = { section: '§1', answers: expect.any(Number) };
  expect(breaks).toEqual([
    { ...ofRefusals, what: '"data" of a refusal is an array, not an object' },
    { ...ofRefusals, what: '"msg" of a refusal is missing, not text', answers: 4 },
    { ...ofRefusals, what: '"data" of a refusal is missing, not an object', answers: 4 },
  ]);
  expect(JSON.parse(done.stdout).verdict).toBe(
    '12 of 12 refusals differ from those of "userinfo serve"; 6 of 17 open points are settled',
  );
  expect(JSON.parse(done.stdout).unseen).toContain('noSuchUser');
  // No passback, and no code that was issued.
  expect(php.requests.filter(({ path }) => path.includes('passback'))).toEqual([]);
  const [, most] = /, at most (\d+) requests, one every 1 ms:/.exec(done.stderr) ?? [];
  expect(php.requests.length).toBeLessThanOrEqual(Number(most));
});

it('describes the platform rightly with a test user, in a file and in the profile', async () => {
  php.codes.set('fresh-code-1', 2);
  php.codes.set('fresh-code-2', 2);
  php.user = {};
  const user = ['--code', 'fresh-code-1', '--code', 'fresh-code-2', '--union-id', 'u1'];
  const asked = await probe('-p', 'php', ...user);
  expect(asked).toMatchObject({ status: 2, stdout: '' });
  expect(asked.stderr).toContain('two passbacks of userinfo_probe=1.50 to the user of --union-id');
  expect(php.requests).toHaveLength(0);

  const files = ['--save', 'learned.json', '--save-profile'];
  const args = [
    'probe',
    '--pause',
    '1ms',
    '-p',
    'php',
    '--code',
    '-',
    '--union-id',
    'u1',
    '--yes',
    ...files,
  ];
  const done = await machine.run(args, { env, stdin: 'fresh-code-1\r\n\nfresh-code-2 \n' });
  expect(done.status, done.stderr).toBe(0);
  expect(done.stderr).toContain('"userinfo serve --platform learned.json" answers in the same way');
  const learned = JSON.parse(readFileSync(join(machine.folder, 'learned.json'), 'utf8'));
  expect({ ...learned, signing }).toEqual(operatorsFile);
  const lines = done.stdout.split('\n');
  expect(lines[0]).toBe(
    '16 of 16 refusals differ from those of "userinfo serve"; 15 of 17 open points are settled',
  );
  expect(done.stdout).toMatch(/│ a wrong sign +│ 40103, HTTP 401 │ 1003 "sign error", HTTP 200/);
  expect(done.stdout).toMatch(/│ absent +│ "omit" +│ "null": null in a read by names/);
  expect(done.stdout).toMatch(/│ unknown_user +│ asking could create a user/);
  const broken = lines
    .filter((line) => line.startsWith('│ §'))
    .map((line) => line.split(/ *│ */).slice(1, 4));
  expect(broken).toEqual([
    ['§', 'answer', 'times'],
    ['§1', '"data" of a refusal is an array, not an object', expect.any(String)],
    ['§1', '"msg" of a refusal is missing, not text', '4'],
    ['§1', '"data" of a refusal is missing, not an object', '4'],
    ['§4.1', '"extension_info" is an array, not an object', '1'],
    ['§4.1', '"device_info" is text, not an array', '1'],
    ['§4.1', '"location_info" is an object, not an array', '1'],
    ['§4.1', '"userinfo_probe" is a number, not text', '1'],
    ['§4.2', 'a reserved key in user_info is accepted', '1'],
    ['§7.1', '"msg" of a success is not "ok"', expect.any(String)],
  ]);
  // What is equal is not shown.
  expect(done.stdout).not.toContain('passback_union_id');
  // The user is as before.
  expect(php.user).toEqual({});
  const shown = JSON.parse((await run('profile', 'export', 'php')).stdout);
  expect({ ...shown.platform, signing }).toEqual(operatorsFile);
  for (const hidden of [secret, 'fresh-code-1', 'fresh-code-2', '13800001111', 'Ming']) {
    expect(machine.printed).not.toContain(hidden);
  }
  // What reads of unknown codes do not show stays as it was.
  expect(await probe('-p', 'php', '--save-profile')).toMatchObject({ status: 0 });
  const kept = JSON.parse((await run('profile', 'export', 'php')).stdout).platform.result_codes;
  expect(kept).toMatchObject({ 1006: operatorsFile.result_codes[1006], 1008: 'userInfoNotFlat' });
  expect(await run('profile', 'set', 'php', '--platform', 'signing.json', '--yes')).toMatchObject({
    status: 0,
  });
  const again = await probe('-p', 'php', '--save', 'learned.json');
  expect(again).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('cannot be written: it exists'),
  });
});

it('keeps all codes of a meaning, puts what refuses a caller last, and knows the clock of the platform', async () => {
  php.ahead = 20_000;
  php.instead = ({ timestamp = '', app_key = '', channel }) => {
    if (channel === undefined) return [200, '<p>busy</p>'];
    if (timestamp.length === 9) return [200, '{"code":1011,"msg":"short","data":{}}'];
    return app_key === keys.app_key ? undefined : [200, '{"code":9405,"message":"bad method"}'];
  };
  const done = await probe('-p', 'php', '--json');
  const { platform, points, refusals } = JSON.parse(done.stdout);
  const { result_codes, clock_window_seconds } = platform;
  expect(points).toContainEqual(expect.objectContaining({ field: 'refusal_data', found: false }));
  const unread = refusals.filter(({ code }: { code: number | null }) => code === null);
  expect(unread).toMatchObject([{ unclear: 'no envelope' }]);
  expect(result_codes['1001'].means).toEqual(['missingParameter', 'malformedParameter']);
  expect(result_codes['1011']).toEqual({ means: 'malformedParameter', msg: 'short' });
  expect(result_codes['9405'].means).toEqual(['wrongMethod', 'unknownAppKey']);
  expect(clock_window_seconds).toBe(120);
});

type Parameters = Record<string, string>;
const isByPut = () => php.requests.at(-1)?.method === 'PUT';
const hasWrongSign = ({ sign, ...rest }: Parameters) => sign !== signed(rest).sign;
const hasWrongAppSign = ({ app_key, app_sign }: Parameters) => app_sign !== md5(app_key + secret);
it.each<[section: string, title: string, isFault: (parameters: Parameters) => boolean]>([
  ['§4.1', 'no code', ({ code }) => code === undefined],
  ['§4.1', 'no channel', ({ channel }) => channel === undefined],
  ['§4.1', 'PUT where a read is a GET', isByPut],
  ['§5', 'an unknown app_key', ({ app_key }) => app_key !== keys.app_key],
  ['§5', 'a wrong app_sign', hasWrongAppSign],
  ['§5', 'a wrong sign', (given) => hasWrongSign(given) && !hasWrongAppSign(given)],
  ['§8', 'a random of 7 characters', ({ random }) => random?.length === 7],
  ['§8', 'a timestamp of 9 digits', ({ timestamp }) => timestamp?.length === 9],
])(
  'finds the rule of %s that a platform breaks: %s is accepted',
  async (section, title, isFault) => {
    const done = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';
    php.instead = (parameters) => (isFault(parameters) ? [200, done] : undefined);
    const { breaks } = JSON.parse((await probe('-p', 'php', '--json')).stdout);
    const accepted = breaks.filter(({ what }: { what: string }) => what.endsWith('is accepted'));
    expect(accepted).toMatchObject([{ section, what: `${title} is accepted` }]);
  },
);

it('believes no code that answers unrelated faults', async () => {
  php.alike = '{"code":999,"msg":"error","data":[]}';
  const { platform, refusals } = JSON.parse((await probe('-p', 'php', '--json')).stdout);
  expect(Object.keys(platform.result_codes)).toEqual(['1003']);
  const alike = refusals.filter(({ code }: { code: number }) => code === 999);
  expect(alike.length).toBeGreaterThan(5);
  expect(alike.filter(({ unclear }: { unclear: string | null }) => unclear === null)).toEqual([]);
});

it('says what it will send to production, and sends nothing without an answer', async () => {
  const done = await probe('-p', 'live');
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).toContain('production: profile "live"');
  expect(done.stderr).toContain('Send this to production?');
  expect(php.requests).toHaveLength(0);
  const unsaved = await machine.run(['probe', '--save-profile'], {
    env: deploymentVariables(php.url),
  });
  expect(unsaved).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('no profile is in use'),
  });
  const stored = readFileSync(machine.profileFile, 'utf8');
  writeFileSync(machine.profileFile, stored.replace('{', '{"later":1,'));
  const unwritable = await probe('-p', 'php', '--save-profile');
  writeFileSync(machine.profileFile, stored);
  expect(unwritable).toMatchObject({ status: 3, stderr: expect.stringContaining('"later"') });
  expect(php.requests).toHaveLength(0);
});

it('says that the signatures may be wrong, and leaves open what depends on them', async () => {
  const done = await machine.run(
    ['probe', '--pause', '1ms', '-p', 'php', '--platform', '', '--json'],
    {
      env,
    },
  );
  expect(done.status).toBe(0);
  expect(done.stderr).toContain('a code that was never issued is answered like a wrong sign');
  const { platform, points } = JSON.parse(done.stdout);
  expect(Object.keys(platform.result_codes)).toEqual(['1001', '1005', '9404', '9405', '-2']);
  const found = points
    .filter((point: { found: boolean }) => point.found)
    .map(({ field }: { field: string }) => field);
  expect(found).toEqual([
    'result_codes',
    'http_status',
    'refusal_data',
    'clock_window_seconds',
    'clock_ahead_seconds',
  ]);
});

it('shows no secret that the platform shows, nor what was sent', async () => {
  const expected = md5(secret);
  php.instead = ({ code = '', sign = '', random = '', app_key = '' }) => [
    200,
    JSON.stringify({
      code: sign.startsWith('0') ? 7 : 8,
      msg: `${app_key}: ${expected}, ${code} ${random} not ${sign} of a=1&key=${secret}`,
    }),
  ];
  const before = machine.printed.length;
  const done = await probe('-p', 'php', '--save', 'echoed.json');
  expect(done.status).toBe(0);
  const printed =
    machine.printed.slice(before) + readFileSync(join(machine.folder, 'echoed.json'), 'utf8');
  const sent = php.requests.flatMap(({ parameters: { code, sign, app_sign } }) => [
    code,
    sign,
    app_sign,
  ]);
  for (const hidden of [secret, expected, keys.app_key, ...sent])
    if (hidden) expect(printed).not.toContain(hidden);
});

const refused: Instead = [429, '{"code":5,"msg":"blocked","data":[]}', { 'retry-after': '3600' }];

/**
 * Limits of platforms: what is answered instead of the request with this number, and what that is
 * to the probe.
 */
const limits: readonly (readonly [
  name: string,
  instead: (number: number) => Instead | undefined,
  code: string,
  entry: unknown,
  said: string,
])[] = [
  [
    'HTTP 429 once',
    (number) => (number === 3 ? [429, '{"code":1029,"msg":"busy","data":[]}'] : undefined),
    '1029',
    { means: 'tooManyRequests', http_status: 429 },
    'the platform throttles (1029)',
  ],
  [
    'a code of its own, for three requests in ten',
    (number) => (number % 10 > 6 ? [200, '{"code":1029,"msg":"busy","data":[]}'] : undefined),
    '1029',
    undefined,
    'some requests were answered by 1029 for a time, without HTTP 429 or Retry-After',
  ],
  [
    'the code of an unknown code, with a text of its own',
    (number) => (number % 10 > 6 ? [200, '{"code":1006,"msg":"slow down","data":[]}'] : undefined),
    '1006',
    undefined,
    'some requests were answered by 1006 for a time, without HTTP 429 or Retry-After',
  ],
  [
    'a block without end',
    (number) => (number > 12 ? [200, '{"code":5,"msg":"blocked","data":[]}'] : undefined),
    '5',
    undefined,
    'stopped: the platform throttles or blocks: it answers all with 5 now',
  ],
  [
    'a block for an hour',
    (number) => (number > 12 ? refused : undefined),
    '5',
    { means: 'tooManyRequests', http_status: 429 },
    'stopped: the platform throttles or blocks: it answers all with 5 now',
  ],
  [
    'no envelope, two times of three',
    (number) => (number % 3 === 1 ? undefined : [200, 'busy']),
    '5',
    undefined,
    'stopped: the announced number of requests is used up',
  ],
];

it.each(limits)(
  'waits for a limit, and takes it for nothing else: %s',
  async (_, instead, code, entry, said) => {
    let count = 0;
    php.instead = () => {
      count += 1;
      return instead(count);
    };
    const done = await probe('-p', 'php', '--json');
    expect(done.stderr).toContain(said);
    const { result_codes } = JSON.parse(done.stdout).platform;
    expect(result_codes[code]).toEqual(entry);
    const others = Object.keys(result_codes).filter((one) => one !== code);
    const expected: Record<string, unknown> = operatorsFile.result_codes;
    for (const one of others) {
      const { means: right } = expected[one] as { means: string };
      expect([right].flat()).toEqual(expect.arrayContaining([result_codes[one].means].flat()));
    }
  },
);

it('takes no ID in a text for a limit', async () => {
  // At first each has letters and digits; a number alone is masked.
  const ids = ['a1b2c3d4', '7f00ba11', '20261126', '1234567a'];
  php.behind = (number) => ` [rid: ${ids[number < 6 ? number % 2 : number % 4]}]`;
  const done = await probe('-p', 'php', '--json');
  const { doubts, verdict } = JSON.parse(done.stdout);
  expect(doubts).toEqual([]);
  expect(verdict).toBe(
    '12 of 12 refusals differ from those of "userinfo serve"; 6 of 17 open points are settled',
  );
});

it('does not replace a file that appears meanwhile', async () => {
  const file = join(machine.folder, 'meanwhile.json');
  php.behind = () => {
    writeFileSync(file, 'precious');
    return '';
  };
  expect(await probe('-p', 'php', '--save', 'meanwhile.json')).toMatchObject({ status: 2 });
  expect(readFileSync(file, 'utf8')).toBe('precious');
});

/** What a file cannot say: it is left out, and nothing is lost. */
it.each([
  ['a code of 17 digits', 200, '{"code":90071992547409691,"msg":"no","data":[]}'],
  ['an HTTP status of 799', 799, '{"code":77,"msg":"no","data":[]}'],
])('saves a file that can be read: %s', async (name, status, body) => {
  php.instead = ({ app_key = '' }) => (app_key === keys.app_key ? undefined : [status, body]);
  const file = `${name.replaceAll(' ', '-')}.json`;
  const done = await probe('-p', 'php', '--save', file);
  expect(done.status, done.stderr).toBe(0);
  const { result_codes } = parsePlatform(
    JSON.parse(readFileSync(join(machine.folder, file), 'utf8')),
    'it',
  );
  expect(Object.keys(result_codes ?? {})).toEqual(['1001', '1003', '1005', '9404', '9405', '-2']);
});

it.each<[string, Instead, number, string]>([
  ['that is not the platform', [502, '<title>Bad Gateway</title>'], 5, 'answered HTTP 502'],
  ['that asks to wait an hour', refused, 4, 'the service answered 5 "blocked"'],
])('ends with the error of a first answer %s', async (_, first, status, said) => {
  php.instead = () => first;
  const done = await probe('-p', 'php', '--save', 'never.json');
  expect(done).toMatchObject({ status, stdout: '' });
  expect(done.stderr).toContain(said);
  expect(php.requests).toHaveLength(1);
  expect(existsSync(join(machine.folder, 'never.json'))).toBe(false);
});

it('stops at Ctrl-C, and saves nothing', async () => {
  const child = machine.start(['probe', '--pause', '20s', '-p', 'php', '--save', 'never.json'], {
    env,
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    if (stderr.includes('each with one fault')) child.kill('SIGINT');
  });
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(stderr).toContain('0 requests were sent; nothing was saved\n');
  expect(existsSync(join(machine.folder, 'never.json'))).toBe(false);
});
