import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Finished, printedBy } from '../../../support/cli.js';
import { encodeGb18030 } from '../../../support/gb18030.js';
import { httpServer, writtenBy } from '../../../support/raw-server.js';
import { ServedMachine } from '../../../support/served.js';

let machine: ServedMachine;
const unionIds = Array.from({ length: 200 }, (_, i) => `f${i}`);

beforeAll(async () => {
  machine = await ServedMachine.create();
  await machine.putUsers(unionIds);
}, 60_000);

afterAll(() => machine[Symbol.asyncDispose]());

const path = (name: string) => join(machine.folder, name);

function write(name: string, content: string | Buffer): string {
  writeFileSync(path(name), content);
  return name;
}

/** A file of rows for users, of which every tenth is not there where they are `mixed`. */
function writeRows(name: string, { count = 200, mixed = false, value = 'x' } = {}): string {
  const rows = unionIds
    .slice(0, count)
    .map((unionId, i) => `${mixed && i % 10 === 0 ? name : ''}${unionId},${value}${i}`);
  return write(name, `union_id,v\n${rows.join('\n')}\n`);
}

const passBack = (...args: string[]): Promise<Finished> =>
  machine.run(['-p', 'local', 'bulk', 'passback', ...args]);

const linesOf = (name: string) => readFileSync(path(name), 'utf8').trimEnd().split('\n');

function resultsOf(
  name: string,
): { line: number; outcome: string; code?: number; error?: string }[] {
  return linesOf(`${name}.results.ndjson`).map((line) => JSON.parse(line));
}

const requests = () => machine.log.match(/ passback /g)?.length ?? 0;

it('the outcome of a row is in the results before the next row is sent', async () => {
  const name = writeRows('order.csv');
  const concurrency = 4;
  const results = path(`${name}.results.ndjson`);
  const missing: number[] = [];
  const server = await httpServer((request, response, count) => {
    const written = existsSync(results) ? readFileSync(results, 'utf8').split('\n').length - 1 : 0;
    missing.push(count - concurrency - written);
    response.end(writtenBy(request));
  });
  const where = ['--base-url', server.url, '--concurrency', String(concurrency)];
  const { status } = await passBack(name, ...where).finally(() => server.close());
  expect(status).toBe(0);
  expect(missing).toHaveLength(200);
  expect(Math.max(...missing)).toBeLessThanOrEqual(0);
});

describe('invalid input is refused before anything is sent', () => {
  it.each<[string, content: string | Buffer, said: string, ...options: string[]]>([
    ['a header without rows', 'union_id,a\n', '"it.csv" has no row'],
    ['a delimiter', '{}', '--delimiter is for CSV', '--format=ndjson', '--delimiter=;'],
    ['types for NDJSON', '{}', '--types is for CSV: NDJSON', '--format=ndjson', '--types=a:number'],
    ['empty cells for NDJSON', '{}', '--empty is for CSV', '--format=ndjson', '--empty=keep'],
  ])('%s', async (_, content, said, ...options) => {
    const before = requests();
    const done = await passBack(write('it.csv', content), ...options);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(`error: ${said}`);
    expect(done.stderr).toMatch(/^Nothing was sent\./m);
    expect(requests()).toBe(before);
    expect(existsSync(path('it.csv.results.ndjson'))).toBe(false);
  });

  it('some of the invalid rows are listed by line', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? `f${i},x` : `f${i}`));
    const done = await passBack(write('bad.csv', `union_id,a\n${rows.join('\n')}\nf1,"x"y\n`));
    expect(done.status).toBe(2);
    const said = done.stderr.trimEnd().split('\n');
    expect(said[0]).toBe('line 3: the row has 1 cell, the header 2');
    expect(said.at(-2)).toBe('error: line 42: text follows the closing quote of a cell');
    expect(said).toHaveLength(22);
  });

  it('of very many, 1,000 are looked at', async () => {
    const done = await passBack(write('worse.csv', `union_id,a\n${'f1\n'.repeat(3_000)}`));
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(
      'and 980 rows more\nerror: at least 1,000 rows of "worse.csv" cannot be sent\n',
    );
  });

  it('incompatible options', async () => {
    const name = writeRows('opts.csv', { count: 1 });
    const refused: [string[], string][] = [
      [['passback', 'a=b', '--union-id', 'f1', '--resume'], 'unknown option "--resume"'],
      [['bulk', 'passback', name, '--results', '-'], '--results names a file, which cannot be -'],
      [['bulk', 'passback', '-', '--failed', '-'], '--failed names a file, which cannot be -'],
      [['bulk', 'passback', name, '--results', `./${name}`], 'and --results are the same file'],
      [['bulk', 'passback', name, '--types', 'v:date'], '"v:date" is not a column and its type'],
      [['bulk', 'passback', '-', '--resume'], 'a run over a stream cannot be resumed'],
      [['bulk', 'passback', ''], 'the name of the file is empty: is the variable set?'],
      [['bulk', 'passback'], 'the file is missing'],
      [['bulk', 'read'], 'the file is missing'],
      [['read'], 'the code is missing'],
    ];
    for (const [args, said] of refused) {
      const done = await machine.run(['-p', 'local', ...args]);
      expect({ args, ...done }).toMatchObject({ status: 2, stderr: expect.stringContaining(said) });
    }
  });
});

