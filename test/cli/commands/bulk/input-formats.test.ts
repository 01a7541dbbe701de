import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatRows } from '../../../../src/cli/commands/bulk/row-count.js';
import { formatCount } from '../../../../src/cli/output/numbers.js';
import { encodeGb18030 } from '../../../support/gb18030.js';
import { ServedMachine } from '../../../support/served.js';

/** More of them show the same at full size, in as many seconds more as they take. */
const count = 200;
const timeout = 60_000 + count * 30;
let machine: ServedMachine;
const unionIds = Array.from({ length: count }, (_, i) => `u${String(i).padStart(6, '0')}`);

beforeAll(async () => {
  machine = await ServedMachine.create();
  await machine.putUsers(unionIds);
}, timeout);

afterAll(() => machine[Symbol.asyncDispose]());

/** Values that other tools lose, each in turn. */
const values = [
  '007',
  '9007199254740993',
  '1234567890123456789',
  '1.00',
  '1E+15',
  'true',
  '-0',
  ' spaced ',
  'say "hi", twice',
  'two\nlines',
  'two\r\nlines',
  'a/b\\c',
  '张三/李四',
  '🙂 𠮷',
  '=1+1',
  '\u001b[31m',
  '%E5%BC%A0&a=b+c',
];

const value = (i: number, column: number) =>
  `${values[(i + column) % values.length]}${i % 7 === 0 ? '' : i}`;

/** What the store must hold afterwards, under the key of the run. */
async function stored(): Promise<Map<string, Record<string, string>>> {
  const all = await machine.extensionInfo();
  return new Map(unionIds.map((unionId) => [unionId, all.get(unionId) ?? {}]));
}

const file = (name: string) => join(machine.folder, name);

function write(name: string, content: string | Buffer): string {
  writeFileSync(file(name), content);
  return name;
}

const passBack = (...args: string[]) => machine.run(['-p', 'local', 'bulk', 'passback', ...args]);

const results = (name: string) =>
  readFileSync(file(`${name}.results.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('every value arrives unchanged', { timeout }, () => {
  it('from CSV, empty cells left out', async () => {
    const rows = unionIds.map((unionId, i) => [
      unionId,
      value(i, 0),
      i % 3 === 0 ? '' : value(i, 1),
    ]);
    const name = write('all.csv', stringify([['union_id', 'csv_a', 'csv_b'], ...rows]));
    // 1E+15 is refused otherwise: it looks like a number that Excel shortened.
    const done = await passBack(name, '--types', 'csv_a:text,csv_b:text');
    expect(done).toMatchObject({ status: 0, stdout: '' });
    expect(done.stderr).toContain(`passback: ${formatRows(count)} in `);
    expect(done.stderr).toContain(
      `\n  ok      ${formatCount(count)}\nresults  all.csv.results.ndjson\n`,
    );
    for (const [i, [, record]] of [...(await stored())].entries()) {
      expect(record.csv_a).toBe(value(i, 0));
      expect(record.csv_b).toBe(i % 3 === 0 ? undefined : value(i, 1));
    }
    const lines = results(name);
    expect(new Set(lines.map(({ line }) => line)).size).toBe(count);
    const byUser = new Map(lines.map((line) => [line.union_id, line]));
    expect(byUser.get('u000000')).toEqual({
      line: 2,
      union_id: 'u000000',
      outcome: 'ok',
      code: 200,
      msg: 'ok',
      request_id: expect.stringMatching(/^[0-9a-f]{20}$/),
    });
  });

  it('from gzip CSV with semicolons, empty cells kept', async () => {
    const rows = unionIds.map((unionId, i) => [value(i, 2), unionId, '']);
    const table = stringify([['semi_a', 'id', 'semi_b'], ...rows], {
      delimiter: ';',
      bom: true,
      record_delimiter: '\r\n',
      quote_record_delimiter: true,
    });
    const name = write('all.txt.gz', gzipSync(table));
    const types = ['--types', 'semi_a:text'];
    const format = ['--delimiter', ';', '--empty', 'keep', '--format', 'csv', ...types];
    const args = ['--union-id-column', 'id', ...format];
    expect(await passBack(name, ...args)).toMatchObject({ status: 0 });
    for (const [i, [, record]] of [...(await stored())].entries()) {
      expect(record).toMatchObject({ semi_a: value(i, 2), semi_b: '' });
    }
  });

  it('from NDJSON, numbers as they are written', async () => {
    const numbers = ['9007199254740993', '1.00', '-0.0', '1e5'];
    const lines = unionIds.map((unionId, i) => {
      const text = JSON.stringify(value(i, 3));
      return `{"nd_text":${text},"union_id":"${unionId}","nd_number":${numbers[i % 4]},"nd_bool":${i % 2 === 0}}`;
    });
    const name = write('all.ndjson', `${lines.join('\n')}\n`);
    expect(await passBack(name, '--types', 'nd_text:text')).toMatchObject({ status: 0 });
    for (const [i, [, record]] of [...(await stored())].entries()) {
      expect(record).toMatchObject({
        nd_text: value(i, 3),
        nd_number: numbers[i % 4],
        nd_bool: String(i % 2 === 0),
      });
    }
  });

  it('from GB18030', async () => {
    const rows = unionIds.map((unionId, i) => [unionId, `张三${i}`, '杭州市，"西湖"区']);
    const name = write(
      'gb.csv',
      encodeGb18030(stringify([['union_id', 'gb_姓名', 'gb_b'], ...rows])),
    );
    const refused = await passBack(name);
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('line 1 is not text in utf-8\n');
    expect(refused.stderr).toContain('--encoding gb18030');
    expect(await passBack(name, '--encoding', 'gb18030')).toMatchObject({ status: 0 });
    for (const [i, [, record]] of [...(await stored())].entries()) {
      expect(record).toMatchObject({ gb_姓名: `张三${i}`, gb_b: '杭州市，"西湖"区' });
    }
  });

  it('from standard input, results on standard output', async () => {
    const stdin = `union_id,in_a\n${unionIds.map((unionId, i) => `${unionId},${i}`).join('\n')}\n`;
    const done = await machine.run(['-p', 'local', 'bulk', 'passback', '-'], { stdin });
    expect(done.status).toBe(0);
    const lines = done.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(count);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ outcome: 'ok', code: 200 });
    for (const [i, [, record]] of [...(await stored())].entries())
      expect(record.in_a).toBe(String(i));
  });

  it('by a primary key, and with types', async () => {
    const mobiles = unionIds.slice(0, 50).map((unionId, i) => ({
      tenant_code: 'acme',
      union_id: unionId,
      basic_info: { mobile: `1380000${String(i).padStart(4, '0')}` },
    }));
    await machine.admin(['user', 'put'], mobiles.map((user) => JSON.stringify(user)).join('\n'));
    const rows = mobiles.map(({ basic_info }, i) => `${basic_info.mobile},${i}.50,TRUE`);
    const name = write('keyed.csv', `mobile,pk_n,pk_b\n${rows.join('\n')}\n`);
    const done = await passBack(
      name,
      '--primary-key',
      'mobile',
      '--types',
      'pk_n:number,pk_b:boolean',
    );
    expect(done.status).toBe(0);
    const all = await stored();
    expect(all.get('u000049')).toMatchObject({ pk_n: '49.50', pk_b: 'true' });
    expect(results(name)[0]).toMatchObject({
      line: expect.any(Number),
      mobile: expect.stringMatching(/^1380000/),
    });
  });
});
