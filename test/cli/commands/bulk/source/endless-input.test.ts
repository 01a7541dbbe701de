import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { passbackOperation } from '../../../../../src/cli/commands/bulk/operations.js';
import { checkColumns } from '../../../../../src/cli/commands/bulk/source/columns.js';
import { decompress } from '../../../../../src/cli/commands/bulk/source/input.js';
import type { FileRow } from '../../../../../src/cli/commands/bulk/source/rows.js';
import { toUtf8 } from '../../../../../src/cli/commands/bulk/source/text.js';
import { InvalidInputError } from '../../../../../src/core/contract/errors.js';
import { csv, ndjson } from '../../../../support/read-rows.js';

const operation = passbackOperation({ by: 'union_id', column: 'union_id' });
const types = new Map([['n', 'number'] as const]);
const formats = {
  csv: csv({ checkColumns: (columns) => checkColumns(columns, operation.columns) }),
  ndjson: ndjson(),
};
type Parse = (typeof formats)[keyof typeof formats];
const typed = csv({ types });

/** Texts without an end, of which a piece is repeated. */
const pieces: readonly (readonly [name: string, start: string, piece: string, end?: string])[] = [
  ['a line', '', 'a'],
  ['a header of names', 'union_id', ',c'],
  ['a header without names', 'union_id', ','],
  ['a header of spaces', 'union_id,', ' '],
  ['a header of equal names', 'union_id', ',a'],
  ['a cell', 'union_id,a\nu1,', 'x'],
  ['a cell of spaces', 'union_id,a\nu1,', ' '],
  ['a cell of digits', 'union_id,n\nu1,', '1'],
  ['a number', 'union_id,n\nu1,1.', '0'],
  ['a cell of quotes', 'union_id,a\nu1,"', '""'],
  ['quotes', 'union_id,a\n', '"'],
  ['quoted cells', 'union_id,a\nu1,', '"a",'],
  ['quotes in cells', 'union_id,a\n', 'u1,a"b\n'],
  ['a quote that is not closed', 'union_id,a\nu1,"', 'x\n'],
  ['a row of empty cells', 'union_id,a\nu1,b', ','],
  ['rows of one cell', 'union_id,a\n', 'u\n'],
  ['empty lines', 'union_id,a\n', '\n'],
  ['empty lines of CRLF', 'union_id,a\n', '\r\n'],
  ['lines of CR', 'union_id,a\r', 'u1,b\r'],
  ['CR', 'union_id,a\nu1,b', '\r'],
  ['CR after a quoted cell', 'union_id,a\nu1,"b"', '\r'],
  ['lines of CRCRLF', 'union_id,a\n', 'u1,b\r\r\n'],
  ['lines of spaces', '', '   \n'],
  ['sep lines', '', 'sep=;\n'],
  ['a sep line', 'sep=', ';'],
  ['commas after sep', 'sep=,', ','],
  ['rows of line breaks', 'union_id,a\n', 'u1,"\n\n\r\n"\n'],
  ['byte-order marks', '', '\ufeff'],
  ['NUL', 'union_id,a\nu1,', '\0'],
  ['brackets', '', '['],
  ['braces', '', '{"a":'],
  ['an object of keys', '{"union_id":"u1"', ',"a":1'],
  ['a text of JSON', '{"union_id":"u1","a":"', 'x'],
  ['escapes of JSON', '{"union_id":"u1","a":"', '\\u0041'],
  ['backslashes of JSON', '{"union_id":"u1","a":"', '\\\\'],
  ['white space of JSON', '{"union_id":"u1"', ' ', ',"a":1}\n'],
  ['digits of JSON', '{"union_id":"u1","a":', '9', '}\n'],
  ['an array of JSON', '{"union_id":"u1","a":[', '1,', '1]}\n'],
  ['objects of JSON', '', '{"union_id":"u1","a":1}\n'],
  ['objects that are invalid', '', '{"union_id":"u1","a":{"b":1}}\n'],
  ['a user of JSON', '{"a":1,"union_id":"', 'u', '"}\n'],
  ['Chinese', 'union_id,a\nu1,', '张'],
  ['the same user', 'union_id,a\n', 'u1,x\n'],
];

