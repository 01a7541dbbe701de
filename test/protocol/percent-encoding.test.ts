import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePairs, encodePairs } from '../../src/protocol/percent-encoding.js';

const text = fc.string({ unit: 'grapheme' });
const pairs = fc.array(fc.tuple(text, text));

describe('percent encoding', () => {
  it('is undone by decoding', () => {
    fc.assert(
      fc.property(pairs, (sent) => {
        expect(decodePairs(encodePairs(sent))).toEqual(sent);
      }),
    );
  });

  it("reads the platform's own form encoding, and is read by it", () => {
    fc.assert(
      fc.property(pairs, (sent) => {
        expect(decodePairs(new URLSearchParams(sent).toString())).toEqual(sent);
        expect([...new URLSearchParams(encodePairs(sent))]).toEqual(sent);
      }),
    );
  });

  it('writes nothing but unreserved characters, escapes and separators', () => {
    fc.assert(
      fc.property(pairs, (sent) => {
        expect(encodePairs(sent)).toMatch(/^[\w.~%&=-]*$/);
      }),
    );
  });

  it.each(['a=%', 'a=%zz', 'a=%ff', 'a=%c0%af', 'a=%ed%a0%80'])('reads no value in %s', (broken) => {
    expect(decodePairs(`${broken}&b=c`)).toEqual([
      ['a', null],
      ['b', 'c'],
    ]);
  });

  it('reads no name in %e4%b8=1', () => {
    expect(decodePairs('%e4%b8=1')).toEqual([[null, '1']]);
  });

  it('reads a name without a value, and passes over nothing at all', () => {
    expect(decodePairs('a&&b=&=c')).toEqual([
      ['a', ''],
      ['b', ''],
      ['', 'c'],
    ]);
  });
});
