import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { personalInfoNames, withoutChatPrefix } from '../../../src/core/contract/info-names.js';
import { membersIn } from '../../../src/core/contract/json-tokens.js';
import {
  isPersonalName,
  maskJson,
  maskParameter,
  maskText,
  maskWords,
} from '../../../src/core/contract/masking.js';

const mask = (json: string) => maskJson(json, isPersonalName);

describe('maskJson', () => {
  it.each([
    ['{"mobile":"13800138000","level":"gold"}', '{"mobile":"138****8000","level":"gold"}'],
    ['{"acme_mobile":"13800138000"}', '{"acme_mobile":"138****8000"}'],
    ['{"id_card":330102199001011234}', '{"id_card":"330****1234"}'],
    [
      '{"mobile":{"home":["13800138000",1,true,null,""]},"a":1}',
      '{"mobile":{"home":["138****8000","****","****",null,""]},"a":1}',
    ],
    ['{"list":[{"device_token":"t"},{"os":"x"}]}', '{"list":[{"device_token":"****"},{"os":"x"}]}'],
    [
      '{"device_info":["{\\"device_token\\":\\"t\\",\\"os\\":\\"x\\"}"]}',
      '{"device_info":["{\\"device_token\\":\\"****\\",\\"os\\":\\"x\\"}"]}',
    ],
    ['{"mobile":"{\\"home\\":\\"13800138000\\"}"}', '{"mobile":"{\\"home\\":\\"138****8000\\"}"}'],
    ['{"mo\\u0062ile":"13800138000"}', '{"mo\\u0062ile":"138****8000"}'],
    ['{"mobile":"\\u0031\\"3800138000"}', '{"mobile":"1\\"3****8000"}'],
    ['{"a":{"mobile":"x"},"b":"13800138000"}', '{"a":{"mobile":"****"},"b":"13800138000"}'],
    ['{"mobile":"x","mobile":"y"}', '{"mobile":"****","mobile":"****"}'],
    ['"mobile"', '"mobile"'],
  ])('masks %s', (json, masked) => {
    expect(mask(json)).toBe(masked);
  });

  it('changes no byte outside personal data', () => {
    const json =
      ' {"code" :200,\r\n"n":9007199254740993.0,"s":"\\u4e2d\\/","a":{"a":1,"a":2},"e":[ ],"x":"{not json"} ';
    expect(mask(json)).toBe(json);
  });

  it('hides every value under a personal key, and keeps the shape, whatever the JSON', () => {
    const json = fc.json({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, (hidden, other) => {
        const text = `{"mobile":${hidden},"other":${other}}`;
        const masked = JSON.parse(maskJson(text, (key) => key === 'mobile'));
        expect(masked.other).toEqual(JSON.parse(other));
        const leaves = (value: unknown): unknown[] =>
          typeof value === 'object' && value !== null
            ? Object.values(value).flatMap(leaves)
            : [value];
        for (const leaf of leaves(masked.mobile)) {
          if (typeof leaf === 'string' && leaf.startsWith('{')) continue;
          expect(
            leaf === null || leaf === '' || (typeof leaf === 'string' && leaf.includes('****')),
          ).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('maskText', () => {
  it.each([
    ['13800138000', '138****8000'],
    ['330102199001011234', '330****1234'],
    ['0123456789', '****'],
    ['张三', '****'],
    ['', '****'],
    ['138****8000', '138****8000'],
  ])('of %j is %s', (text, masked) => {
    expect(maskText(text)).toBe(masked);
  });
});

describe('membersIn', () => {
  it.each([
    ['{"code":1,"data":{"code":2},"c\\u006fde":3,"l":[{"code":4}]}', ['code', 'data', 'code', 'l']],
    ['{ "a:b" : "c:d" , "{" : 1 }', ['a:b', '{']],
    ['{}', []],
  ])('of %s', (json, keys) => {
    expect([...membersIn(json)].map(({ key }) => key)).toEqual(keys);
  });
});

it('an address of electronic mail is masked in a text', () => {
  expect(maskWords('no user jo.doe+x@mail.acme.com, ask @ops')).toBe('no user ****, ask @ops');
});

describe('the value of an info name that is personal data', () => {
  it.each(personalInfoNames)('%s is masked in JSON, in a URL and in the form', (name) => {
    for (const key of [name, `acme_${withoutChatPrefix(name)}`]) {
      expect(mask(`{"${key}":"x"}`)).toBe(`{"${key}":"****"}`);
      expect(maskWords(`GET /?${key}=x&scope=y`)).toBe(`GET /?${key}=****&scope=y`);
      expect(maskParameter(key, 'x')).toBe('****');
    }
  });
});
