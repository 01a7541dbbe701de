import { PassThrough } from 'node:stream';
import { Chalk } from 'chalk';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it, vi } from 'vitest';
import { outputFormats } from '../../../src/cli/command-line/options.js';
import {
  formatDataTable,
  formatEnvelopeTable,
  timeInWords,
} from '../../../src/cli/output/data-table.late.js';
import { formatTable } from '../../../src/cli/output/table.js';
import { showText } from '../../../src/cli/output/terminal-text.js';
import { printAnswer } from '../../../src/cli/request/call-service.js';

const plain = { colors: new Chalk({ level: 0 }), columns: undefined };
const table = (data: unknown, columns?: number) =>
  formatEnvelopeTable(JSON.stringify({ code: 200, msg: 'ok', data }), { ...plain, columns });

/**
 * The widths of the frames: in a table that lines up, each line between two rules is as wide as
 * they are.
 */
function widths(text: string): number[] {
  return text
    .split('\n')
    .filter((line) => /^[┌│├└]/.test(line))
    .map((line) => stringWidth(line));
}

it('a record that lacks a field has an empty cell, also for the name of a member of every object', () => {
  const records: object[] = [{ constructor: 'x' }, { a: 'y' }];
  expect(formatDataTable(records, plain)).toContain('│             │ y │');
  expect(table({ list: records })).toContain('│             │ y │');
});

