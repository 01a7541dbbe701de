import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findEncoding } from '../../../../../src/cli/commands/bulk/source/text.js';
import { cellsOf } from '../../../../support/read-rows.js';
import { rejection } from '../../../../support/rejection.js';

/** 用户,张三 and 𠮷 in GB18030: two and four bytes a character. */
const gb18030 = Buffer.concat([
  Buffer.from('union_id,name\n'),
  Buffer.from([0xd3, 0xc3, 0xbb, 0xa7, 0x2c, 0xd5, 0xc5, 0xc8, 0xfd, 0x0a]),
  Buffer.from([0x75, 0x32, 0x2c, 0x95, 0x34, 0xb2, 0x35, 0x0a]),
]);
const decoded = [
  ['用户', '张三'],
  ['u2', '𠮷'],
];

describe('text', () => {
  it.each([1, 2, 3, 65_536])(
    'in GB18030 is decoded, whatever chunks it comes in (%i bytes)',
    async (chunkSize) => {
      const text = { encoding: 'gb18030' };
      expect(await cellsOf(gb18030, { text, chunkSize })).toEqual(decoded);
    },
  );

  it('has the encoding of its byte-order mark, whatever option is set', async () => {
    const content = '\ufeffunion_id,name\n用户,张三\nu2,𠮷\n';
    const text = { encoding: 'gb18030' };
    const utf16be = Buffer.from(content, 'utf16le').swap16();
    for (const bytes of [Buffer.from(content), Buffer.from(content, 'utf16le'), utf16be]) {
      expect(await cellsOf(bytes, { text, chunkSize: 5 })).toEqual(decoded);
    }
  });

  it.each(['big5', 'shift_jis', 'euc-kr', 'windows-1252', 'iso-8859-2'])(
    'can be in %s',
    async (encoding) => {
      const bytes = Buffer.from([...Buffer.from('union_id,name\nu1,'), 0xa4, 0xa4, 0x0a]);
      const [cells] = await cellsOf(bytes, { text: { encoding } });
      expect(cells?.[1]).toBe(new TextDecoder(encoding).decode(Buffer.from([0xa4, 0xa4])));
    },
  );

  // The tables of the Encoding Standard; Node.js 20 has ISO 8859-1 for both.
  it.each(['windows-1252', 'iso-8859-1'])(
    'can be in %s, with its quotes and signs',
    async (label) => {
      const encoding = findEncoding(label);
      const bytes = Buffer.from([
        ...Buffer.from('union_id,name\nu1,'),
        0x80,
        0x91,
        0x92,
        0x99,
        0x9c,
        0xe9,
        0x0a,
      ]);
      const [cells] = await cellsOf(bytes, { text: { encoding } });
      expect(cells?.[1]).toBe('€‘’™œé');
    },
  );

  it.each([
    ['big5', [0xc6, 0xe7]],
    ['gb18030', [0xaa, 0xa1]],
  ])(
    'in %s is refused if a character has no meaning outside of the program that wrote it',
    async (encoding, code) => {
      const bytes = Buffer.from([...Buffer.from('union_id,name\nu1,'), ...code, 0x0a]);
      const error = await rejection(cellsOf(bytes, { text: { encoding } }));
      expect(error.message).toBe(`line 2 is not text in ${encoding}`);
      expect(error.hint).toContain('convert the file to UTF-8');
    },
  );

  it('that is no valid UTF-8 is refused by line, with a hint', async () => {
    const error = await rejection(cellsOf(gb18030, { chunkSize: 4 }));
    expect(error.message).toBe('line 2 is not text in utf-8');
    expect(error.hint).toMatch(/--encoding gb18030 .*windows-1252/);
    const late = Buffer.concat([
      Buffer.from(`union_id,name\n${'u1,x\n'.repeat(30_000)}`),
      Buffer.from([0xff, 0x0a]),
    ]);
    expect((await rejection(cellsOf(late))).message).toBe('line 30002 is not text in utf-8');
    const text = { encoding: 'gb18030' };
    expect((await rejection(cellsOf(late, { text }))).message).toBe(
      'line 30002 is not text in gb18030',
    );
  });

  it('in UTF-8 is not accepted as GB18030, which would decode it wrongly without an error', async () => {
    const ours = Buffer.from('union_id,name\nu1,张三\n');
    const error = await rejection(cellsOf(ours, { text: { encoding: 'gb18030' } }));
    expect(error.message).toBe('the input is UTF-8: as gb18030 its text would be stored garbled');
    expect(error.hint).toContain('iconv -f gb18030 -t utf-8');
    const ascii = Buffer.from('union_id,name\nu1,x\n');
    expect(await cellsOf(ascii, { text: { encoding: 'gb18030' } })).toHaveLength(1);
  });

  it('is distinguished from binary data', async () => {
    const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(100)]);
    const { message, hint } = await rejection(cellsOf(zip, { chunkSize: 3 }));
    expect(message).toBe('the input is an Excel workbook or another zip file, not text');
    expect(hint).toContain('CSV UTF-8');
    const noise = Buffer.concat([Buffer.from('a,b\n1,2\n'), Buffer.alloc(1), randomBytes(500)]);
    expect((await rejection(cellsOf(noise))).message).toContain(
      'line 3 holds U+0000: this is not a text file',
    );
  });

  it('that is truncated or damaged gzip is refused', async () => {
    const packed = gzipSync(`union_id,name\n${'u1,x\n'.repeat(10_000)}`);
    expect((await rejection(cellsOf(packed.subarray(0, -20)))).message).toContain(
      'the gzip file ends in the middle',
    );
    packed[40] = (packed[40] ?? 0) ^ 0xff;
    expect((await rejection(cellsOf(packed))).message).toContain('the gzip file is damaged');
  });
});

describe('an encoding', () => {
  it('has all of its standard names', () => {
    expect(findEncoding('GBK')).toBe('gbk');
    expect(findEncoding('utf8')).toBe('utf-8');
    expect(() => findEncoding('klingon')).toThrow('"klingon" is not an encoding');
  });
});
