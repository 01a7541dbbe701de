import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/core/contract/errors.js';
import {
  type FlatValue,
  formatFlatJson,
  JsonNumber,
  parseFlatJson,
} from '../../../src/core/contract/user-info.js';

const plain = (text: string) =>
  [...parseFlatJson(text)].map(([key, value]) => [
    key,
    value instanceof JsonNumber ? value.text : value,
  ]);

const flatValue = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => new JsonNumber(JSON.stringify(n))),
  fc.bigInt().map((n) => new JsonNumber(String(n))),
);
const flatEntries = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), flatValue), {
  selector: ([key]) => key,
});

describe('a flat JSON object', () => {
  it('survives formatting and parsing', () => {
    fc.assert(
      fc.property(flatEntries, (entries) => {
        const flat = new Map<string, FlatValue>(entries);
        expect(parseFlatJson(formatFlatJson(flat))).toEqual(flat);
      }),
    );
  });

  it('agrees with JSON.parse on every flat text it accepts', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())),
        (object) => {
          const text = JSON.stringify(object, null, 1);
          const read = [...parseFlatJson(text)].map(([key, value]) => [
            key,
            value instanceof JsonNumber ? Number(value.text) : value,
          ]);
          expect(Object.fromEntries(read)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it('accepts nothing that JSON.parse refuses', () => {
    const noise = fc.array(
      fc.constantFrom('{', '}', '[', '"', ':', ',', 'a', '1', '-', '.', 'e', ' ', '\\', 'true'),
    );
    fc.assert(
      fc.property(noise, (parts) => {
        const text = `{${parts.join('')}}`;
        let taken = true;
        try {
          parseFlatJson(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError);
          taken = false;
        }
        if (taken) expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 100 },
    );
  });

  it('keeps numbers, key order and unusual keys as written', () => {
    expect(plain('{"b":9007199254740993,"10":1.00,"2":-0,"__proto__":1E+2}')).toEqual([
      ['b', '9007199254740993'],
      ['10', '1.00'],
      ['2', '-0'],
      ['__proto__', '1E+2'],
    ]);
  });

  it('writes non-ASCII characters and slashes unescaped', () => {
    const flat = parseFlatJson('{"name":"\\u5f20\\u4e09\\/\\u674e\\u56db"}');
    expect(formatFlatJson(flat)).toBe('{"name":"张三/李四"}');
  });

  it.each([
    ['{"a":{}}', 'key "a" holds an object'],
    ['{"a":[1]}', 'key "a" holds an array'],
    ['[1]', 'is an array'],
    ['"a"', 'is not a JSON object'],
    ['', 'is not a JSON object'],
    ['{"a":1,"a":1}', 'has the key "a" twice'],
    ['{"a":1}x', 'is not a JSON object'],
    ['{"a":01}', 'is not a JSON object'],
    ['{"a":NaN}', 'is not a JSON object'],
    ['{"a":"b', 'is not a JSON object'],
    ['{"a":1,}', 'is not a JSON object'],
    ['{a:1}', 'is not a JSON object'],
  ])('refuses %s and says why', (text, why) => {
    expect(() => parseFlatJson(text)).toThrow(why);
  });

  it('reads a value of ten million characters', () => {
    const long = 'é\n'.repeat(5_000_000);
    expect(parseFlatJson(JSON.stringify({ long })).get('long')).toBe(long);
  });
});
