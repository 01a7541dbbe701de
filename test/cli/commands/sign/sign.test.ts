import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../../../src/lab/export/export.js';
import { httpServer, type ReceivedRequest, writtenBy } from '../../../support/raw-server.js';
import { ServedMachine } from '../../../support/served.js';
import { vectors } from '../../../support/signing-corpus.js';

let machine: ServedMachine;
let capture: Awaited<ReturnType<typeof httpServer>>;
let secret: string;

const local = ['-p', 'local'];

beforeAll(async () => {
  machine = await ServedMachine.create();
  capture = await httpServer((request, response) => response.end(writtenBy(request)));
  ({
    secret: { value: secret },
  } = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.local);
});

afterAll(async () => {
  await capture.close();
  await machine[Symbol.asyncDispose]();
});

const file: ServedMachine['file'] = (name, content) => machine.file(name, content);

/** Runs a command with `--json`, and returns what it prints; it must end with `status`. */
async function json(args: readonly string[], stdin = '', status = 0) {
  const done = await machine.run([...args, '--json'], { stdin });
  expect({ status: done.status, stderr: status === 0 ? done.stderr : '' }).toEqual({
    status,
    stderr: '',
  });
  return JSON.parse(done.stdout);
}

/** The request that a command sends, as it was received. */
async function sent(args: readonly string[], env = {}): Promise<ReceivedRequest> {
  const before = capture.requests.length;
  await machine.run([...local, ...args, '--base-url', capture.url], { env });
  const request = capture.requests[before];
  if (request === undefined) throw new Error(`nothing was sent by ${args.join(' ')}`);
  return request;
}

/** As it would be logged: the service's address in place of the capture's. */
function asCurl({ method, path, query, body }: ReceivedRequest): string {
  const data = body === '' ? '' : ` \\\n  --data-raw '${body}'`;
  return `curl -X ${method} '${machine.url}${path}?${query}'${data}`;
}

/** A passback as curl -v prints it: without its form. */
const formless = (query: string) =>
  `PUT /api/v1/server/user/passback_user_info?app_sign=1${query} HTTP/1.1\nHost: e.com\n\n`;

/** A HAR file with one request and the status of its answer. */
const answered = (status: number) =>
  JSON.stringify({
    log: {
      entries: [{ request: { method: 'GET', url: 'https://e.com/?sign=1' }, response: { status } }],
    },
  });

