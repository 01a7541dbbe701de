import type { KeyRule, ParamsRule, Recipe } from '../../src/core/signing/recipe.js';

/**
 * What the page of recipes says about digests among the modifiers of a token, and among the steps.
 */
export const digestModifierText = 'a digest in lower-case hex; `.MD5` in upper case';

export const digestStepText =
  'a digest; `hmac-…` takes `key`. After a colon its format for the next step: `hex`, `HEX`, `raw` bytes or `base64`';

type FieldPath =
  | Exclude<keyof Recipe, 'params' | 'key'>
  | `params.${keyof ParamsRule}`
  | `key.${keyof KeyRule}`;

/**
 * What the page says about each field, in the order of computation: a field without a text does not
 * compile.
 */
export const fieldTexts: Readonly<Record<FieldPath, string>> = {
  'params.from':
    'the place of the parameters that are signed; `form-or-query` is the form of a passback and the query of a read',
  'params.exclude': 'names left out',
  'params.include': 'the only names signed; `null` for all',
  'params.empty': 'whether parameters with an empty value are kept or dropped',
  'params.nameCase': 'case of names, before anything else',
  'params.add':
    'values by name that are signed but not sent, whatever `include` and `exclude` say: `{"v": "1", "key": "$secret"}`',
  'params.order': 'how parameters are sorted, or a list of names, which leaves out all others',
  'params.names': 'whether names are written, and not values alone',
  'params.encode': 'encoding of names and values; the modifiers below say how each writes',
  'params.kvSep': 'text between name and value',
  'params.pairSep': 'text between pairs',
  message: 'what is signed: literals and tokens, in order',
  join: 'text between the entries of `message`',
  'key.tokens': 'the key of the HMAC steps: literals and tokens',
  'key.decode': 'how the key is read',
  steps: 'the digest chain; empty for a signature that the operator issued',
  output: 'format of the last digest',
};
