import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact, parsePlain } from '../../../src/core/contract/exact-json.js';

/**
 * A decimal as a sign, digits without zeros around them, and an exponent: the same for the same
 * value.
 */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return kept === '' ? '0' : `${sign}${kept}e${power}`;
}

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(0, 20),
    fc.option(digits(1, 20)),
    fc.option(fc.integer({ min: -400, max: 400 })),
  )
  .map(([sign, whole, fraction, exponent]) => {
    const power = exponent === null ? '' : `e${exponent}`;
    return `${sign}${whole.replace(/^0+/, '') || '0'}${fraction === null ? '' : `.${fraction}`}${power}`;
  });

it('a number has the value that was sent: as a number where JavaScript has it, else as the same text', () => {
  fc.assert(
    fc.property(number, fc.constantFrom('', ' ', '\n'), (text, space) => {
      const { value, textPaths } = parsePlain(`{"a":${space}[true,${space}${text}]}`);
      const [, found] = (value as { a: [true, number | string] }).a;
      if (typeof found === 'string') {
        expect([found, textPaths]).toEqual([text, ['a[]']]);
        const rounded = Number(text);
        const isWholeAndLarge = Number.isInteger(rounded) && !Number.isSafeInteger(rounded);
        if (!isWholeAndLarge) expect(decimalOf(String(rounded))).not.toBe(decimalOf(text));
      } else {
        expect([decimalOf(String(found)), textPaths]).toEqual([decimalOf(text), []]);
        expect(!Number.isInteger(found) || Number.isSafeInteger(found)).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

it.each(['9007199254740992', '-9007199254740992', '12345678901234567000', '100000000000000000000'])(
  'a whole number beyond 2^53 is text, also where JavaScript writes it alike: %s',
  (text) => expect(parsePlain(`{"a":${text}}`)).toEqual({ value: { a: text }, textPaths: ['a'] }),
);

it('anything else is what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const json = JSON.stringify(value);
      const { value: found, textPaths } = parsePlain(json);
      if (textPaths.length === 0) expect(found).toEqual(JSON.parse(json));
    }),
  );
  for (const invalid of [
    '',
    '{',
    '{"a":12345678901234567890,}',
    '[0123456789012345678]',
    '{"a":1e999}x',
  ])
    for (const parse of [parsePlain, parseExact]) expect(() => parse(invalid)).toThrow(SyntaxError);
});
