import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCsvRow } from '../../../../../src/cli/commands/bulk/source/csv.js';
import { toUtf8 } from '../../../../../src/cli/commands/bulk/source/text.js';
import { JsonNumber } from '../../../../../src/core/contract/user-info.js';
import { cellsOf, csv, readRows } from '../../../../support/read-rows.js';
import { rejection } from '../../../../support/rejection.js';

const header = 'union_id,a\n';

describe('CSV rows', () => {
  it.each([
    ['plain cells', 'u1,x\nu2,y\n', '[["u1","x"],["u2","y"]]'],
    ['no line end behind the last row', 'u1,x', '[["u1","x"]]'],
    ['CRLF', 'u1,x\r\nu2,y\r\n', '[["u1","x"],["u2","y"]]'],
    ['line ends of two kinds', 'u1,x\r\nu2,y\nu3,z', '[["u1","x"],["u2","y"],["u3","z"]]'],
    ['a quoted delimiter', 'u1,"x,y"', '[["u1","x,y"]]'],
    ['a quoted quote', 'u1,"say ""hi"""', String.raw`[["u1","say \"hi\""]]`],
    ['a quoted line break', 'u1,"x\ny"\nu2,z', String.raw`[["u1","x\ny"],["u2","z"]]`],
    ['a quoted CRLF', 'u1,"x\r\ny"', String.raw`[["u1","x\r\ny"]]`],
    ['empty lines', '\n\nu1,x\n\n\nu2,y\n\n', '[["u1","x"],["u2","y"]]'],
    ['leading zeros', 'u1,007', '[["u1","007"]]'],
    ['long digits', 'u1,9007199254740993', '[["u1","9007199254740993"]]'],
    ['space, which is part of a cell', 'u1, x ', '[["u1"," x "]]'],
    ['Chinese and emoji', '用户,张三/🙂', '[["用户","张三/🙂"]]'],
  ])('%s', async (_, rows, expected) => {
    expect(JSON.stringify(await cellsOf(header + rows))).toBe(expected);
    expect(JSON.stringify(await cellsOf(header + rows, { chunkSize: 1 }))).toBe(expected);
  });

  it('can have another delimiter, a byte-order mark, gzip compression', async () => {
    expect(await cellsOf('union_id;a\nu1;x,y\n', { delimiter: ';' })).toEqual([['u1', 'x,y']]);
    expect(await cellsOf('union_id||a\nu1||x|y\n', { delimiter: '||' })).toEqual([['u1', 'x|y']]);
    expect(await cellsOf(`\ufeff${header}u1,x`)).toEqual([['u1', 'x']]);
    expect(await cellsOf(gzipSync(`${header}u1,x`), { chunkSize: 7 })).toEqual([['u1', 'x']]);
  });

  it('are numbered as an editor numbers their first lines', async () => {
    const text = '\na,b\r\n1,"x\r\ny\r\nz"\r\n\r\n2,y\n3,"\n"\n4,z';
    for (const chunkSize of [1, 3, 65_536]) {
      const rows = await readRows(csv(), text, { chunkSize });
      expect(rows.map(({ line }) => line)).toEqual([3, 7, 8, 10]);
    }
  });

  it('have the same values and numbers with few quotes, wherever the chunks end', async () => {
    const input = `${header}u1,x\r\n\nu2,"a\n""b"\ru3,y\n"u4",""\n\nu5,z\nu6,"\r\n"\nu7,"`;
    const whole = await readRows(csv(), `${input}"`);
    expect(whole.map(({ line, cells }) => [line, ...cells])).toEqual([
      [2, 'u1', 'x'],
      [4, 'u2', 'a\n"b'],
      [6, 'u3', 'y'],
      [7, 'u4', ''],
      [9, 'u5', 'z'],
      [10, 'u6', '\r\n'],
      [12, 'u7', ''],
    ]);
    for (const chunkSize of [1, 2, 3, 5, 8, 13, 21]) {
      const rows = await readRows(csv(), `${input}"`, { chunkSize });
      expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual(
        whole.map(({ line, cells }) => [line, ...cells]),
      );
      expect((await rejection(readRows(csv(), input, { chunkSize }))).message).toMatch(
        /^line 12: /,
      );
    }
  });

  it('survive any cells, cut into any chunks', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', '零', '🙂'),
      maxLength: 6,
    });
    const table = fc.array(
      fc.tuple(fc.string({ minLength: 1, unit: fc.constantFrom('u', '"', '1') }), cell),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 50 }), async (rows, chunkSize) => {
        const text = rows.map((cells) => formatCsvRow(cells, { delimiter: ',' })).join('');
        const read = await readRows(csv(), header + text, { chunkSize });
        expect(read.map(({ cells }) => cells)).toEqual(rows);
        const writtenAgain = read.map((row) => row.format('it, "failed"\nthere')).join('');
        expect(await cellsOf((read[0]?.formatHeader() ?? header) + writtenAgain)).toEqual(rows);
      }),
    );
  });

  it.each([
    ['u1,x\nu2,"y"z\n', 'line 3: text follows the closing quote of a cell'],
    ['u1,x\nu2,y"z\n', 'line 3: a cell that is not quoted contains a quote'],
    ['u1,x\nu2,"y\nu3,z\n', 'line 3: a quote is opened and never closed'],
    ['u1,"\r\n"\r\n\r\n\r\nu2,y"z\r\n', 'line 6: a cell that is not quoted contains a quote'],
    [`u1,x\nu2,${'y'.repeat(17 * 1024 * 1024)}\n`, 'line 3 is longer than 16777216 bytes'],
    [`u1,x\nu2,"${'y\n'.repeat(9 * 1024 * 1024)}`, 'line 3: the row is longer than 16777216 bytes'],
  ])('that are not CSV are refused by line, without their content', async (rows, message) => {
    const error = await rejection(cellsOf(header + rows));
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('yy');
  });

  it('is refused with a formula, and the hint says to write its value', async () => {
    const { hint } = await rejection(cellsOf(`${header}u1,="0138"\n`));
    expect(hint).toContain('A formula such as ="0138" is not a value');
  });

  it('is not read to its end for a quote that is never closed', async () => {
    let megabytes = 0;
    async function* input() {
      yield Buffer.from(`${header}u1,"`);
      for (; megabytes < 64; megabytes += 1) yield Buffer.alloc(1024 * 1024, 'y\n');
    }
    const blocks = toUtf8(input(), { encoding: 'utf-8' });
    const read = async () => {
      for await (const _ of csv()(blocks));
    };
    await expect(read()).rejects.toThrow('the row is longer than');
    expect(megabytes).toBeLessThan(32);
  });
});