describe('a dry run', () => {
  it('checks every row and sends none', async () => {
    let sent = 0;
    const server = await httpServer((_, response) => {
      sent += 1;
      response.end();
    });
    const where = ['--base-url', server.url];
    const json = await passBack(writeRows('dry.csv'), '--dry-run', '--json', ...where);
    const sha256 = createHash('sha256')
      .update(readFileSync(path('dry.csv')))
      .digest('hex');
    const keys = ['v'];
    expect(JSON.parse(json.stdout)).toMatchObject({
      dry_run: true,
      operation: 'passback',
      rows: 200,
      keys,
      sha256,
    });
    const done = await passBack('dry.csv', '--dry-run', ...where);
    expect(done.status, done.stderr).toBe(0);
    expect(done.stdout.match(/^│ \d/gm)).toHaveLength(3); // a sample
    expect(done.stderr).toContain(
      `dry run: passback of 200 rows would go to ${new URL(server.url).host}, test\nkeys: v\n`,
    );
    expect(sent).toBe(0);
    await server.close();
    expect(existsSync(path('dry.csv.userinfo-journal'))).toBe(false);
  });

  it('previews show the keys of each row, and no values', async () => {
    const name = write(
      'keys.csv',
      'union_id,手机号,会员 等级,13812345678\nf1,13912345678,gold,x\n',
    );
    const bulk = await passBack(name, '--dry-run', '--yes', '--json');
    const pairs = ['手机号=13912345678', '会员 等级=gold', '13812345678=x'];
    const one = await machine.run([
      ...'-p local passback --union-id f1'.split(' '),
      ...pairs,
      '--dry-run',
      '--json',
    ]);
    const shown = '{"手机号":"139****5678","会员 等级":"****","****":"****"}';
    expect(JSON.parse(bulk.stdout).sample[0].user_info).toBe(shown);
    expect(JSON.parse(one.stdout).form.user_info).toBe(shown);
  });
});