describe('the table of an envelope', () => {
  it('shows code and msg, then each section of data', () => {
    const shown = table({
      union_id: 'u001',
      basic_info: { mobile: '13800138000', chat_nickname: '张三' },
      extension_info: {},
      login_device_info: [
        { brand: 'A', os: 'B' },
        { brand: 'C', os: '' },
      ],
    });
    expect(shown).toMatchInlineSnapshot(`
      "200 ok
      data
      ┌──────────┬──────┐
      │ union_id │ u001 │
      └──────────┴──────┘

      basic_info
      ┌───────────────┬─────────────┐
      │ mobile        │ 13800138000 │
      │ chat_nickname │ 张三        │
      └───────────────┴─────────────┘

      extension_info
      (none)

      login_device_info
      ┌───────┬────┐
      │ brand │ os │
      ├───────┼────┤
      │ A     │ B  │
      │ C     │    │
      └───────┴────┘
      "
    `);
  });

  it('decodes the JSON-encoded strings of device_info and location_info', () => {
    const shown = table({
      device_info: ['{"brand":"A","os":""}'],
      location_info: ['{"city":"杭州"}', 'not JSON'],
    });
    expect(shown).toMatch(/│ brand │ os │\n.*\n│ A +│/);
    expect(shown).toMatch(/│ {"city":"杭州"} │\n│ not JSON +│/);
  });

  it('shows numbers as written', () => {
    const body = '{"code":200,"msg":"ok","data":{"n":9007199254740993,"m":1.00}}';
    expect(formatEnvelopeTable(body, plain)).toContain('9007199254740993');
    expect(formatEnvelopeTable(body, plain)).toContain('1.00');
  });

  it('is aligned in every script and terminal width', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('张三李四', 'ﾊﾝｶｸ', '한국어', 'ไทย', '👩‍👩‍👧'),
    );
    const value = fc.array(word).map((words) => words.join(''));
    fc.assert(
      fc.property(
        fc.dictionary(value, value, { minKeys: 1 }),
        fc.integer({ min: 60, max: 120 }),
        (data, columns) => {
          const found = widths(table(data, columns));
          expect(new Set(found).size).toBe(1);
          expect(found[0]).toBeLessThanOrEqual(columns);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('wraps long values without losing a character', () => {
    const long = '张三https://example.com/'.repeat(20);
    const shown = table({ avatar: long }, 60);
    expect(Math.max(...widths(shown))).toBeLessThanOrEqual(60);
    expect(
      shown
        .split('\n')
        .map((line) => /│[^│]*│ (.*?) *│$/.exec(line)?.[1] ?? '')
        .join(''),
    ).toContain(long);
  });
});

describe('a table of several columns', () => {
  const profile = {
    name: 'shop-test',
    environment: 'test',
    base_url: 'https://deployment.of-the-platform.example.com:8443/gateway',
    tenant_code: 'acme',
    channel: 'web',
    app_key: 'app_2f3c68aa10bc',
  };

  it('fits the terminal: the widest columns shrink, and nothing is lost', () => {
    const shown = formatDataTable([profile, { ...profile, name: '店铺' }], {
      ...plain,
      columns: 80,
    });
    expect(new Set(widths(shown))).toEqual(new Set([80]));
    const lines = shown.split('\n').filter((line) => line.startsWith('│'));
    const columns = [0, 1, 2, 3, 4, 5].map((column) =>
      lines.map((line) => (line.split('│')[column + 1] ?? '').trim()).join(''),
    );
    for (const value of Object.values(profile)) expect(columns.join('\n')).toContain(value);
  });

  it('is not narrowed without a terminal', () => {
    expect(widths(formatDataTable([profile, profile], plain))[0]).toBeGreaterThan(80);
  });

  it('becomes a block for each record where its headings alone are wider', () => {
    const shown = formatDataTable([profile, { ...profile, name: '' }], { ...plain, columns: 40 });
    expect(widths(shown)[0]).toBe(40);
    expect(new Set(widths(shown))).toEqual(new Set([40]));
    expect(shown.match(/app_key/g)).toHaveLength(2);
    expect(shown.match(/│ name /g)).toHaveLength(1);
  });

  it('breaks at spaces', () => {
    const shown = formatDataTable(
      { hint: 'the authorization code is used up: issue another' },
      { ...plain, columns: 40 },
    );
    expect(shown).toContain('│ the authorization code is │');
  });

  it('gives each column of a record 10 characters, or becomes a table for each record', () => {
    const head = ['a', 'b', 'c'];
    const row = head.map(() => 'x'.repeat(30));
    const narrowest = formatTable([row], 40, head);
    expect(narrowest.split('\n')[1]).toBe(`│ ${head.map((name) => name.padEnd(10)).join(' │ ')} │`);
    expect(formatTable([row], 39, head)).toMatch(/^┌───┬─+┐\n│ a │ x+ /);
  });
});

describe('a time to come', () => {
  it('is in days, hours, minutes or seconds: the largest unit of which there are two', () => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    try {
      const shown = [119, 120, 7_199, 7_200, 172_799, 172_800, 1].map((s) =>
        timeInWords(1_700_000_000 + s),
      );
      expect(shown.join()).toBe('in 119 s,in 2 min,in 120 min,in 2 h,in 48 h,in 2 days,in 1 s');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a very large answer', () => {
  const many = (count: number, value: (index: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value(index)]));

  it.each([
    ['a long text', { x: 'a b'.repeat(1e6) }, /… \(2,991,808 more/],
    ['a long key', { ['k'.repeat(1e6)]: 'x' }, /… \(991,808 more/],
    ['many keys', many(5e3, String), '… rows left out: 3,000; -o json prints everything'],
    ['many long texts', many(100, () => 'x'.repeat(8000)), '… rows left out: 82; '],
    ['many sections', many(5e3, (index) => ({ index })), /… sections left out: \d,\d{3}; /],
    ['devices', { login_device_info: Array(1e4).fill({ os: 'x' }) }, '… rows left out: 8,000; '],
    ['devices of many keys', { l: [many(5e3, String)] }, '… columns left out: 4,950; '],
    ['wide devices', { l: Array(500).fill(many(50, () => 'x'.repeat(20))) }, '… rows left out: 3'],
    ['encoded JSON', { device_info: Array(1e4).fill('{"os":"x"}') }, '… rows left out: 8,000; '],
  ])(
    'with %s is shown as far as a person can read, with the count of the rest',
    (_, data, note) => {
      const shown = table(data, 80);
      expect(shown.length).toBeLessThan(1_000_000);
      const text = shown.replaceAll(/ *│\n│ *│ /g, ' ');
      expect([text.slice(-200), text.search(note) >= 0]).toEqual([text.slice(-200), true]);
    },
  );

  it('of a list is truncated likewise', () => {
    const style = { ...plain, columns: 80 };
    expect(formatDataTable(Array(1e4).fill({ a: 1 }), style)).toContain('… rows left out: 8,000; ');
    expect(formatDataTable([many(1e4, String)], style)).toContain('… columns left out: 9,950; ');
    expect(formatDataTable(Array(1e4).fill('x'), style)).toContain('… rows left out: 8,000; ');
    expect(formatDataTable([Array(1e4).fill('x')], style)).toContain('… columns left out: 9,950; ');
  });
});

/** They print the bytes of the answer. */
const asReceived: readonly string[] = ['json', 'ndjson'];

it.each(outputFormats.filter((format) => !asReceived.includes(format)))(
  'an answer that cannot be shown as %s is printed all the same, before the fault is thrown',
  async (format) => {
    const body = `{"code":200,"msg":"ok","data":{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const [stdout, stderr] = [1, 2].map(() => new PassThrough({ highWaterMark: 100_000 })) as [
      PassThrough,
      PassThrough,
    ];
    const io = { stdin: new PassThrough(), stdout, stderr, env: {} };
    const envelope = { code: 200, msg: 'ok', data: {} };
    const answer = {
      envelope,
      data: {},
      body: Buffer.from(body),
      httpStatus: 200,
      headers: {},
      date: undefined,
      requestId: '',
      attempts: 1,
      warnings: [],
    };
    await expect(printAnswer(answer, io, { format, ...plain })).rejects.toThrow(RangeError);
    expect(stdout.read()?.toString()).toBe(`${body}\n`);
    expect(stderr.read()?.toString()).toContain(`warning: the answer cannot be shown as ${format}`);
  },
);

describe('text from the network', () => {
  it('never reaches the terminal with a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(showText(text)).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('reports what was left out', () => {
    expect(showText('a\u001b[31mb\n\u202ec\u0007')).toBe('a\\u001b[31mb\\n\\u202ec\\u0007');
  });
});
