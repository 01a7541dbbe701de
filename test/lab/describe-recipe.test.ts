import { describe, expect, it } from 'vitest';
import { completeRecipe, type RecipeJson } from '../../src/core/signing/recipe.js';
import { describeRecipe } from '../../src/lab/describe-recipe.js';

const usual = 'parameters: k=v joined by "&", sorted by name';

describe('a recipe described in words', () => {
  it.each<[string, RecipeJson]>([
    [
      `MD5 of parameters + "&key=" + secret; ${usual}`,
      { message: ['$params', '&key=', '$secret'], steps: ['md5'] },
    ],
    [
      `HMAC-SHA-256 of parameters, in base64; ${usual}`,
      { message: ['$params'], steps: ['hmac-sha256'], output: 'base64' },
    ],
    [
      `HMAC-SHA-1 of parameters, in upper-case hex; key: secret + "&"; ${usual}`,
      {
        message: ['$params'],
        steps: ['hmac-sha1'],
        key: { tokens: ['$secret', '&'] },
        output: 'HEX',
      },
    ],
    [
      'MD5 of (SHA-1 (HEX) of app_key + extra nonce + a b, joined by "|") + secret, as base64 of its hex',
      {
        message: ['$param:app_key', '$extra:nonce', `${'$'}{param:a b}`],
        join: '|',
        steps: ['sha1:HEX', 'append:$secret', 'md5'],
        output: 'base64-of-hex',
      },
    ],
    [
      'upper of characters 8 to 24 of SHA-256 of "v" + lower(t) + (MD5 (raw) of sub user + upper(md5(body)));' +
        ' sub user: MD5 of app_key + secret',
      {
        message: ['$sub:user', '$body.md5.upper'],
        sub: { user: { message: ['$param:app_key', '$secret'], steps: ['md5'] } },
        steps: ['md5:raw', `prepend:v${'$'}{param:t}.lower`, 'sha256', 'slice:8:24', 'upper'],
      },
    ],
    [
      'MD5 of lower-cased (rfc3986-encoded ("$" + secret + values)); parameters: values alone glued together,' +
        ' sorted by value, without channel, empty values left out, ":" written as "\\\\:"',
      {
        message: ['$$', '$secret', '$values'],
        encode: { message: 'rfc3986', lower: true },
        steps: ['md5'],
        params: {
          exclude: ['channel'],
          empty: 'drop',
          names: false,
          pairSep: '',
          order: 'value',
          escape: { ':': '\\:' },
        },
      },
    ],
    [
      'MD5 of parameters; parameters: names and values glued together, sorted by name, the secret among them as "key",' +
        ' repeated ones joined by ",", rfc3986-encoded, in lower case, names in upper case, rfc3986-encoded as a whole',
      {
        message: ['$params'],
        steps: ['md5'],
        encode: { block: 'rfc3986' },
        params: {
          kvSep: '',
          pairSep: '',
          add: { key: '$secret' },
          joinRepeated: ',',
          encode: 'rfc3986',
          case: 'lower',
          nameCase: 'upper',
        },
      },
    ],
  ])('is: %s', (words, json) => {
    expect(describeRecipe(completeRecipe(json))).toBe(words);
  });
});