describe('sign explain', () => {
  it.each([
    ['read', ['some-code', 'mobile,level', 'note']],
    ['passback', ['name=张三/李四', 'note=a b+c&d=e', 'empty:=""', '--union-id', 'u001']],
  ])('shows for a %s what is sent', async (command, args) => {
    const request = await sent([command, ...args]);
    const {
      timestamp = '',
      random = '',
      app_sign,
      sign,
    } = Object.fromEntries(new URLSearchParams(request.query));
    const ofSent = await json([...local, 'sign', 'explain', asCurl(request)]);
    expect([ofSent.app_sign.digest, ofSent.sign.digest]).toEqual([app_sign, sign]);
    const explained = await json([...local, 'sign', 'explain', command, ...args]);
    const asSent = explained.sign.message.replace(explained.app_sign.digest, app_sign);
    expect(asSent.replace('fixed-for-explain', random).replace('1700000000', timestamp)).toBe(
      ofSent.sign.message,
    );
    expect(explained.sign.message).toMatch(/&key=<secret>$/);
  });

  it.each(vectors.slice(0, 12))(
    'prints the stages of $name',
    async ({ recipe, request, ...vector }) => {
      const sample = { ...request, signature: vector.digest, secret: vector.secret };
      const args = ['--recipe', file('r.json', recipe), '--sample', file('s.json', sample)];
      const shown = await json(['sign', 'explain', ...args]);
      expect(shown.digest).toBe(vector.digest);
      expect(shown.message.replaceAll('<secret>', vector.secret)).toBe(vector.message);
      expect(shown.params.replaceAll('<secret>', vector.secret)).toBe(vector.params);
    },
  );

  it.each([
    [{ message: ['$params'], steps: ['md5'], parms: {} }, 'parms: unknown field'],
    [{ message: ['$parms'], steps: ['md5'] }, 'unknown token $parms'],
    ['{"message": [', 'invalid JSON at line 1, column 14'],
  ])('ends with status 2 for the recipe %j', async (recipe, problem) => {
    const sample = file('s.json', {
      url: 'https://e.com',
      params: {},
      secret: 'never-to-be-shown',
    });
    const done = await machine.run([
      ...'sign explain --recipe'.split(' '),
      file('r.json', recipe),
      '--sample',
      sample,
    ]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(problem);
  });

  it('marks invisible characters, and names missing parameters', async () => {
    const recipe = file('r.json', { message: ['$params', '$param:nonce'], steps: ['md5'] });
    const params = { a: ' x\u00a0', b: 'line\n\u200b' };
    const sample = file('s.json', { url: '', params, secret: 's' });
    const done = await machine.run(['sign', 'explain', '--recipe', recipe, '--sample', sample]);
    expect(done.stdout).toContain('a=␣x\\u00a0&b=line\\n\\u200b');
    expect(done.stderr).toContain('warning: the request has no value for $param:nonce');
  });
});

describe('sign verify', () => {
  const verify = (request: string, status = 0, ...args: string[]) =>
    json([...local, 'sign', 'verify', '-', ...args], request, status);

  it('checks a passback without its form where the rule signs the query alone', async () => {
    const recipe = file('query.json', {
      message: ['$params', '$secret'],
      params: { from: 'query' },
      steps: ['md5'],
    });
    const line = `PUT /api/v1/server/user/passback_user_info?app_key=k&sign=${'0'.repeat(32)}`;
    const args = ['sign', 'verify', '--recipe', recipe, `log: ${line} 200`];
    const { status, stderr } = await machine.run([...local, ...args]);
    expect([status, stderr]).toEqual([4, expect.stringContaining('sign is wrong')]);
  });

  it('accepts what the service accepts, in every input form', async () => {
    const { method, path, query, body, ...rest } = await sent([
      'passback',
      'a=x y',
      '--union-id',
      'u001',
    ]);
    const target = `${path}?${query}`;
    const http = `${method} ${target} HTTP/1.1\r\nHost: ${new URL(machine.url).host}\r\n\r\n${body}`;
    const curl = asCurl({ method, path, query, body, ...rest });
    const answer = await fetch(machine.url + target, {
      method,
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(await answer.json()).toMatchObject({ code: 200 });
    for (const text of [http, curl]) {
      expect(await verify(text)).toMatchObject({
        right: true,
        app_sign: { right: true },
        sign: { right: true },
      });
    }
    const asArgument = await machine.run([...local, 'sign', 'verify', curl]);
    expect(asArgument).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the default recipes'),
    });
    expect(asArgument.stderr).toContain(
      'the signatures match the default recipes. If the platform refused',
    );
    const asFile = await machine.run([
      ...local,
      ...'sign verify --sample'.split(' '),
      file('request.txt', http),
    ]);
    expect(asFile).toMatchObject({ status: 0, stdout: asArgument.stdout });
  });

  it('names what was changed in a request that the service refuses', async () => {
    const env = { USERINFO_APP_SECRET: `${secret}\n` };
    const request = await sent(['read', 'some-code'], env);
    const answer = await fetch(`${machine.url}${request.path}?${request.query}`);
    expect(await answer.json()).toMatchObject({ code: 40102 });

    const found = await verify(asCurl(request), 4);
    expect(found).toMatchObject({
      right: false,
      app_sign: { right: false, mistakes: [{ id: 'secret-space' }] },
      sign: { right: false, mistakes: [{ id: 'secret-space' }] },
    });
    const shown = await machine.run([...local, 'sign', 'verify', asCurl(request)]);
    expect(shown.stdout).toContain('It was signed with a line break after the secret.');
    expect(shown.stderr).toContain('error: app_sign is wrong: It was signed with a line break');
  });

  it('knows the secrets, app keys and recipes of the other profiles', async () => {
    const add = [
      '--base-url',
      capture.url,
      ...'--tenant-code acme --channel web --app-key k2'.split(' '),
    ];
    const preset = ['--signing-preset', 'sign=taobao'];
    await machine.run(['profile', 'add', 'other', ...add, ...preset, '--app-secret-stdin'], {
      stdin: 'the-secret-of-the-other',
    });
    const before = capture.requests.length;
    await machine.run(['-p', 'other', 'read', 'some-code']);
    const request = capture.requests[before];
    if (request === undefined) throw new Error('nothing was sent');
    const found = await verify(asCurl(request), 4);
    expect(found.app_sign.mistakes).toMatchObject([
      { says: 'It was signed with the secret of profile "other".' },
    ]);
    expect(found.sign.mistakes).toMatchObject([
      { id: 'other-secret' },
      { says: 'It was signed by the sign recipe of profile "other".' },
    ]);
    const { stdout: help } = await machine.run(['profile', 'set', '--help']);
    const advised = found.sign.mistakes[1].advice.match(/--[\w-]+/g);
    expect(advised.filter((flag: string) => !help.includes(`  ${flag} `))).toEqual([]);
  });

  it('says that the secret may be another one where both signatures are wrong without a cause', async () => {
    const env = { USERINFO_APP_SECRET: 'mistyped' };
    const request = asCurl(await sent(['read', 'some-code'], env));
    const done = await machine.run(['sign', 'verify', '-p', 'local', request]);
    expect(done.status).toBe(4);
    expect(done.stderr).toContain('another secret is a likely cause');
    expect(done.stderr).toContain('userinfo sign solve - -p local');
  });

  it('compares the text to sign of the operator with ours', async () => {
    const request = asCurl(await sent(['read', 'some-code']));
    const { message } = (await verify(request)).sign;
    expect(await verify(request, 0, '--theirs', message.replace('<secret>', secret))).toMatchObject(
      { theirs: { signature: 'sign', same: true } },
    );
    const theirs = file('theirs.txt', `${message.replace('channel=web&', '')}\n`);
    expect(await verify(request, 4, '--theirs', `@${theirs}`)).toMatchObject({
      right: false,
      sign: { right: true },
      theirs: {
        signature: 'sign',
        same: false,
        causes: ['It was signed without the parameter channel.'],
      },
    });
  });

  it('leads to secret, digest and charset where the texts to sign agree', async () => {
    const request = asCurl(await sent(['read', 'some-code', '--scope', '张三']));
    const { message } = (await verify(request)).sign;
    const stdin = request.replace(/([?&]sign=)\w+/, `$1${'0'.repeat(32)}`);
    const agreed = await machine.run([...local, 'sign', 'verify', '-', '--theirs', message], {
      stdin,
    });
    const hint = agreed.stderr.replaceAll(/\s+/g, ' ');
    expect(hint).toContain('The texts to sign agree: so the secret differs, or the digest.');
    expect(hint).toContain('Or the charset differs: send it once with ASCII values alone.');
    expect(hint).not.toContain('--theirs');
  });

  it('warns about what the service refuses regardless of the signature', async () => {
    const curl = asCurl(await sent(['read', 'some-code']));
    const inMilliseconds = curl.replace(/timestamp=(\d+)/, 'timestamp=$1000');
    const done = await machine.run([...local, 'sign', 'verify', inMilliseconds]);
    expect(done.status).toBe(4);
    expect(done.stderr).toContain(
      'warning: the service refuses this request whatever its signature: timestamp',
    );
    expect(done.stdout).toContain(
      'It was signed with timestamp in seconds, and sent in milliseconds.',
    );
  });

  it.each([
    [['sign', 'verify'], 2, 'no request is given'],
    [
      ['sign', 'verify', 'https://e.com?a=1', '--sample', 'f'],
      2,
      'a request and --sample are both given',
    ],
    [['sign', 'verify', 'https://e.com?a=1'], 2, 'the request has no app_sign and no sign'],
    [['sign', 'verify', '--sample', 'no-such-file'], 2, '"no-such-file" cannot be read'],
    [['sign', 'verify', 'x'], 2, 'this does not look like a request'],
    [['sign', 'verify', 'https://e.com?a=1&sign=0123abcd…'], 2, '--print-curl --reveal'],
    [
      ['sign', 'solve', 'https://e.com?a=1&sign=012****9abc'],
      2,
      'the signature is masked: "012****9abc"',
    ],
    [['sign', 'verify', 'https://e.com?app_sign=1'], 4, 'the request has no sign'],
    [
      ['sign', 'verify', formless(`&sign=${'1'.repeat(32)}`)],
      4,
      'sign cannot be checked: the text lacks the form of the passback',
    ],
    [['sign', 'verify', formless('&sign=1')], 4, 'A log and curl -v seldom have it.'],
    [['sign', 'solve', formless('')], 2, 'A log and curl -v seldom have it.'],
    [['sign', 'solve', answered(401)], 2, 'was refused by the platform (status 401'],
    [['sign', 'verify', answered(401)], 4, 'the request has no app_sign'],
    [['sign', 'verify', 'https://e.com?sign=1', '-p', 'nobody'], 3, 'there is no profile "nobody"'],
    [['sign', 'presets', 'taobo'], 2, 'Did you mean "taobao"?'],
    [['sign', 'explain', 'read', 'c', '--recipe', 'taobao'], 2, '--recipe has one recipe'],
  ])('%j ends with status %d', async (args, status, problem) => {
    const done = await machine.run(
      args[1] === 'presets' || args.includes('-p') ? args : [...local, ...args],
    );
    expect(done.status).toBe(status);
    expect(done.stderr).toContain(problem);
    expect(done.stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
  });
});

it.each(['verify', 'explain', 'solve'])(
  'sign %s of the path of a file names the command that reads it',
  async (name) => {
    file('captured.txt', 'https://e.com?a=1&sign=1');
    const done = await machine.run(['sign', name, 'captured.txt', ...local]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toBe(
      'error: "captured.txt" is a file, not a request\nTo take the request from it:\n' +
        `  userinfo sign ${name} --sample captured.txt ${local.join(' ')}\n`,
    );
  },
);

describe('sign export', () => {
  const run = (...args: string[]) => machine.run(['sign', 'export', ...args]);

  it('prints the rule and its test, which Python runs; the secret of the profile is in neither', async () => {
    for (const [name, ...args] of [['signature.py'], ['test_signature.py', '--test']]) {
      const done = await run(...local, '--lang', 'python', ...args);
      expect(done).toMatchObject({ status: 0, stderr: '' });
      expect(done.stdout).not.toContain(secret);
      file(name ?? '', done.stdout);
    }
    const tested = await machine.shell('python3 -m unittest test_signature');
    expect(tested).toMatchObject({ status: 0 });
    expect(tested.stderr).toMatch(/Ran 1 test in .*OK/s);
    // The service accepts what the exported rule signs.
    const code = await machine.issueCode();
    const caller = [
      'import os, sys, urllib.request',
      'import signature',
      'url, app_key, code = sys.argv[1:]',
      'app = {"tenant_code": "acme", "app_key": app_key, "channel": "web"}',
      'def send(operation, query, fields):',
      '    sent = signature.signed_request(operation, url, {**app, **query}, fields, os.environ["SECRET"])',
      '    method, address, body = sent',
      '    data = body and body.encode()',
      '    request = urllib.request.Request(address, data, method=method)',
      '    print(urllib.request.urlopen(request).read().decode())',
      'send("read", {"code": code, "info_name": "mobile"}, {})',
      'send("passback", {}, {"union_id": "u001", "user_info": \'{"acme_note":"张三/ a+b"}\'})',
    ];
    file('caller.py', caller.join('\n'));
    const { app_key } = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.local;
    const env = { SECRET: secret };
    const called = await machine.shell(`python3 caller.py ${machine.url} ${app_key} ${code}`, {
      env,
    });
    expect(called.stderr).toBe('');
    const codes = called.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).code);
    expect(codes).toEqual([200, 200]);
  });

  it('takes a preset, a file, and what "sign solve" found', async () => {
    const preset = await run('--lang', 'go', '--recipe', 'taobao');
    expect(preset.stdout).toMatch(
      /^\/\/ The signing rule of the preset taobao, .*\npackage signature\n/s,
    );
    const recipe = { message: ['$params'], steps: ['md5'] };
    const named = await run('--lang', 'java', '--recipe', file('rule.json', recipe));
    expect(named.stdout).toContain('// The signing rule of the file "rule.json"');
    const signing = { app_sign: recipe, sign: recipe };
    const report = { signing, groups: { app_sign: [{}, {}, {}], sign: [{}, {}] } };
    const piped = ['sign', 'export', '--lang', 'php', '--recipe', '-'];
    const found = await machine.run(piped, { stdin: JSON.stringify(report) });
    expect(found.stdout).toContain('// 3 rules fit the samples');
    expect(found.stdout).toMatch(/function app_sign\(.*function sign\(/s);
    const nothing = await machine.run(piped, { stdin: '{"signing": {}, "groups": {"sign": []}}' });
    expect(nothing).toMatchObject({ status: 2, stdout: '' });
    expect(nothing.stderr).toContain('the search found no rule for sign');
  });

  it('refuses what it cannot export, and other languages, with status 2', async () => {
    const half = file('half.json', '{"message": ["\\ud800"], "steps": ["md5"]}');
    const done = await run('--lang', 'php', '--recipe', half);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain('recipe: has a text with half of a character');
    const cobol = await run('--lang', 'cobol');
    expect(cobol).toMatchObject({ status: 2, stdout: '' });
    expect(cobol.stderr).toContain(`Allowed choices are ${Object.keys(languages).join(', ')}.`);
    expect((await run()).stderr).toContain('--lang is missing');
  });

  it('says on a terminal how to save and run both files', async () => {
    const done = await machine.run(['sign', 'export', '--lang', 'javascript'], { shows: true });
    expect(done.stdout.replace(/\s+/g, ' ')).toContain(
      'Save it as signature.mjs, and the test (--test) as signature.test.mjs beside it. ' +
        'Run the test: node --test signature.test.mjs',
    );
  });
});

describe('sign presets', () => {
  it('lists them, and prints one that can be used directly', async () => {
    const list = await json(['sign', 'presets']);
    const printed = await machine.run(['sign', 'presets', 'aliyun-rpc']);
    expect(JSON.parse(printed.stdout)).toEqual(
      list.find(({ name }: { name: string }) => name === 'aliyun-rpc').recipe,
    );
    const args = ['--recipe', file('r.json', printed.stdout), '--sample', '-'];
    const sample = '{"url":"https://e.com","params":{"a":"1"},"secret":"s"}';
    expect(await json(['sign', 'explain', ...args], sample)).toMatchObject({
      message: 'GET&%2F&a%3D1',
    });
  });
});

describe('a profile', () => {
  const set = (...args: string[]) => machine.run(['profile', 'set', 'local', ...args]);

  it('can sign by a module, and the service accepts equal signatures', async () => {
    const path = file(
      'signer.mjs',
      `import { createHash } from 'node:crypto';
const digest = (text) => createHash('md5').update(text).digest('hex');
const write = (params) => params.map((param) => param.join('=')).join('&');
const byName = (a, b) => (a[0] < b[0] ? -1 : 1);
export function app_sign({ params }, secret) {
  const some = params.filter(([name]) => ['app_key', 'random', 'timestamp'].includes(name)).sort(byName);
  return { digest: digest(write(some) + '&key=' + secret.reveal()) };
}
export function sign({ params }, secret) {
  const message = write(params.filter(([, value]) => value !== '').sort(byName)) + '&key=' + secret.reveal();
  return { message, digest: digest(message) };
}
`,
    );
    expect(await set('--signing-module', path)).toMatchObject({ status: 0 });
    const read = await machine.run([...local, 'read', await machine.issueCode(), 'mobile']);
    expect(read).toMatchObject({ status: 0, stderr: '' });
    const shown = await json([...local, 'sign', 'explain', 'read', 'c']);
    expect(shown.sign.message).toMatch(/&key=<secret>$/);
    const exported = await machine.run([...local, 'sign', 'export', '--lang', 'python']);
    expect(exported).toMatchObject({ status: 2, stdout: '' });
    expect(exported.stderr).toContain('app_sign: is signed by a module');
    expect((await machine.run(['profile', 'show', 'local'])).stdout).toContain(
      `the module ${path}`,
    );
    const { stdout, stderr } = await machine.run(['profile', 'export', 'local']);
    expect(stdout).not.toContain(path);
    expect(stderr).toContain('signing_module');
    const slow = `let first = true;
export function sign() {
  if (first) process.kill(process.pid, 'SIGINT');
  first = false;
  for (const end = performance.now() + 5; performance.now() < end; );
  return { digest: 'a' };
}
`;
    await set('--signing-module', file('slow.mjs', slow));
    const search = machine.start([...local, 'sign', 'verify', 'http://e.com/?a=1&sign=b']);
    expect(await once(search, 'close')).toEqual([130, null]);
    await set('--signing-module', '');
    expect((await machine.run(['profile', 'show', 'local'])).stdout).toContain(
      'the default recipes',
    );
  });

  it('can sign by recipes of a file or by presets, and can be reset', async () => {
    const recipes = {
      app_sign: { message: ['$secret'], steps: ['sha1'] },
      sign: { message: ['$params'], steps: ['md5'] },
    };
    expect((await set('--platform', file('platform.json', { signing: recipes }))).status).toBe(0);
    expect((await json([...local, 'sign', 'explain', 'read', 'c'])).app_sign).toMatchObject({
      message: '<secret>',
    });
    expect(await set('--signing-preset', 'taobao')).toMatchObject({ status: 0 });
    const { value } = (await json(['profile', 'show', 'local'])).signing;
    expect(value).toBe('app_sign by a custom recipe, sign by the preset taobao');
    expect(await set('--signing-preset', 'default')).toMatchObject({ status: 0 });
    expect((await json(['profile', 'show', 'local'])).signing.value).toBe('the default recipes');
  });

  it('refuses a module that is not there, and a recipe that is invalid', async () => {
    expect(await set('--signing-module', 'none.mjs')).toMatchObject({
      status: 2,
      stderr: 'error: --signing-module: "none.mjs" is not a file\n',
    });
    const signing = { sign: { message: ['$parms'], steps: ['md5'] } };
    const done = await set('--platform', file('platform.json', { signing }));
    expect(done.status).toBe(2);
    expect(done.stderr).toContain('signing: sign.message[0]: unknown token $parms');
  });
});

it('never shows the secret', () => {
  expect(machine.printed).not.toContain(secret);
  expect(machine.printed).not.toContain('the-secret-of-the-other');
  expect(machine.printed).not.toContain('never-to-be-shown');
});
