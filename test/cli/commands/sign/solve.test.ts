import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentFlags } from '../../../support/cli.js';
import { httpServer, writtenBy } from '../../../support/raw-server.js';
import { ServedMachine } from '../../../support/served.js';
import { vectors } from '../../../support/signing-corpus.js';

/** No test is to fail on a time: a machine that others use as well may take long. */
const patient = { timeout: 300_000 };
const unhurried = ['--max-time', '10m'];
/** Has what the first share of a search finds, however slow the machine is. */
const first = ['--max-time', '1ms'];

const unusual = {
  app_sign: {
    message: ['$param:app_key', '$param:timestamp'],
    steps: ['md5', 'append:$secret', 'md5'],
  },
  sign: {
    params: { exclude: ['channel'], empty: 'drop' },
    message: ['$params', '&key=', '$secret'],
    steps: ['md5'],
    output: 'HEX',
  },
};

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});

afterAll(() => machine[Symbol.asyncDispose]());

const file: ServedMachine['file'] = (name, content) => machine.file(name, content);

function sampleOf(name: string): string {
  const vector = vectors.find((known) => known.name === name);
  if (vector === undefined) throw new Error(`no vector ${name}`);
  return file(`${name}.json`, {
    ...vector.request,
    signature: vector.digest,
    secret: vector.secret,
  });
}

/** A read as it went over the wire, signed as a profile says. */
async function capturedRead(profile: string): Promise<string> {
  const capture = await httpServer((request, response) => response.end(writtenBy(request)));
  await machine.run(['read', 'some-code', 'mobile', '-p', profile, '--base-url', capture.url]);
  await capture.close();
  const [{ path, query } = { path: '', query: '' }] = capture.requests;
  return `${machine.url}${path}?${query}`;
}

