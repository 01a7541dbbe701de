import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpServer, writtenBy } from '../support/raw-server.js';
import { ServedMachine } from '../support/served.js';
import { vectors } from '../support/signing-corpus.js';

/** No test is to fail on a time: a machine that others use as well may take long. */
const patient = { timeout: 300_000 };
const unhurried = ['--max-time', '10m'];

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

function file(name: string, content: unknown): string {
  const path = join(machine.folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function sampleOf(name: string): string {
  const vector = vectors.find((known) => known.name === name);
  if (vector === undefined) throw new Error(`no vector ${name}`);
  return file(`${name}.json`, { ...vector.request, signature: vector.digest, secret: vector.secret });
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
        '--tenant-code',
        'acme',
        '--channel',
        'web',
        '--app-key',
        'odd',
        '--base-url',
        machine.url,
      ];
      await machine.admin([
        'app',
        'create',
        ...app,
        '--platform',
        file('odd.json', { signing: unusual }),
        '--profile',
        'odd',
      ]);
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
      const { tried, seconds, fits } = JSON.parse(solved.stdout);
      expect([typeof tried, typeof seconds]).toEqual(['number', 'number']);
      expect(fits.length).toBeGreaterThan(1);
      expect(solved.stderr).toContain('More than one rule fits.');
      expect(fits[0]).toMatchObject({ rank: 1, recipe: unusual.sign, app_sign: unusual.app_sign });
      expect(fits[0].why).toContain('without channel, empty values left out');
      expect(await machine.run(['read', code, 'mobile', '-p', 'odd', '--json'])).toMatchObject({ status: 0 });
    },
  );

  it(
    'finds a rule that needs many threads, and "explain" accepts the result unchanged',
    patient,
    async () => {
      const sample = sampleOf('ximalaya');
      const args = ['--sample', sample, '--jobs', '2', '--json', ...unhurried];
      const { status, stdout } = await machine.run(['sign', 'solve', ...args]);
      expect(status).toBe(0);
      const [first] = JSON.parse(stdout).fits;
      const whole = ['--recipe', file('report.json', JSON.parse(stdout)), '--sample', sample, '--json'];
      const explainedByReport = await machine.run(['sign', 'explain', ...whole]);
      const recipe = file('found.json', first.recipe);
      const explained = await machine.run([
        ...['sign', 'explain', '--recipe', recipe, '--sample', sample, '--json'],
      ]);
      expect(explainedByReport.stdout).toBe(explained.stdout);
      expect(JSON.parse(explained.stdout).digest).toBe(JSON.parse(readFileSync(sample, 'utf8')).signature);
    },
  );

  it(
    'describes the request that distinguishes the recipes, and accepts it as a sample',
    patient,
    async () => {
      const sample = sampleOf('sensetime');
      const { stdout } = await machine.run(['sign', 'solve', '--sample', sample, '--json', ...unhurried]);
      const one = JSON.parse(stdout);
      expect(one.next_sample).toMatchObject({ candidates: one.fits.length, tells_apart: expect.any(Number) });
      const { secret, recipe } = vectors.find(({ name }) => name === 'sensetime') ?? {};
      const unsigned = file('unsigned.json', { ...one.next_sample.sample, secret });
      const explain = [
        'sign',
        'explain',
        '--recipe',
        file('rule.json', recipe),
        '--sample',
        unsigned,
        '--json',
      ];
      const signature = JSON.parse((await machine.run(explain)).stdout).digest;
      const second = file('second.json', { ...one.next_sample.sample, secret, signature });
      const args = ['--sample', sample, '--sample', second, ...unhurried];
      const solved = await machine.run(['sign', 'solve', ...args]);
      expect(solved.stdout).toMatch(/1st .*values alone glued together, sorted by value/);
      expect(one.next_sample.changes.join()).toMatch(/^(leave|give|send|add|use|call) /);
      expect(Number(/recipes that fit +│ (\d+)/.exec(solved.stdout)?.[1])).toBeLessThan(one.fits.length);
    },
  );

  it(
    'ends with 4 if nothing fits within the time limit, and says what to ask the operator',
    patient,
    async () => {
      const args = ['--sample', sampleOf('digiflazz'), '--max-time', '500ms', '--json'];
      const { status, stdout, stderr } = await machine.run(['sign', 'solve', ...args]);
      expect(status).toBe(4);
      expect(JSON.parse(stdout)).toMatchObject({ fits: [], complete: false, next_sample: null });
      expect(stderr).toMatch(/no recipe found for sign: [\d,]+ were tried.*Ask the operator/s);
    },
  );

  it.each([
    ['the calling thread alone', '1', 0],
    // After six lines of progress, one each 150 ms, there are several threads on an idle machine.
    ['several threads', '2', 6],
  ])('shows its progress on a terminal, and stops at Ctrl-C in %s', patient, async (_, jobs, updates) => {
    const args = ['--sample', sampleOf('digiflazz'), '--jobs', jobs, ...unhurried];
    const { status, stdout } = await machine.onTerminal(
      ['sign', 'solve', ...args],
      [...Array.from({ length: updates }, () => ['recipes tried', ''] as const), ['recipes tried', null]],
    );
    expect(status).toBe(130);
    expect(stdout).toMatch(/searching: [\d,]+ recipes tried/);
  });

  it('fails fast on invalid input and unwritable output', async () => {
    const noDigest = file('no-digest.json', { url: '', params: { a: '1' }, signature: 'x', secret: 's' });
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
    for (const name of ['local', 'odd']) expect(machine.printed).not.toContain(profiles[name].secret.value);
    for (const name of ['ximalaya', 'sensetime', 'digiflazz']) {
      const vector = vectors.find((known) => known.name === name);
      expect(machine.printed).not.toContain(vector?.secret);
    }
  });
});

describe('admin app create --platform', () => {
  it('names the field that is wrong, and makes no app', async () => {
    const wrong = file('wrong.json', {
      signing: { ...unusual, sign: { message: ['$parms'], steps: ['md5'] } },
    });
    const args = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'never', '--platform', wrong];
    const made = await machine.run(['admin', 'app', 'create', ...args, '--database', machine.database]);
    expect(made).toMatchObject({ status: 2, stdout: '' });
    expect(made.stderr).toContain('unknown token $parms');
    expect(await machine.admin(['app', 'list'])).not.toContain('never');
  });

  it('warns about unsigned parameters, and creates the app anyway', async () => {
    const weak = file('weak.json', {
      signing: { ...unusual, sign: { message: ['$param:user_info'], steps: ['md5'] } },
    });
    const args = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'weak', '--platform', weak];
    const made = await machine.run(['admin', 'app', 'create', ...args, '--database', machine.database]);
    expect(made.status).toBe(0);
    expect(made.stderr).toContain('warning: sign does not depend on the secret: anybody can compute it\n');
    expect(await machine.admin(['app', 'list'])).toContain('weak');
  });
});
