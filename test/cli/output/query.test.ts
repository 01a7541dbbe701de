import { stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { compileQuery } from '../../../src/cli/output/query.late.js';
import { parseExact } from '../../../src/core/contract/exact-json.js';

/** What a query selects of a JSON text, as JSON text. */
const select = (json: string, expression: string) =>
  stringify(compileQuery(expression)(parseExact(json)));

const users =
  '[{"id":9007199254740993,"n":10,"s":"b"},{"id":1.00,"n":9,"s":"c"},{"id":-0.5e3,"n":1,"s":"a"}]';

describe('a query', () => {
  it.each([
    ['[].id', '["9007199254740993",1,-500]'],
    ['[].{id: id}[0]', '{"id":"9007199254740993"}'],
    ['max_by(@, &n).s', '"b"'],
    ['to_string([1].id)', '"1"'],
    ["to_number('9007199254740993')", '9007199254740992'],
    ['let $top = [0].id in $top', '"9007199254740993"'],
  ])(
    '%s has numbers as JavaScript has them, those that it cannot hold as text',
    (expression, expected) => {
      expect(select(users, expression)).toBe(expected);
    },
  );

  it.each([
    ['[?n > `9`].s', '["b"]'],
    ['[?id == `1`].s', '["c"]'],
    ['[?id >= `-500` && id <= `1`].s', '["c","a"]'],
    ['[?!(id < `0`)].s', '["b","c"]'],
    ['[1].id + `1`', '2'],
    ['-[1].id', '-1'],
    ['sum([].n)', '20'],
    ['abs([2].id)', '500'],
    ['type([1].id)', '"number"'],
    ['contains([].id, `1`)', 'true'],
    ['length(@)', '3'],
    ['[1].{a: id} == `{"a": 1}`', 'true'],
  ])('%s computes and compares with them as numbers', (expression, expected) => {
    expect(select(users, expression)).toBe(expected);
  });

  it.each([
    ['sort([].n)', '[1,9,10]'],
    ['max_by(@, &s).n', '9'],
    ['min_by(@, &s).n', '1'],
    ['max([].s)', '"c"'],
    ['max(`[]`)', 'null'],
    ['group_by(@, &s).a[0].n', '1'],
    ['[*].s | [0]', '"b"'],
    ['[1].*', '[1,9,"c"]'],
    ['[0].*.*', '[]'],
    ['[0].id.value', 'null'],
    ['constructor', 'null'],
    ['[0].constructor', 'null'],
    ['[0].id.toString', 'null'],
    ['"__proto__"', 'null'],
  ])('%s means what JMESPath says', (expression, expected) => {
    expect(select(users, expression)).toBe(expected);
  });

  it.each([
    ['', 'Syntax error'],
    ['data.[', 'Syntax error'],
    ['data.mobile)', 'Syntax error'],
    ['upcase(msg)', 'there is no function upcase()'],
    ['@field(@)', 'Syntax error'],
  ])('%j is refused before there is any data', (expression, said) => {
    expect(() => compileQuery(expression)).toThrow(said);
  });

  it.each([['length(code)'], ['max(code)'], ['sort_by(@)'], ['sort(@, &code)'], ['to_string()']])(
    '%s says that it does not suit the data',
    (expression) => {
      expect(() => select('{"code":200}', expression)).toThrow('--query does not suit the data');
    },
  );
});
