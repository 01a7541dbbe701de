import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePairs, encodePairs } from '../../../src/core/support/percent-encoding.js';

const text = fc.string({ unit: 'grapheme' });
const pairs = fc.array(fc.tuple(text, text));

describe('percent encoding', () => {
  it('is compatible with URLSearchParams in both directions', () => {
    fc.assert(
      fc.property(pairs, (sent) => {
        expect(decodePairs(new URLSearchParams(sent).toString())).toEqual(sent);
        expect([...new URLSearchParams(encodePairs(sent))]).toEqual(sent);
      }),
    );
  });

  it.each(['a=%', 'a=%zz', 'a=%ff', 'a=%c0%af', 'a=%ed%a0%80'])(
    'rejects the value of %s',
    (broken) => {
      expect(decodePairs(`${broken}&b=c`)).toEqual([
        ['a', null],
        ['b', 'c'],
      ]);
    },
  );

  it('rejects a name, reads one without a value, and skips empty pairs', () => {
    expect(decodePairs('%e4%b8=1&a&&b=&=c')).toEqual([
      [null, '1'],
      ['a', ''],
      ['b', ''],
      ['', 'c'],
    ]);
  });
});
