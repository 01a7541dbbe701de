import fc from 'fast-check';
import { algorithms, outputs } from '../../src/core/signing/digest-algorithms.js';
import { textEncodings } from '../../src/core/signing/encodings.js';
import {
  emptyRules,
  keyDecodings,
  nameCases,
  orders,
  paramsSources,
  type Recipe,
} from '../../src/core/signing/recipe.js';
import { parseRecipe } from '../../src/core/signing/recipe-json.js';
import type { stepTexts } from '../../src/core/signing/recipe-language.js';
import type { Param, SignableRequest } from '../../src/core/signing/request.js';
import { modifiers } from '../../src/core/signing/template.js';

/** A request that a recipe signs, with the secret. */
export interface RandomCase {
  readonly recipe: Recipe;
  readonly request: SignableRequest;
  readonly secret: string;
}

/**
 * Characters that encodings, letter case, sorting, literals and patterns of some language treat in
 * their own way.
 */
const plain = [...'aAzZ09 +&=/~*!()%\'".:;,|^$`\\#?<>[]{}-_@\n\r\t\0\x7f'];
const foreign = [
  ...'éÜ名\u00a0\u00ad\u0307\u0345\u2019\u2028\ufeff\ufffd\ue000\uffff😀𝒜',
  '?>',
  '*/',
  '\\u000a',
  '%2F',
];
/** Letters whose case depends on the neighbours, is several letters, or leaves the alphabet. */
const cased = [...'ßİıſKÅŉΣσςΑΐᾳᾼﬁﬃǆǅǄªⅷⅧⓐⒶᲐაᎠꭰ𐐀𐐨𞤀𞤢ẞəƏµμ'];
const unpaired = ['\ud800', '\udc00', '\udbff'];

/**
 * Letters with case that came with Unicode 14 and later: Go 1.19 and Java 17 have 13, where they
 * have none.
 */
const newLetters =
  /[\u2c2f\u2c5f\ua7c0\ua7c1\ua7cb-\ua7cd\ua7d0-\ua7dc\u{10570}-\u{105bf}\u{10d40}-\u{10d8f}]/u;
const grapheme = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
  .filter((text) => !newLetters.test(text));

const characters = fc.oneof(
  { arbitrary: fc.constantFrom(...plain), weight: 5 },
  { arbitrary: fc.constantFrom(...foreign), weight: 2 },
  { arbitrary: fc.constantFrom(...cased), weight: 3 },
  { arbitrary: grapheme, weight: 1 },
);
const textOf = (unit: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(unit, { maxLength }).map((parts) => parts.join(''));
const wellFormed = textOf(characters, 6);
const anyText = fc.oneof(
  { arbitrary: wellFormed, weight: 4 },
  { arbitrary: textOf(fc.oneof(characters, fc.constantFrom(...unpaired)), 5), weight: 1 },
);

const nameList = [...'a A b B ab a.b token __proto__ 1 ß ΑΣ İ \ue000 😀'.split(' '), ''];
const anyName = fc.oneof(
  { arbitrary: fc.constantFrom(...nameList), weight: 6 },
  { arbitrary: anyText, weight: 1 },
);
const tokenName = fc.constantFrom('a', 'b', 'token', 'a.b', '1', '__proto__', 'constructor');
/** Well-formed, so that every language can hold most of the recipes. */
const literal = textOf(characters, 3).map((text) => text.replaceAll('$', '$$$$'));
const names = fc.array(fc.constantFrom(...nameList), { maxLength: 4 });

const modifier = fc.array(fc.constantFrom(...modifiers.keys()), { maxLength: 2 });
const source = fc.oneof(
  { arbitrary: fc.constantFrom('params', 'secret'), weight: 3 },
  fc.constantFrom('method', 'host', 'path', 'endpoint', 'url', 'query', 'body'),
  tokenName.map((name) => `param:${name}`),
);
const token = fc
  .tuple(source, modifier)
  .map(([name, changes]) => `\${${name}}${changes.map((change) => `.${change}`).join('')}`);
const template = fc.array(
  fc.oneof({ arbitrary: token, weight: 3 }, { arbitrary: literal, weight: 2 }),
  { minLength: 1, maxLength: 4 },
);

const addedSource = fc.constantFrom('secret', 'method', 'path', 'url', 'param:a', 'param:b');
const addedValue = fc.oneof(
  { arbitrary: fc.constant('$secret'), weight: 2 },
  literal,
  fc
    .tuple(addedSource, modifier)
    .map(([name, changes]) => `\${${[`${name}}`, ...changes].join('.')}`),
);

