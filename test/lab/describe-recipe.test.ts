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
      'MD5 of (SHA-1 (HEX) of app_key + a b, joined by "|") + secret, in base64',
      {
        message: ['$param:app_key', `${'$'}{param:a b}`],
        join: '|',
        steps: ['sha1:HEX', 'append:$secret', 'md5'],
        output: 'base64',
      },
    ],
    [
      'characters 8 to 24 of SHA-256 of "v" + lower(t) + (MD5 (raw) of upper(md5(body)))',
      {
        message: ['$body.md5.upper'],
        steps: ['md5:raw', `prepend:v${'$'}{param:t}.lower`, 'sha256', 'slice:8:24'],
      },
    ],
    [
      'MD5 of "$" + secret + parameters; parameters: values alone glued together,' +
        ' of the query only, sorted by value, without channel, empty values left out',
      {
        message: ['$$', '$secret', '$params'],
        steps: ['md5'],
        params: {
          from: 'query',
          exclude: ['channel'],
          empty: 'drop',
          names: false,
          pairSep: '',
          order: 'value',
        },
      },
    ],
    [
      'MD5 of rfc3986(parameters); parameters: names and values glued together, sorted by name,' +
        ' the secret among them as "key", rfc3986-encoded, names in upper case',
      {
        message: ['$params.rfc3986'],
        steps: ['md5'],
        params: {
          kvSep: '',
          pairSep: '',
          add: { key: '$secret' },
          encode: 'rfc3986',
          nameCase: 'upper',
        },
      },
    ],
  ])('is: %s', (words, json) => {
    expect(describeRecipe(completeRecipe(json))).toBe(words);
  });
});