describe('failed rows', () => {
  it('end the run with status 6, and are valid input of the next one', async () => {
    const name = writeRows('mixed.csv', { mixed: true });
    const done = await passBack(name, '--failed', 'mixed.failed.csv');
    expect(done).toMatchObject({ status: 6, stdout: '' });
    expect(done.stderr).toContain(
      '\n  ok      180\n  failed   20\n           20  40401 no such user: lines 2, 12, 22, 32, 42, …\n',
    );
    expect(done.stderr).toContain(
      'failed   mixed.failed.csv, 20 rows\nerror: 20 of 200 rows are not ok\n',
    );
    const failed = resultsOf(name).filter(({ outcome }) => outcome === 'failed');
    expect(failed[0]).toEqual({
      line: 2,
      union_id: 'mixed.csvf0',
      outcome: 'failed',
      code: 40401,
      msg: 'no such user',
      request_id: expect.stringMatching(/^[0-9a-f]{20}$/),
    });
    expect(linesOf('mixed.failed.csv').slice(0, 2)).toEqual([
      'userinfo_reason,union_id,v',
      '40401 no such user,mixed.csvf0,x0',
    ]);
    expect(linesOf('mixed.failed.csv')).toHaveLength(21);

    await machine.putUsers(Array.from({ length: 20 }, (_, i) => `mixed.csvf${i * 10}`));
    const again = await passBack('mixed.failed.csv', '--failed', 'again.csv');
    expect(again.status).toBe(0);
    expect(again.stderr).toContain('failed   none, so no file\n');
    expect(again.stderr).toContain('"userinfo_reason" says why a row was not ok: it is not sent\n');
    expect(existsSync(path('again.csv'))).toBe(false);
    expect((await machine.extensionInfo()).get('mixed.csvf190')).toEqual({ v: 'x190' });
  });

  it.each([
    ['with', '\ufeff'],
    ['without', ''],
  ])('begin as the input does: %s a byte-order mark', async (_, mark) => {
    writeFileSync(path('marked.csv'), `${mark}union_id,v\nnobody,张三\n`);
    const args = ['--failed', 'marked.failed.csv', '--restart'];
    expect((await passBack('marked.csv', ...args)).status).toBe(6);
    const [header] = readFileSync(path('marked.failed.csv'), 'utf8').split('\n');
    expect(header).toBe(`${mark}userinfo_reason,union_id,v`);
  });

  it('of a file in another encoding are UTF-8 with a mark: the options of the run are right for them, too', async () => {
    writeFileSync(path('gb.csv'), encodeGb18030('union_id,v\ngb1,张三\n'));
    const encoding = ['--encoding', 'gb18030'];
    expect((await passBack('gb.csv', ...encoding, '--failed', 'gb.failed.csv')).status).toBe(6);
    await machine.putUsers(['gb1']);
    expect(await passBack('gb.failed.csv', ...encoding)).toMatchObject({ status: 0 });
    expect((await machine.extensionInfo()).get('gb1')).toEqual({ v: '张三' });
  });

  it('are retried by the commands that the errors name', async () => {
    const name = writeRows('my retry.csv', { count: 12, mixed: true });
    const first = await passBack(name);
    expect(first.stderr).toContain('error: 2 of 12 rows are not ok\n');
    const pasted = /:\n {2}(userinfo .*)\n$/;
    const before = requests();
    const collected = await machine.shell(pasted.exec(first.stderr)?.[1] ?? '');
    expect(collected.status).toBe(6);
    expect(requests()).toBe(before);
    expect(collected.stderr).toContain('nothing was left to do');
    expect(linesOf('my retry.failed.csv')).toHaveLength(3);
    await machine.putUsers([`${name}f0`, `${name}f10`]);
    const retried = await machine.shell(pasted.exec(collected.stderr)?.[1] ?? '');
    expect(retried.stderr).toContain('\n  ok      2\n');
    expect(retried.status).toBe(0);
  });

  it('stop the run when they reach --max-failures', async () => {
    const name = writeRows('enough.csv', { mixed: true });
    const done = await passBack(name, '--max-failures', '3', '--concurrency', '2');
    expect(done.status).toBe(6);
    expect(done.stderr).toMatch(/error: stopped: \d of 200 rows are not ok/);
    expect(resultsOf(name).length).toBeLessThan(40);
    expect(done.stderr).toContain('The results say why, row by row: enough.csv.results.ndjson\n');
    expect(done.stderr).toContain('resume with:\n  userinfo -p local bulk passback enough.csv');
  });

  it('stop the run where the first 1,000 rows are refused alike, unless --max-failures says otherwise', async () => {
    const server = await httpServer((_, response) => {
      response.end('{"code":40401,"msg":"no such user","data":{}}');
    });
    const rows = Array.from({ length: 1_050 }, (_, i) => `nobody${i},x`);
    const name = write('alike.csv', `union_id,v\n${rows.join('\n')}\n`);
    const done = await passBack(name, '--base-url', server.url);
    expect(done.status).toBe(6);
    expect(done.stderr).toMatch(
      /stopped: the first 1,0\d\d rows were refused for the same reason: 40401 no such user\n/,
    );
    expect(done.stderr).toContain('Is "union_id" the right column, and this the right tenant?');
    const others = await machine.type(
      /^ {2}(userinfo .*--max-failures.*)$/m.exec(done.stderr)?.[1] ?? '',
    );
    expect([others.status, resultsOf(name).length]).toEqual([6, 1_050]);
    await server.close();
  });

  it('are invalid if there was no preflight', async () => {
    const name = write('unchecked.csv', 'union_id,v\nf1,x\nf2\nf3,y\n');
    const done = await passBack(
      name,
      '--no-preflight',
      '--failed',
      'unchecked.failed.csv',
      '--json',
    );
    expect(done.status).toBe(6);
    expect(JSON.parse(done.stdout).failures).toEqual([
      { outcome: 'invalid', reason: 'the row has 1 cell, the header 2', rows: 1, lines: [3] },
    ]);
    expect(done.stderr).toContain('1 of 3 rows is not ok');
    expect(resultsOf(name)).toContainEqual({
      line: 3,
      outcome: 'invalid',
      error: 'the row has 1 cell, the header 2',
    });
    expect(linesOf('unchecked.failed.csv')).toEqual([
      'userinfo_reason,union_id,v',
      '"the row has 1 cell, the header 2",f2',
    ]);
    const stream = ['-p', 'local', 'bulk', 'passback', '-', '--failed', 'streamed.failed.csv'];
    const streamed = await machine.run(stream, { stdin: 'union_id,v\nf1,x\nf2\nnobody,y\n' });
    expect(streamed.status).toBe(6);
    expect(linesOf('streamed.failed.csv')).toEqual([
      'userinfo_reason,union_id,v',
      '"the row has 1 cell, the header 2",f2',
      '40401 no such user,nobody,y',
    ]);
  });

  const whyRows = {
    csv: {
      given: ['union_id,v,', '007,"x', 'y",', ' nobody,1,', 'nobody,2,,3', 'nobody,4,'],
      failed: [
        'userinfo_reason,union_id,v,',
        '40401 no such user,007,"x',
        'y",',
        '40401 no such user, nobody,1,',
        '"the row has 4 cells, the header 3",nobody,2,,3',
        '40401 no such user,nobody,4,',
      ],
    },
    ndjson: {
      given: ['{"union_id":"nobody","v":1.50}', '{"v":"\\u4e2d"}', '{}', '["nobody"]', '{"v":[]'],
      failed: [
        '{"userinfo_reason":"40401 no such user","union_id":"nobody","v":1.50}',
        '{"userinfo_reason":"\\"union_id\\" has no value","v":"\\u4e2d"}',
        '{"userinfo_reason":"\\"union_id\\" has no value"}',
        '["nobody"]',
        '{"userinfo_reason":"the row is not a JSON object","v":[]',
      ],
    },
  };

  it.each(Object.entries(whyRows))(
    'of %s say why, also when they fail again, and the reason is not sent',
    async (format, { given, failed }) => {
      const name = write(`why.${format}`, `${given.join('\n')}\n`);
      const unchecked = ['--no-preflight', '--yes'];
      const first = await passBack(name, ...unchecked, '--failed', `1.${format}`);
      const second = await passBack(`1.${format}`, ...unchecked, '--failed', `2.${format}`);
      expect([first.status, second.status]).toEqual([6, 6]);
      expect(linesOf(`1.${format}`)).toEqual(failed);
      expect(linesOf(`2.${format}`)).toEqual(failed);
      expect(second.stderr).toContain(
        '"userinfo_reason" says why a row was not ok: it is not sent\n',
      );
    },
  );

  it('say why if the run was stopped, too', async () => {
    const name = writeRows('halves.csv', { mixed: true });
    await passBack(name, '--max-failures', '1', '--concurrency', '1');
    expect((await passBack(name, '--resume', '--failed', 'halves.failed.csv')).status).toBe(6);
    const reasons = linesOf('halves.failed.csv').map((line) => line.split(',')[0]);
    expect(reasons).toEqual(['userinfo_reason', ...Array(20).fill('40401 no such user')]);
  });

  it('say why if the answer did not: the outcome is unknown', async () => {
    const server = await httpServer((_, response) => response.destroy());
    const name = writeRows('silent.csv', { count: 2 });
    const where = ['--base-url', server.url, '--attempts', '1'];
    const { status } = await passBack(name, ...where, '--failed', 'silent.failed.csv');
    await server.close();
    expect(status).toBe(6);
    expect(linesOf('silent.failed.csv').slice(1)).toEqual([
      expect.stringMatching(/^.*closed.*,f0,x0$/),
      expect.stringMatching(/^.*closed.*,f1,x1$/),
    ]);
  });

  it('are those that the check refuses: nothing is sent, and both files are, by the commands', async () => {
    const rows = unionIds.map((unionId, i) => (i % 2 === 0 ? `${unionId},x${i}` : unionId));
    const name = write('half.csv', `union_id,v\n${rows.join('\n')}\n`);
    const before = requests();
    const done = await passBack(name, '--failed', 'half.failed.csv');
    expect([done.status, requests(), existsSync(path('half.csv.userinfo-journal'))]).toEqual([
      2,
      before,
      false,
    ]);
    expect(done.stderr).toContain('and 80 rows more\n100 rows written to half.failed.csv\n');
    expect(linesOf('half.failed.csv')).toHaveLength(101);
    const [repaired = '', others = ''] = [...done.stderr.matchAll(/^ {2}(userinfo .*)$/gm)].map(
      ([, line]) => line,
    );
    const text = readFileSync(path('half.failed.csv'), 'utf8');
    write('half.failed.csv', text.replace(/,(f\d+)$/gm, ',$1,repaired'));
    expect(await machine.type(repaired)).toMatchObject({ status: 0 });
    expect(await machine.type(others)).toMatchObject({ status: 6 });
    const stored = await machine.extensionInfo();
    expect([stored.get('f1'), stored.get('f2')]).toEqual([{ v: 'repaired' }, { v: 'x2' }]);
    // What was repaired stays.
    const again = await passBack(name, '--failed', 'half.failed.csv');
    expect(again.stderr).toContain('half.failed.csv" already exists');
    expect(again.status).toBe(2);
  });

  it('of a run that is continued are not replaced by those that the check refuses', async () => {
    const name = write('two-halves.csv', 'union_id,v\nf1\nf2,x\nnobody,y\n');
    const failed = ['--failed', 'two-halves.failed.csv'];
    await passBack(name, ...failed, '--no-preflight');
    const before = linesOf('two-halves.failed.csv');
    expect(before).toHaveLength(3);
    expect(await passBack(name, ...failed, '--resume')).toMatchObject({ status: 2 });
    expect(linesOf('two-halves.failed.csv')).toEqual(before);
    expect((await passBack(name, ...failed, '--resume', '--no-preflight')).status).toBe(6);
    expect(linesOf('two-halves.failed.csv')).toEqual(before);
  });

  it('of a check are all of them, with --dry-run in the results, too', async () => {
    const rows = Array.from({ length: 1_500 }, (_, i) => `f1,x,${i}`);
    const name = write('worst.csv', `union_id,v\nf1,x\n${rows.join('\n')}\n`);
    const files = ['--results', 'worst.ndjson', '--failed', 'worst.failed.csv'];
    const done = await passBack(name, '--dry-run', ...files);
    expect(done.stderr).toContain('1,500 rows of "worst.csv" cannot');
    expect(done.status).toBe(2);
    const results = linesOf('worst.ndjson').map((line) => JSON.parse(line));
    expect([results.length, linesOf('worst.failed.csv').length]).toEqual([1_500, 1_501]);
    expect(results[0]).toEqual({
      line: 3,
      outcome: 'invalid',
      error: 'the row has 3 cells, the header 2',
    });
    for (const [option, file] of Object.entries({
      '--results': 'worst.ndjson',
      '--failed': 'worst.failed.csv',
    })) {
      const refused = await passBack(name, '--dry-run', option, file);
      expect(refused.stderr).toContain(`${file}" already exists`);
      expect(refused.status).toBe(2);
    }
    const good = write('good.csv', 'union_id,v\nf1,x\n');
    expect((await passBack(good, '--dry-run', '--results', 'good.ndjson')).status).toBe(0);
    expect(existsSync(path('good.ndjson'))).toBe(false);
    const own = await passBack(good, '--dry-run', '--results', good);
    expect(own).toMatchObject({ status: 2, stderr: expect.stringContaining('are the same file') });
  });

  it('can be too large: 2 MB, and no others', async () => {
    const huge = 'x'.repeat(2 * 1024 * 1024);
    const name = write('huge.csv', `union_id,v\nf1,before\nf2,${huge}\nf3,after\n`);
    const done = await passBack(name, '--failed', 'huge.failed.csv');
    expect(done.status).toBe(6);
    const results = resultsOf(name).sort((a, b) => a.line - b.line);
    expect(results).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'failed', code: 41301 },
      { outcome: 'ok' },
    ]);
    expect(linesOf('huge.failed.csv')[1]).toBe(`41301 the request is too large,f2,${huge}`);
  });
});