const digest = fc
  .tuple(
    fc.constantFrom('', 'hmac-'),
    fc.constantFrom(...algorithms),
    fc.constantFrom('', ':hex', ':HEX', ':raw', ':base64'),
  )
  .map((parts) => parts.join(''));
const affix = fc.oneof(token, literal);
const textSteps: Readonly<Record<keyof typeof stepTexts, fc.Arbitrary<string>>> = {
  append: affix.map((text) => `append:${text}`),
  prepend: affix.map((text) => `prepend:${text}`),
  slice: fc.tuple(fc.nat(9), fc.nat(24)).map(([from, to]) => `slice:${from}:${to}`),
};
const step = fc.oneof({ arbitrary: digest, weight: 4 }, ...Object.values(textSteps));
const steps = fc
  .tuple(fc.array(step, { maxLength: 3 }), digest, fc.array(step, { maxLength: 1 }))
  .map((parts) => parts.flat());

const key = fc.record({
  tokens: fc.oneof({ arbitrary: fc.constant(['$secret']), weight: 3 }, template),
  decode: fc.oneof(
    { arbitrary: fc.constant('utf8' as const), weight: 2 },
    fc.constantFrom(...keyDecodings),
  ),
});

const anyFields: fc.Arbitrary<Recipe> = fc.record({
  params: fc.record({
    from: fc.constantFrom(...paramsSources),
    exclude: names,
    include: fc.option(names, { freq: 3 }),
    empty: fc.constantFrom(...emptyRules),
    order: fc.oneof({ arbitrary: fc.constantFrom(...orders), weight: 5 }, names),
    names: fc.boolean(),
    kvSep: literal,
    pairSep: literal,
    encode: fc.constantFrom(...textEncodings),
    nameCase: fc.constantFrom(...nameCases),
    add: fc.dictionary(fc.constantFrom('token', 'KEY', 'ß', 'a', '__proto__'), addedValue, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
  }),
  message: template,
  join: literal,
  steps,
  key,
  output: fc.constantFrom(...outputs),
});

function isValid(recipe: Recipe): boolean {
  try {
    parseRecipe(recipe);
    return true;
  } catch {
    return false;
  }
}

/** Valid recipes over every field. */
export const anyRecipe: fc.Arbitrary<Recipe> = anyFields.filter(isValid);

const url = fc.oneof(
  fc.constantFrom(
    'https://api.example.com:8443/openapi/v1',
    'https://h/test/api/v1/x/api/v1/y',
    'HTTP://Example.com',
    'https://h//x/?a=b#c',
    'x+a.b-1://h/\nline\n',
    '/only/path',
    '1x://h/p',
    '',
  ),
  anyText,
);

export const anyRequest: fc.Arbitrary<SignableRequest> = fc.record({
  method: fc.constantFrom('GET', 'put', 'ΟΔΟΣ', ''),
  url,
  query: fc.oneof(fc.constantFrom('a=%2F&b', '', '?&x=+'), anyText),
  params: fc.array(
    fc
      .tuple(
        anyName,
        fc.oneof(fc.constant(''), anyText),
        fc.constantFrom(undefined, 'form' as const),
      )
      .map(
        ([name, value, place]): Param =>
          place === undefined ? [name, value] : [name, value, place],
      ),
    { maxLength: 7 },
  ),
  body: fc.option(anyText),
});

const keyText = fc.oneof(
  fc.stringMatching(/^[0-9a-fA-F]{0,9}$/),
  fc.stringMatching(/^[A-Za-z0-9+/_-]{0,9}={0,3}$/),
  fc.constantFrom(' ab', 'ab ', 'a b', 'ab\n', '0x', 'QUI=\n', 'Q=I', '++', '٣٣'),
);
/** As text, in hex, in base64 with and without padding, and almost so. */
export const anySecret = (recipe: Recipe) =>
  recipe.key.decode === 'utf8'
    ? anyText.filter((text) => text !== '<secret>')
    : fc.oneof(keyText, keyText, anyText);