describe('sign solve', () => {
  it(
    'finds both rules of an app from one captured request, and the next read is accepted',
    patient,
    async () => {
      const app = [
        ...'--tenant-code acme --channel web --app-key odd --base-url'.split(' '),
        machine.url,
      ];
      const platform = ['--platform', file('odd.json', { signing: unusual })];
      await machine.admin(['app', 'create', ...app, ...platform, '--profile', 'odd']);
      const captured = await capturedRead('odd');
      const back = await machine.run(['profile', 'set', 'odd', '--signing-preset', 'default']);
      expect(back).toMatchObject({ status: 0 });
      const code = await machine.issueCode();
      expect(await machine.run(['read', code, '-p', 'odd'])).toMatchObject({ status: 4 });

      const solved = await machine.run([
        ...['sign', 'solve', captured, '-p', 'odd', '--save', 'odd', '--json'],
        ...unhurried,
      ]);
      expect(solved).toMatchObject({ status: 0 });
      expect(solved.stderr).toContain('saved in profile "odd": app_sign and sign');
      const { tried, seconds, fits, app_sign } = JSON.parse(solved.stdout);
      expect(seconds).toBeGreaterThan(0);
      expect(tried).toBeGreaterThan(app_sign.tried);
      expect(fits.length).toBeGreaterThan(1);
      expect(solved.stderr).toContain('More than one rule fits.');
      expect(fits[0]).toMatchObject({ rank: 1, recipe: unusual.sign, app_sign: unusual.app_sign });
      expect(fits[0].why).toContain('without channel, empty values left out');
      expect(await machine.run(['read', code, 'mobile', '-p', 'odd', '--json'])).toMatchObject({
        status: 0,
      });
    },
  );

  it('takes the line ends of a text that joins the parts', patient, async () => {
    const signature = createHash('md5').update('2\r\n1\r\nk').digest('hex');
    const sample = file('lines.json', { params: { a: '1', b: '2' }, secret: 'k', signature });
    const args = [
      '--sample',
      sample,
      '--join',
      '\\r\\n',
      '--headers',
      'b,a',
      '--json',
      ...unhurried,
    ];
    const { stdout } = await machine.run(['sign', 'solve', ...args]);
    expect(JSON.parse(stdout).fits[0].recipe).toMatchObject({ join: '\r\n' });
  });

  it(
    'finds a rule that needs many threads, and "explain" accepts the recipe unchanged',
    patient,
    async () => {
      const sample = sampleOf('ximalaya');
      const args = ['--sample', sample, '--jobs', '2', '--json', ...unhurried];
      const { status, stdout } = await machine.run(['sign', 'solve', ...args]);
      expect(status).toBe(0);
      const [first] = JSON.parse(stdout).fits;
      const recipe = file('found.json', first.recipe);
      const explained = await machine.run([
        ...['sign', 'explain', '--recipe', recipe, '--sample', sample, '--json'],
      ]);
      expect(JSON.parse(explained.stdout).digest).toBe(
        JSON.parse(readFileSync(sample, 'utf8')).signature,
      );
    },
  );

  it(
    'describes the request that distinguishes the recipes, and accepts it as a sample',
    patient,
    async () => {
      const sample = sampleOf('sensetime');
      const { stdout } = await machine.run([
        'sign',
        'solve',
        '--sample',
        sample,
        '--json',
        ...first,
      ]);
      const one = JSON.parse(stdout);
      expect(one.next_sample).toMatchObject({
        candidates: one.fits.length,
        tells_apart: expect.any(Number),
      });
      const { secret, recipe } = vectors.find(({ name }) => name === 'sensetime') ?? {};
      const unsigned = file('unsigned.json', { ...one.next_sample.sample, secret });
      const given = ['--recipe', file('rule.json', recipe), '--sample', unsigned];
      const explain = ['sign', 'explain', ...given, '--json'];
      const signature = JSON.parse((await machine.run(explain)).stdout).digest;
      const second = file('second.json', { ...one.next_sample.sample, secret, signature });
      const args = ['--sample', sample, '--sample', second, ...first];
      const solved = await machine.run(['sign', 'solve', ...args]);
      expect(solved.stdout).toMatch(/1st .*values alone glued together, sorted by value/);
      expect(one.next_sample.changes.join()).toMatch(/^(leave|give|send|add|use|call) /);
      expect(Number(/recipes that fit +│ (\d+)/.exec(solved.stdout)?.[1])).toBeLessThan(
        one.fits.length,
      );
    },
  );

  it(
    'saves nothing from a request that the rule of the profile signs already',
    patient,
    async () => {
      const own = await capturedRead('local');
      const before = readFileSync(machine.profileFile, 'utf8');
      const solve = ['sign', 'solve', own, '-p', 'local'];
      const saved = await machine.run([...solve, '--save', 'local', ...first]);
      expect(saved).toMatchObject({ status: 4, stdout: '' });
      expect(saved.stderr).toContain(
        'this is signed by the rule that profile "local" already has: nothing was saved',
      );
      expect(saved.stderr).toContain('take one that the platform accepted');
      expect(readFileSync(machine.profileFile, 'utf8')).toBe(before);
      const shown = await machine.run([...solve, ...unhurried, '--json']);
      expect(shown).toMatchObject({ status: 0 });
      expect(shown.stderr).toContain(
        'this is signed by the default recipes. If the platform refused it',
      );
      const other = await capturedRead('odd');
      const both = await machine.run([...solve, other, '--save', 'local', ...first]);
      expect(both).toMatchObject({ status: 4 });
      expect(both.stderr).toContain(
        'request 1 is signed by the rule that profile "local" already has.',
      );
      expect(readFileSync(machine.profileFile, 'utf8')).toBe(before);
    },
  );

  it('saves the rule of the signature that was solved, and leaves the other', async () => {
    const values = deploymentFlags('https://h.example');
    const preset = ['--signing-preset', 'app_sign=taobao'];
    await machine.run(['profile', 'add', 'half', ...values, '--app-secret-env', 'S', ...preset]);
    const signing = () =>
      JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.half.platform.signing;
    const { app_sign } = signing();
    const sample = sampleOf('taobao-top-hmac-md5');
    const saved = await machine.run([
      'sign',
      'solve',
      '--sample',
      sample,
      '--save',
      'half',
      ...first,
    ]);
    expect(saved).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('saved in profile "half": sign\n'),
    });
    expect(signing()).toMatchObject({ app_sign, sign: { steps: ['hmac-md5'] } });
  });

  it(
    'lists what fits in the time of the search, and says that others may be missing',
    patient,
    async () => {
      const args = ['sign', 'solve', '--sample', sampleOf('taobao-top-hmac-md5'), ...first];
      const { status, stdout } = await machine.run([...args, '--json']);
      expect(status).toBe(0);
      const { all_listed, fits } = JSON.parse(stdout);
      expect({ all_listed, first: fits[0].recipe.steps }).toEqual({
        all_listed: false,
        first: ['hmac-md5'],
      });
      const table = await machine.run(args);
      expect(table.stdout).toMatch(
        /recipes that fit +│ \d+, and others: the time was over \(--max-time\)/,
      );
    },
  );

  const special = encodeURIComponent('a B+c&d=e/f~g*h:i\\j"k|é中');
  const one = `ab=7&aB=9${special}&a_b=1&abc=&Zb=5`;
  const further = `ab=&aB=${special}&a_b=${special}&abc=3${special}&Zb=2${special}&k=1&k=0`;
  it.each<[string, (readonly [query: string, body?: string])[], string[]]>([
    ['one request', [[one]], ['others', 'differ from the 1st', 'to tell them apart']],
    [
      'others that decide nothing',
      [[one], [one.replace('Zb=5', 'Zb=6')]],
      ['others', 'other samples', 'differ from the 1st', 'to tell them apart'],
    ],
    ['one that leaves four', [[one], [further]], ['differ from the 1st', 'to tell them apart']],
    ['those that leave one', [[one], [further, '{"a":1}']], []],
  ])('shows a person what a program gets: %s', patient, async (_, requests, rows) => {
    const samples = requests.flatMap(([query, body = null], index) => {
      const params = [...new URLSearchParams(query)];
      const filled = params
        .filter(([, value]) => value !== '')
        .sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
      const message = [...filled, ['key', 'k']].map((pair) => pair.join('=')).join('&');
      const signature = createHash('md5').update(message).digest('hex');
      const sample = {
        method: 'POST',
        url: 'https://e.com/x',
        params,
        body,
        secret: 'k',
        signature,
      };
      return ['--sample', file(`shown-${index}.json`, sample)];
    });
    const solve = ['sign', 'solve', ...samples, ...unhurried];
    const { fits, differences } = JSON.parse((await machine.run([...solve, '--json'])).stdout);
    const shown = (await machine.run(solve)).stdout.matchAll(/^│ (.*?) +│ (.*?) +│$/gm);
    const { tried: _tried, ...table } = Object.fromEntries(
      [...shown].map(([, name, value]) => [name, value]),
    );
    const ranks = ['1st', '2nd', '3rd', '4th'].slice(0, fits.length);
    const named = ['recipes that fit', ...ranks, ...rows, 'the 1st as a recipe'];
    expect(Object.keys(table).sort()).toEqual(named.sort());
    expect(ranks.map((rank) => table[rank])).toEqual(
      fits.slice(0, 4).map(({ why }: { why: string }) => why),
    );
    const counts = ['recipes that fit', 'others', 'differ from the 1st'].map((name) =>
      (table[name]?.match(/(?<=^|; )\d+/g) ?? []).map(Number),
    );
    const differing = differences.map(({ ranks }: { ranks: number[] }) => ranks.length);
    expect(counts).toEqual([[fits.length], fits.length > 4 ? [fits.length - 4] : [], differing]);
  });

  it('fills in what a document leaves open, and names what is wrong in it', patient, async () => {
    const url = 'https://example.com/?b=2&a=1&sign=421dc348575e4e3c4f13dba596484c13';
    const env = { USERINFO_APP_SECRET: 'abc' };
    const solve = (recipe: object) =>
      machine.run(['sign', 'solve', url, '--recipe', file('open.json', recipe), '--json'], { env });
    const { status, stdout } = await solve({ message: ['$params', '?'], steps: '?' });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      fits: expect.arrayContaining([
        expect.objectContaining({ recipe: { message: ['$params', '$secret'], steps: ['md5'] } }),
      ]),
      ruled_out: 0,
      differences: expect.arrayContaining([
        expect.objectContaining({ change: expect.any(String) }),
      ]),
    });
    const wrong = await solve({ message: ['$parms', '?'], steps: ['md5'] });
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toContain('message[0]: unknown token $parms');
  });

  it('takes requests out of a log by number, and says which', patient, async () => {
    const line = (digest: string, n: number) =>
      `10.0.0.1 "GET /x?a=${n}&sign=${digest} HTTP/1.1" 200\n`;
    const md5 = (text: string) => createHash('md5').update(text).digest('hex');
    const log = join(machine.folder, 'access.log');
    writeFileSync(log, line(md5('a=1&key=pa55word'), 1) + line(md5('a=2&key=pa55word'), 2));
    const env = { USERINFO_APP_SECRET: 'pa55word' };
    const solve = ['sign', 'solve', '--sample', log, ...first];
    const several = await machine.run(solve, { env });
    expect(several).toMatchObject({ status: 2, stdout: '' });
    expect(several.stderr).toBe(
      'error: the text has 2 requests\nChoose one with --pick N:\n1  GET /x (line 1)\n2  GET /x (line 2)\n',
    );
    const both = await machine.run([...solve, '--pick', '1,2', '--json'], { env });
    expect(both).toMatchObject({ status: 0 });
    expect(both.stderr).toBe(
      'taken: GET /x (lines of a log, line 1)\ntaken: GET /x (lines of a log, line 2)\n',
    );
    const verify = ['sign', 'verify', '--sample', log, '--recipe', 'sorted-md5', '--json'];
    const verified = await machine.run([...verify, '--pick', '2'], { env });
    expect(verified).toMatchObject({
      status: 0,
      stderr: 'taken: GET /x (lines of a log, line 2)\n',
    });
    expect(JSON.parse(verified.stdout)).toMatchObject({
      right: true,
      rule: 'the preset sorted-md5',
    });
  });

  it(
    'ends with 4 if nothing fits within the time limit, and says what to ask the operator',
    patient,
    async () => {
      const args = ['--sample', sampleOf('digiflazz'), '--max-time', '500ms', '--json'];
      const { status, stdout, stderr } = await machine.run(['sign', 'solve', ...args]);
      expect(status).toBe(4);
      expect(JSON.parse(stdout)).toMatchObject({ fits: [], complete: false, next_sample: null });
      expect(stderr).toMatch(/no recipe found for sign: [\d,]+ were tried.*Ask the operator/s);
      for (const next of [
        'A second --sample',
        'sign explain --recipe rule.json',
        '--signing-module',
      ]) {
        expect(stderr).toContain(next);
      }
    },
  );

  it.each([
    ['the calling thread alone', '1', 0],
    // After six lines of progress, one each 150 ms, there are several threads on an idle machine.
    ['several threads', '2', 6],
  ])(
    'shows its progress on a terminal, and stops at Ctrl-C in %s',
    patient,
    async (_, jobs, updates) => {
      const args = ['--sample', sampleOf('digiflazz'), '--jobs', jobs, ...unhurried];
      const { status, stdout } = await machine.onTerminal(
        ['sign', 'solve', ...args],
        [...Array.from({ length: updates }, () => [' recipes', ''] as const), [' recipes', null]],
      );
      expect(status).toBe(130);
      expect(stdout).toMatch(/[█░]+ searching \d+% +[\d,]+ recipes .*\/s/);
    },
  );

  it('fails fast on invalid input and unwritable output', async () => {
    const noDigest = file('no-digest.json', {
      url: '',
      params: { a: '1' },
      signature: 'x',
      secret: 's',
    });
    expect(await machine.run(['sign', 'solve', '--sample', noDigest])).toMatchObject({
      status: 2,
      stdout: '',
    });
    const unsigned = file('unsigned.json', { url: '', params: { a: '1' }, secret: 's' });
    expect(await machine.run(['sign', 'solve', '--sample', unsigned])).toMatchObject({ status: 2 });
    const nowhere = ['sign', 'solve', '--sample', sampleOf('epay'), '--save', 'nobody'];
    expect(await machine.run(nowhere)).toMatchObject({ status: 3, stdout: '' });
  });

  it('never shows the secret', () => {
    const { profiles } = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    for (const name of ['local', 'odd'])
      expect(machine.printed).not.toContain(profiles[name].secret.value);
    for (const name of ['ximalaya', 'sensetime', 'digiflazz']) {
      const vector = vectors.find((known) => known.name === name);
      expect(machine.printed).not.toContain(vector?.secret);
    }
  });
});
