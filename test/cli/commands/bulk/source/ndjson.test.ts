import { describe, expect, it } from 'vitest';
import { NdjsonRow } from '../../../../../src/cli/commands/bulk/source/ndjson.js';
import { JsonNumber } from '../../../../../src/core/contract/user-info.js';
import { ndjson, readRows } from '../../../../support/read-rows.js';

describe('NDJSON rows', () => {
  it('are the lines that are not blank, each with its number', async () => {
    const text = '{"a":1}\r\n\n  \n{"a":"x\\ny"}\n{"a":null}';
    for (const chunkSize of [1, 65_536]) {
      const rows = await readRows(ndjson(), text, { chunkSize });
      expect(rows.map(({ line, json }) => [line, json])).toEqual([
        [1, '{"a":1}'],
        [4, '{"a":"x\\ny"}'],
        [5, '{"a":null}'],
      ]);
    }
  });

  it('keep numbers as written, and report what is wrong with a row', () => {
    const fields = (json: string) => new NdjsonRow(1, json).fields();
    expect(fields('{"id":9007199254740993,"n":1.00,"b":true,"z":null}')).toEqual(
      new Map<string, unknown>([
        ['id', new JsonNumber('9007199254740993')],
        ['n', new JsonNumber('1.00')],
        ['b', true],
        ['z', null],
      ]),
    );
    expect(fields('{"userinfo_reason":"why","a":"x"}')).toEqual(new Map([['a', 'x']]));
    expect(() => fields('{"a":{}}')).toThrow('key "a" holds an object: one level only');
    expect(() => fields('[1]')).toThrow('the row is an array');
    expect(() => fields('{"a":1,"a":2}')).toThrow('twice');
    expect(() => fields('x')).toThrow('the row is not a JSON object');
  });
});