describe('the files of a run', () => {
  it('are replaced if it is finished', async () => {
    const name = writeRows('twice.csv', { count: 3 });
    expect((await passBack(name)).status).toBe(0);
    expect((await passBack(name)).status).toBe(0);
    expect(resultsOf(name)).toHaveLength(3);
    const more = await passBack(name, '--resume');
    expect(more.stderr).toContain('nothing was left to do');
    expect(more.status).toBe(0);
  });

  it('are refused if it is unfinished, without --resume or --restart', async () => {
    const name = writeRows('unfinished.csv', { mixed: true });
    await passBack(name, '--max-failures', '1', '--concurrency', '1');
    const refused = await passBack(name);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(
      'error: "unfinished.csv.userinfo-journal" is of a run that is not finished\n',
    );
    expect(refused.stderr).toMatch(
      /^Nothing was sent\..* To continue it:\n {2}userinfo -p local bulk passback unfinished.csv --resume$/m,
    );
    expect((await passBack(name, '--restart')).status).toBe(6);
    expect(resultsOf(name)).toHaveLength(200);
  });

  it('are refused for another input, or other options, by name', async () => {
    const name = writeRows('changed.csv', { mixed: true });
    await passBack(name, '--max-failures', '1', '--concurrency', '1');
    for (const [option, value, what] of [
      ['--empty', 'keep', 'handling of empty cells: "drop", now "keep"'],
      ['--base-url', 'http://127.0.0.1:9', 'base URL: '],
      ['--tenant-code', 'another', 'tenant code: '],
      ['--channel', 'app', 'channel: '],
      ['--app-key', 'another', 'app key: '],
    ] as const) {
      const other = await passBack(name, '--resume', option, value);
      expect(other.stderr).toContain(`begun with another ${what}`);
      expect(other.status).toBe(2);
    }
    writeRows('changed.csv', { mixed: true, value: 'y' });
    const before = requests();
    const changed = await passBack(name, '--resume');
    expect(changed).toMatchObject({ status: 2, stdout: '' });
    expect(changed.stderr).toContain(
      'error: the run of "changed.csv.userinfo-journal" was begun with another input file',
    );
    expect(changed.stderr).toMatch(
      /^Nothing was sent\..* To send every row again:\n {2}userinfo -p local bulk passback changed\.csv --restart$/m,
    );
    expect(requests()).toBe(before);
  });

  it('start over if there is no journal, with a notice', async () => {
    const name = writeRows('lost.csv', { count: 3 });
    const done = await passBack(name, '--resume');
    expect(done.status).toBe(0);
    expect(done.stderr).toContain(
      'there is no journal "lost.csv.userinfo-journal": starting with the first row\n',
    );
  });

  it('that cannot be written are named; the run is resumed later', async () => {
    const name = writeRows('full.csv');
    const before = requests();
    // No file may become larger than 4 kB.
    const full = await machine.shell(
      `ulimit -f 4; userinfo -p local bulk passback ${name}`,
      {},
      'bash',
    );
    expect(full.status).toBe(6);
    expect(full.stderr).toContain(
      'error: "full.csv.results.ndjson" cannot be written: the file would be larger than allowed\n',
    );
    expect(full.stderr).toMatch(
      /^lost {5}\d+ rows?, answered but not written: --resume sends them again$/m,
    );
    expect(full.stderr).toContain('then run the same command with --resume.');
    const written = resultsOf(name).length;
    expect(written).toBeGreaterThan(10);
    expect(await passBack(name, '--resume')).toMatchObject({ status: 0 });
    expect(new Set(resultsOf(name).map(({ line }) => line)).size).toBe(200);
    expect(resultsOf(name)).toHaveLength(200);
    // What was in flight when the file could not be written is sent again.
    expect(requests() - before).toBeLessThanOrEqual(200 + 32);
  });

  it('are complete where connections take all descriptors of the process', async () => {
    const name = writeRows('many.csv');
    const run = `ulimit -n 60; userinfo -p local bulk passback ${name} --concurrency 150`;
    // On a busy machine, some rows find no connection in all their attempts.
    const { stderr } = await machine.shell(run, {}, 'bash');
    expect(stderr).not.toContain('cannot be');
    expect(resultsOf(name)).toHaveLength(200);
    const isFinished = resultsOf(name).every(({ outcome }) => outcome !== 'unknown');
    expect(linesOf(`${name}.userinfo-journal`).at(-1)).toContain(
      `"record":"end","finished":${isFinished},`,
    );
  });
});

