import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { formatCsv } from '../../../src/cli/output/csv.late.js';
import { showData } from '../../../src/cli/output/terminal-text.js';
import { formatYaml } from '../../../src/cli/output/yaml.late.js';
import { parseExact } from '../../../src/core/contract/exact-json.js';

const answer = parseExact(
  `{"union_id":"u001","level":"gold","big":9007199254740993,"cut":1.00,"vip":true,"none":null,
    "basic_info":{"mobile":"013800138000"},"extension_info":{},
    "login_device_info":[{"brand":"A"},{"brand":"B","a.b c":"x"}]}`,
);

/**
 * Text that could be in an answer, with much of what a shell or a reader of YAML takes for its own.
 */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        "'",
        '"',
        '\\',
        '$(touch x)',
        '`id`',
        '$HOME',
        '\n',
        '\r\n',
        '!',
        '~',
        ';',
        '张三',
        ' ',
      ),
      fc.constantFrom(
        'yes',
        'no',
        'null',
        '1e3',
        '0o7',
        '12:30',
        '- a',
        '#',
        '? x',
        '&a',
        '*a',
        '!!int',
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join('').replaceAll('\0', '').toWellFormed());

describe('yaml', () => {
  it('shows nested data, and numbers as written', () => {
    expect(formatYaml(answer)).toBe(
      `union_id: u001
level: gold
big: 9007199254740993
cut: 1.00
vip: true
none: null
basic_info:
  mobile: "013800138000"
extension_info: {}
login_device_info:
  - brand: A
  - brand: B
    a.b c: x
`,
    );
  });

  it('is parsed back unchanged, by YAML 1.1 and 1.2', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text), fc.boolean())), (data) => {
        const yaml = formatYaml(data);
        for (const version of ['1.1', '1.2'] as const)
          expect(parseYaml(yaml, { version })).toEqual({ ...data });
      }),
    );
  });
});

describe('csv', () => {
  it('has a column for every value, named like a query for it', () => {
    expect(formatCsv(answer)).toBe(
      'union_id,level,big,cut,vip,none,basic_info.mobile,login_device_info[0].brand,login_device_info[1].brand,' +
        '"login_device_info[1].""a.b c"""\n' +
        'u001,gold,9007199254740993,1.00,true,,013800138000,A,B,x\n',
    );
  });

  it('has a row per item, and no header if items have no names', () => {
    expect(formatCsv([{ a: 1 }, { b: 'x', a: null }])).toBe('a,b\n1,\n,x\n');
    expect(formatCsv([['a', 1], ['b']])).toBe('a,1\nb\n');
    expect(formatCsv(['a', 'b,c'])).toBe('a\n"b,c"\n');
    expect(formatCsv('a')).toBe('a\n');
    expect(formatCsv([])).toBe('');
    expect(formatCsv({})).toBe('');
  });

  it('is parsed back unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ a: text, b: text }), { minLength: 1 }), (rows) => {
        expect(parseCsv(formatCsv(rows), { columns: true, record_delimiter: '\n' })).toEqual(rows);
      }),
    );
  });
});

describe('on a terminal', () => {
  const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

  it('no format contains control characters, whatever the data', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text))), (data) => {
        expect(showData(formatCsv(data))).not.toMatch(acting);
        expect(formatYaml(data)).not.toMatch(acting);
        expect(showData(JSON.stringify(data, null, 2))).not.toMatch(acting);
      }),
    );
  });

  it('JSON keeps its meaning', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (data) => {
        expect(JSON.parse(showData(JSON.stringify(data, null, 2)))).toEqual({ ...data });
      }),
    );
  });
});

describe('JSON that is parsed for output', () => {
  const parsed = (json: string) => JSON.parse(stringify(parseExact(json)) ?? '');

  it('is what JSON.parse makes of it, white space, escapes and duplicate keys included', () => {
    const space = fc.constantFrom('', ' ', '\t', '\r\n');
    fc.assert(
      fc.property(fc.jsonValue(), space, (value, gap) => {
        const json = JSON.stringify(value, null, gap);
        expect(parsed(`${gap}${json}${gap}`)).toEqual(JSON.parse(json));
      }),
    );
    for (const json of [
      '{"a":1,"b":{},"\\u0061":[]}',
      '{"__proto__":{"a":"\\\\"},"":"\\""}',
      '[[],{},null,"",true]',
    ])
      expect(Object.entries(parseExact(json) as object)).toEqual(Object.entries(JSON.parse(json)));
  });

  it.each(['1.0', '1e5', '-0', '9007199254740993', '0.10', '1E400', '12345678901234567890'])(
    'keeps the digits of %s',
    (number) => expect(stringify(parseExact(`{"n": [${number}]}`))).toBe(`{"n":[${number}]}`),
  );
});
