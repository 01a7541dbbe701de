import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { platformRefusal } from '../../../src/core/contract/result-code-table.js';
import { resultCode } from '../../../src/core/contract/result-codes.js';
import {
  defaultPlatform,
  formatPlatform,
  type PlatformFile,
  parsePlatform,
  platformFields,
} from '../../../src/core/platform/platform.js';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { parseRecipe } from '../../../src/core/signing/recipe-json.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { anyPlatform } from '../../support/random-platform.js';

const page = readFileSync('docs/platform.md', 'utf8');
const schema = JSON.parse(readFileSync('docs/platform.schema.json', 'utf8'));
const valid = new Ajv2020({ strict: false }).compile(schema);

describe('a platform file', () => {
  it('is taken by the parser and by the schema, and comes back from its short form', () => {
    fc.assert(
      fc.property(anyPlatform, (file) => {
        expect(valid(JSON.parse(JSON.stringify(file)))).toBe(true);
        const platform = parsePlatform(file, 'the file');
        const short = JSON.parse(JSON.stringify(formatPlatform(platform)));
        expect(valid(short)).toBe(true);
        expect(parsePlatform(short, 'the file')).toEqual(platform);
      }),
    );
  });

  it('with a wrong value is refused by both, which name the field', () => {
    const wrong = [null, 'x', '', -1, 0.5, true, [], [''], {}, { x: 1 }, 'OMIT', '200', 1e9];
    const names = Object.keys(platformFields).filter(
      (name) => !['signing', 'result_codes', 'headers'].includes(name),
    );
    for (const name of names) {
      for (const value of wrong) {
        const file = { [name]: value };
        let message = '';
        try {
          parsePlatform(file, 'it');
        } catch (error) {
          message = (error as Error).message;
        }
        expect([file, valid(file)]).toEqual([file, message === '']);
        if (message !== '') expect(message).toContain(`it: ${name}`);
      }
    }
    expect(() => parsePlatform({ scope: 'x' }, 'it')).toThrow('it has the unknown field "scope"');
    expect(() => parsePlatform([], 'it')).toThrow('it is not an object');
  });

  it.each([
    ['headers', (count: number) => Array.from({ length: count }, (_, i) => `X-${i}`), 64],
    [
      'result_codes',
      (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [1000 + i, 'tooManyRequests'])),
      1000,
    ],
  ])('has a limited number of %s', (name, make, most) => {
    expect(() => parsePlatform({ [name]: make(most) }, 'it')).not.toThrow();
    expect(() => parsePlatform({ [name]: make(most + 1) }, 'it')).toThrow(
      `it: ${name} has more than ${most}`,
    );
  });

  it('is empty for the defaults, which are those of the page', () => {
    expect(formatPlatform(parsePlatform({}, 'it'))).toEqual({});
    expect(formatPlatform(defaultPlatform)).toEqual({});
    const given = JSON.parse(JSON.stringify({ ...defaultPlatform, signing: {} }));
    expect(formatPlatform(parsePlatform(given, 'it'))).toEqual({});
    const rows = [...page.matchAll(/^\| `(\w+)` \| (?:`(.*?)`|the default recipes) \|/gm)];
    const shown = Object.entries(platformFields).map(([name, { default: usual }]) => [
      name,
      name === 'signing' ? undefined : JSON.stringify(usual),
    ]);
    expect(rows.map(([, name, usual]) => [name, usual])).toEqual(shown);
  });

  it('has its fields and their defaults in the schema', () => {
    const { $schema, signing, ...properties } = schema.properties;
    const defaults = Object.entries(properties).map(([name, field]) => [
      name,
      (field as { default: unknown }).default,
    ]);
    expect(['signing', ...Object.keys(properties)]).toEqual(Object.keys(platformFields));
    expect({ ...Object.fromEntries(defaults), signing: defaultPlatform.signing }).toEqual(
      defaultPlatform,
    );
  });

  it('of the page is valid', () => {
    const files = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) =>
      JSON.parse(json),
    );
    expect(files).toHaveLength(3);
    for (const [index, file] of files.entries()) {
      const whole: PlatformFile = index === 1 ? { result_codes: file } : file;
      expect(() => parsePlatform(whole, 'it')).not.toThrow();
      expect(valid(whole)).toBe(true);
    }
  });

  it('names headers that are sent, which no recipe signs', () => {
    const sign = { message: ['$extra:X-Date', '$secret'], steps: ['hmac-md5'] };
    const file = { signing: { sign }, headers: ['X-Date'] };
    expect(() => parsePlatform(file, 'it')).toThrow(
      'it: signing: sign.message[0]: unknown token $extra:X-Date',
    );
  });
});

it('every refusal has one code on a platform: its first with that meaning, else ours', () => {
  const codes = {
    7: 'noSuchUser',
    8: 'noSuchUser',
    9: { means: 'internal', http_status: 502, msg: 'down' },
  } as const;
  expect(platformRefusal(resultCode.noSuchUser, codes, 'by-code')).toEqual({
    code: 7,
    msg: undefined,
    httpStatus: 404,
  });
  expect(platformRefusal(resultCode.internal, codes, 200)).toEqual({
    code: 9,
    msg: 'down',
    httpStatus: 502,
  });
  expect(platformRefusal(resultCode.wrongSign, codes, 200)).toMatchObject({
    code: 40103,
    httpStatus: 200,
  });
  // A code for a part of a meaning is that of this part alone.
  const parts = {
    1: { means: ['unknownParameter'] },
    2: 'malformedParameter',
    3: 'scopeNotAccepted',
  } as const;
  const { malformedParameter } = resultCode;
  const codeOf = (detail?: 'unknownParameter' | 'scopeNotAccepted') =>
    platformRefusal(malformedParameter, parts, 200, detail).code;
  expect([codeOf(), codeOf('unknownParameter'), codeOf('scopeNotAccepted')]).toEqual([2, 1, 3]);
  expect(platformRefusal(malformedParameter, { 1: 'unknownParameter' }, 200).code).toBe(
    malformedParameter,
  );
});

describe('a recipe without a digest', () => {
  it.each(['$secret', '$params', '$body', '$secret.md5', '$secret.base64'])(
    'holds no %s, which the signature would send',
    (token) => {
      const parse = (recipe: object) => () => parseRecipe({ message: ['x'], ...recipe });
      expect(parse({ message: ['x', token], steps: [] })).toThrow(
        'steps: is empty, but the message has tokens',
      );
      for (const step of ['append', 'prepend'])
        expect(parse({ steps: [`${step}:${token}`] })).toThrow(
          'steps[0]: has no digest after it: its text would leave the machine',
        );
    },
  );

  it('is its text', () => {
    const recipe = parseRecipe({ message: ['token-', '0001$$'], steps: [] });
    const request = { method: 'GET', url: 'https://e.com', params: [], body: null };
    expect(compileRecipe(recipe).sign(request, new Secret('s')).digest).toBe('token-0001$');
  });
});