/** What comes of an input: its rows, or why it is refused. */
async function read(
  parse: Parse,
  bytes: Buffer,
): Promise<{ rows: number; refused: string | null }> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  }
  let rows = 0;
  const judge = (row: FileRow) => {
    rows += 1;
    try {
      operation.prepare(row.fields());
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
    }
    row.format('why');
  };
  try {
    const lines = toUtf8(decompress(chunks()), { encoding: 'utf-8' });
    for await (const batch of parse(lines)) batch.forEach(judge);
    return { rows, refused: null };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { rows, refused: error.message };
  }
}

/** In bytes. */
const size = 64 * 1024;

function endless(start: string, piece: string, end = ''): Buffer {
  return Buffer.from(start + piece.repeat(Math.ceil(size / Buffer.byteLength(piece))) + end);
}

/** The milliseconds of CPU of the work. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Of as many bytes with as many rows as there can be, each of which is refused. */
let refusedRowsMs = 0;
beforeAll(async () => {
  refusedRowsMs = await cpuMs(() => read(formats.csv, endless('union_id,a\n', 'u\n')));
});

describe.each(Object.entries(formats))(
  'an input without an end, as %s, is read or refused',
  (_, parse) => {
    it.each(pieces)('%s', async (_name, start = '', piece = '', end = '') => {
      const input = endless(start, piece, end);
      const isTyped = parse === formats.csv && start.startsWith('union_id,n');
      const most = 3 * refusedRowsMs;
      // What takes more than its time does so each time.
      for (let time = 1, ms = most; ms >= most; time += 1) {
        expect(time).toBeLessThan(4);
        ms = await cpuMs(async () => {
          const { refused } = await read(isTyped ? typed : parse, input);
          // Nothing of a value is shown.
          expect(refused ?? '').not.toMatch(/x{50}|u{50}|1{50}/);
        });
      }
    });
  },
);

describe('an input that is larger than any row', () => {
  const longest = 16 * 1024 * 1024;
  const columns = Array.from({ length: 50_000 }, (_, i) => `c${i}`).join();
  const long = Buffer.alloc(longest + 100_000, 'a');
  const cases: readonly (readonly [
    name: string,
    parse: Parse,
    bytes: () => Buffer,
    refused: string | null,
  ])[] = [
    ['one line', formats.ndjson, () => long, 'line 1 is longer than 16777216 bytes'],
    [
      'one cell',
      formats.csv,
      () => Buffer.concat([Buffer.from('union_id,a\nu1,'), long]),
      'line 2 is longer than',
    ],
    [
      'a quote that is not closed',
      formats.csv,
      () => Buffer.from(`union_id,a\nu1,"${'x\n'.repeat(longest / 2 + 50_000)}`),
      'the row is longer than 16777216 bytes; is a quote never closed?',
    ],
    ['packed', formats.csv, () => gzipSync(Buffer.alloc(50_000_000, 'a')), 'line 1 is longer than'],
    [
      'packed twice',
      formats.csv,
      () => gzipSync(gzipSync(Buffer.alloc(1_000_000, 'a'))),
      'line 1 ',
    ],
    [
      '50,000 columns',
      formats.csv,
      () => Buffer.from(`union_id,${columns}\nu1,${columns}\n`),
      null,
    ],
  ];

  it.each(cases)('is refused, in little memory: %s', async (_, parse, bytes, refused) => {
    const input = bytes();
    const before = process.memoryUsage().rss;
    const found = await read(parse, input);
    if (refused === null) expect(found).toEqual({ rows: 1, refused });
    else expect(found.refused).toContain(refused);
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(500);
  });
});
