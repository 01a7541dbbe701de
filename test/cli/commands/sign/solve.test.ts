import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentFlags } from '../../../support/cli.js';
import { httpServer, writtenBy } from '../../../support/raw-server.js';
import { ServedMachine } from '../../../support/served.js';

/** No test is to fail on a time: a machine that others use as well may take long. */
const patient = { timeout: 300_000 };

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

/** A read as it went over the wire, signed as a profile says. */
async function capturedRead(profile: string): Promise<string> {
  const capture = await httpServer((request, response) => response.end(writtenBy(request)));
  await machine.run(['read', 'some-code', 'mobile', '-p', profile, '--base-url', capture.url]);
  await capture.close();
  const [{ path, query } = { path: '', query: '' }] = capture.requests;
  return `${machine.url}${path}?${query}`;
}

const endpoint = 'https://api.example.com/api/v1/server/user/user_info_for_third';
const env = { USERINFO_APP_SECRET: 'Pa55word' };
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/**
 * A plain read whose `sign` is the MD5 of this text; `app_sign` that of the app key and the secret.
 */
function readSignedBy(textOf: (sorted: string) => string, code = 'c0de'): string {
  const params = {
    app_key: 'app-1',
    app_sign: md5('app-1Pa55word'),
    channel: 'web',
    code,
    random: 'k3J9xQ2mVb7T',
    tenant_code: 'acme',
    timestamp: '1700000123',
  };
  const sorted = String(new URLSearchParams(params));
  return `${endpoint}?${sorted}&sign=${md5(textOf(sorted))}`;
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
      ]);
      expect(solved).toMatchObject({ status: 0 });
      expect(solved.stderr).toContain('saved in profile "odd": app_sign and sign');
      const { groups, doubts } = JSON.parse(solved.stdout);
      expect(groups.sign.length).toBeGreaterThan(1);
      expect(groups.sign[0].in_words).toContain('without channel');
      expect(doubts).toContainEqual(
        expect.objectContaining({
          signature: 'sign',
          says: 'A read cannot show whether the fields of a passback are signed, and how.',
          settled_by: 'A passback',
        }),
      );
      expect(solved.stderr).toContain('userinfo sign try -p odd --save odd');
      expect((await machine.run(['read', code, 'mobile', '-p', 'odd', '--json'])).status).toBe(0);
    },
  );

  it('says nothing of doubts where the requests leave none', async () => {
    const values = 'app_key=app-1&channel=web&random=r4nd0m&tenant_code=acme&timestamp=1700000123';
    const app_sign = 'app_sign=0123456789abcdef0123456789abcdef';
    const info = 'user_info={"acme_note":"a b*c~d(e)é"}';
    const signed = (text: string) => `sign=${md5(`${text}Pa55word`)}`;
    const read = `${values}&${app_sign}&code=c1&scope=get_user_info&info_name=a,b`;
    const sorted = read.split('&').toSorted().join('&');
    const sent = new URLSearchParams(`${read}&${signed(sorted)}`);
    const form = `union_id=u1&primary_key=&${info}`;
    const both = `${values}&${app_sign}&${form}`.split('&').toSorted().join('&');
    const passback = new URLSearchParams(`${values}&${app_sign}&${signed(both)}`);
    const curl = `curl -X PUT '${endpoint.replace(/\w+$/, 'user_info_pass_back')}?${passback}' -d '${new URLSearchParams(form)}'`;
    const done = await machine.run(['sign', 'solve', `${endpoint}?${sent}`, curl], { env });
    expect(done).toMatchObject({ status: 0 });
    expect(done.stdout).toContain(
      'MD5 of parameters + secret; parameters: k=v joined by "&", sorted by name',
    );
    const [, ofSign] = done.stdout.split('\nsign\n');
    expect(ofSign).not.toContain('not sure');
  });

  it(
    'saves nothing from a request that the rule of the profile signs already',
    patient,
    async () => {
      const own = await capturedRead('local');
      const before = readFileSync(machine.profileFile, 'utf8');
      const solve = ['sign', 'solve', own, '-p', 'local'];
      const saved = await machine.run([...solve, '--save', 'local']);
      expect(saved).toMatchObject({ status: 4, stdout: '' });
      expect(saved.stderr).toContain(
        'this is signed by the rule that profile "local" already has: nothing was saved',
      );
      expect(saved.stderr).toContain('take one that the platform accepted');
      expect(readFileSync(machine.profileFile, 'utf8')).toBe(before);
      const shown = await machine.run([...solve, '--json']);
      expect(shown).toMatchObject({ status: 0 });
      expect(shown.stderr).toContain(
        'this is signed by the default recipes. If the platform refused it',
      );
      const other = await capturedRead('odd');
      const both = await machine.run([...solve, other, '--save', 'local']);
      expect(both).toMatchObject({ status: 4 });
      expect(both.stderr).toContain(
        'request 1 is signed by the rule that profile "local" already has.',
      );
      expect(both.stderr).toContain('one of the 2 samples has rules, but none fits all');
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
    const url = `https://example.com/?a=1&b=2&sign=${md5('a=1&b=2Pa55word')}`;
    const saved = await machine.run(['sign', 'solve', url, '--save', 'half'], { env });
    expect(saved.stderr).toContain('saved in profile "half": sign\n');
    expect(saved.status).toBe(0);
    expect(signing()).toMatchObject({
      app_sign,
      sign: { message: ['$params', '$secret'], steps: ['md5'] },
    });
  });

  it('fills in what a document leaves open, and names what is wrong in it', patient, async () => {
    const text = (sorted: string) => `acme/v1:${sorted.replaceAll('=', ':')}:Pa55word`;
    const solve = (recipe: object, format = '--json') =>
      machine.run(
        ['sign', 'solve', readSignedBy(text), '--recipe', file('open.json', recipe), format],
        { env },
      );
    const open = { params: { kvSep: '?' }, message: ['acme/v1:', '$params', '?', '?'], steps: '?' };
    const { status, stdout } = await solve(open);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).signing).toMatchObject({
      app_sign: { steps: ['md5'] },
      sign: {
        params: { kvSep: ':' },
        message: ['acme/v1:', '$params', ':', '$secret'],
        steps: ['md5'],
      },
    });
  });

  it('takes requests out of a log by number, and says which', patient, async () => {
    const line = (digest: string, n: number) =>
      `10.0.0.1 "GET /x?a=${n}&sign=${digest} HTTP/1.1" 200\n`;
    const log = join(machine.folder, 'access.log');
    writeFileSync(log, line(md5('a=1&key=Pa55word'), 1) + line(md5('a=2&key=Pa55word'), 2));
    const solve = ['sign', 'solve', '--sample', log];
    const several = await machine.run(solve, { env });
    expect(several).toMatchObject({ status: 2, stdout: '' });
    expect(several.stderr).toBe(
      'error: the text has 2 requests\nChoose one with --pick N:\n1  GET /x (line 1)\n2  GET /x (line 2)\n',
    );
    const both = await machine.run([...solve, '--pick', '1,2', '--json'], { env });
    expect(both).toMatchObject({ status: 0 });
    expect(both.stderr).toContain(
      'taken: GET /x (a line of a log, line 1)\ntaken: GET /x (a line of a log, line 2)\n',
    );
    const verify = ['sign', 'verify', '--sample', log, '--recipe', 'sorted-md5', '--json'];
    const verified = await machine.run([...verify, '--pick', '2'], { env });
    expect(verified).toMatchObject({
      status: 0,
      stderr: 'taken: GET /x (a line of a log, line 2)\n',
    });
    expect(JSON.parse(verified.stdout)).toMatchObject({
      right: true,
      rule: 'the preset sorted-md5',
    });
  });

  it('ends with 4 if nothing fits, and says what to ask the operator', patient, async () => {
    const url = readSignedBy((sorted) => `[${sorted}]<Pa55word>`);
    const { status, stdout, stderr } = await machine.run(['sign', 'solve', url, '--json'], { env });
    expect(status).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ groups: { sign: [] } });
    expect(stderr).toMatch(/no rule found for sign: [\d,]+ digests were tried.*Ask the operator/s);
    for (const next of [
      'A second --sample',
      'sign explain --recipe rule.json',
      '--signing-module',
    ]) {
      expect(stderr).toContain(next);
    }
  });

  it('shows its progress on a terminal, and stops at Ctrl-C', patient, async () => {
    const url = readSignedBy((sorted) => `[${sorted}]<Pa55word>`);
    const { status, stdout } = await machine.onTerminal(
      ['sign', 'solve', url],
      [[' rules', null]],
      { env },
    );
    expect(status).toBe(130);
    expect(stdout).toMatch(/searching +[\d,]+ rules .*\/s/);
  });

  it('fails fast on invalid input and unwritable output', async () => {
    const noDigest = file('no-digest.json', {
      url: '',
      params: { a: '1' },
      signature: 'x',
      secret: 's',
    });
    expect(await machine.run(['sign', 'solve', '--sample', noDigest])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"x" is no digest in hex or base64'),
    });
    const unsigned = file('unsigned.json', { url: '', params: { a: '1' }, secret: 's' });
    expect(await machine.run(['sign', 'solve', '--sample', unsigned])).toMatchObject({ status: 2 });
    const nowhere = ['sign', 'solve', readSignedBy(String), '--save', 'nobody'];
    expect(await machine.run(nowhere, { env })).toMatchObject({ status: 3, stdout: '' });
  });

  it('never shows the secret', () => {
    const { profiles } = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    for (const name of ['local', 'odd'])
      expect(machine.printed).not.toContain(profiles[name].secret.value);
    expect(machine.printed).not.toContain('Pa55word');
  });
});