describe('an interrupted run', () => {
  it('waits for answers at the first Ctrl-C, and is resumed by the printed command', async () => {
    const name = writeRows('stopped.csv');
    const run = machine.start(['-p', 'local', 'bulk', 'passback', name, '--rate', '100/s']);
    let stderr = '';
    run.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));
    while (
      !existsSync(path('stopped.csv.results.ndjson')) ||
      readFileSync(path('stopped.csv.results.ndjson')).length === 0
    ) {
      await wait(20);
    }
    const stopping = printedBy(run, /waiting for the answers/);
    run.kill('SIGINT');
    await stopping;
    expect(await ended).toBe(130);
    expect(resultsOf(name).length).toBeLessThan(200);
    const [, command = ''] = /resume with:\n {2}(userinfo .*)/.exec(stderr) ?? [];
    expect(await machine.shell(command.replace(' --rate 100/s', ''))).toMatchObject({ status: 0 });
    const results = resultsOf(name);
    expect(new Set(results.map(({ line }) => line)).size).toBe(200);
    expect(results).toHaveLength(200);
  });

  it('stops immediately at the second', async () => {
    const name = writeRows('at-once.csv', { count: 5 });
    const silent = await httpServer(() => {});
    const run = machine.start(['-p', 'local', 'bulk', 'passback', name, '--base-url', silent.url]);
    while (silent.requests.length === 0) await wait(10);
    const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));
    const stopping = printedBy(run, /Ctrl-C once more stops at once/);
    run.kill('SIGINT');
    await stopping;
    run.kill('SIGINT');
    expect(await ended).toBe(130);
    await silent.close();
  });
});
