import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encoders } from '../../../src/core/signing/encodings.js';

const anyText = fc.string({ unit: 'binary' });
const wellFormed = (text: string) => Buffer.from(text).toString();
const every = "AZaz09-_.~!*'() +&=/%中";

test('form is what URLSearchParams writes', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(encoders.form(text)).toBe(new URLSearchParams([['', text]]).toString().slice(1));
    }),
  );
});

test.each([
  ['rfc3986', /^(?:[\w.~-]|%[\dA-F]{2})*$/],
  ['form-dotnet', /^(?:[\w.!*()+-]|%[\da-f]{2})*$/],
] as const)('%s escapes everything but its characters, and can be undone', (name, form) => {
  fc.assert(
    fc.property(anyText, (text) => {
      const encoded = encoders[name](text);
      expect(encoded).toMatch(form);
      expect(decodeURIComponent(encoded.replaceAll('+', '%20'))).toBe(wellFormed(text));
    }),
  );
});

test('the encodings part where platforms part', () => {
  expect(encoders.form(every)).toBe('AZaz09-_.%7E%21*%27%28%29+%2B%26%3D%2F%25%E4%B8%AD');
  expect(encoders['form-dotnet'](every)).toBe('AZaz09-_.%7e!*%27()+%2b%26%3d%2f%25%e4%b8%ad');
  expect(encoders.rfc3986(every)).toBe('AZaz09-_.~%21%2A%27%28%29%20%2B%26%3D%2F%25%E4%B8%AD');
});

test('an encoded text is its encoded characters, so that it may be encoded stretch by stretch', () => {
  fc.assert(
    fc.property(fc.constantFrom('form', 'form-dotnet', 'rfc3986'), anyText, (name, text) => {
      const encode = encoders[name];
      expect(encode(text)).toBe([...text].map(encode).join(''));
    }),
  );
});