describe('the fields of a CSV row', () => {
  async function fieldsIn(text: string, options: Parameters<typeof csv>[0] = {}) {
    const rows = await readRows(csv(options), text);
    return rows.map((row) => Object.fromEntries(row.fields()));
  }

  it('are text, and empty ones are left out unless they are kept', async () => {
    const text = 'union_id,a,b\nu1,,007\n';
    expect(await fieldsIn(text)).toEqual([{ union_id: 'u1', b: '007' }]);
    expect(await fieldsIn(text, { empty: 'keep' })).toEqual([{ union_id: 'u1', a: '', b: '007' }]);
  });

  it('have the types that are declared', async () => {
    const types = new Map([
      ['age', 'number'],
      ['vip', 'boolean'],
    ] as const);
    expect(await fieldsIn('age,vip\n1.00,TRUE\n9007199254740993,false\n', { types })).toEqual([
      { age: new JsonNumber('1.00'), vip: true },
      { age: new JsonNumber('9007199254740993'), vip: false },
    ]);
    for (const row of ['007,true', '1,yes', 'x,true', '1e,true']) {
      const error = await rejection(fieldsIn(`age,vip\n${row}\n`, { types }));
      expect(error.message).toMatch(/^the cell of column "(age|vip)" is/);
    }
    expect((await rejection(fieldsIn('age\n1\n', { types }))).message).toContain(
      'no column is named "vip"',
    );
  });

  it('are those of all rows but of delimiters only, which are counted, and of empty lines', async () => {
    const text = `${header}u1,"x"\n\n""\n,\n\n"",\n, \nu2,\n`;
    for (const [chunkSize, empty] of [
      [65_536, 'drop'],
      [1, 'keep'],
    ] as const) {
      let skipped = 0;
      const countEmpty = (rows: number) => {
        skipped = rows;
      };
      const rows = await readRows(csv({ countEmpty, empty }), text, { chunkSize });
      expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
        [2, 'u1', 'x'],
        [4, ''],
        [8, '', ' '],
        [9, 'u2', ''],
      ]);
      expect(skipped).toBe(2);
    }
  });

  it('are between the delimiter that a first line sets, unless another is given', async () => {
    const readsDelimiter = true;
    const rows = [['u1', 'x,y']];
    expect(await cellsOf('sep=;\r\nunion_id;a\r\nu1;x,y\r\n', { readsDelimiter })).toEqual(rows);
    expect(await cellsOf('Sep=|\nunion_id|a\nu1|x,y', { readsDelimiter, chunkSize: 1 })).toEqual(
      rows,
    );
    expect(await cellsOf('sep=;\nunion_id|a\nu1|x,y', { delimiter: '|' })).toEqual(rows);
    for (const nothing of ['sep=\n', 'sep="\n'])
      expect(await cellsOf(`${nothing}${header}u1,"x,y"`, { readsDelimiter })).toEqual(rows);
    const [row] = await readRows(csv({ readsDelimiter }), 'sep=;\nunion_id;a\nu1;"x;y"\n');
    const failed = `${row?.formatHeader()}${row?.format('why')}`;
    expect(failed).toBe('sep=;\nuserinfo_reason;union_id;a\nwhy;u1;"x;y"\n');
  });

  it('must be as many as the header has', async () => {
    expect((await rejection(fieldsIn('a,b\n1\n'))).message).toBe(
      'the row has 1 cell, the header 2',
    );
    expect((await rejection(fieldsIn('a,b\n1,2,3\n'))).message).toBe(
      'the row has 3 cells, the header 2',
    );
  });

  it.each(['E+10', '1E+1', '1.38E+100', 'a1E+10', '1E10', '1e+10'])(
    'take %s as it is',
    async (cell) => {
      const [row] = await readRows(csv(), `${header}u1,${cell}\n`);
      expect(row?.fields().get('a')).toBe(cell);
    },
  );
});
