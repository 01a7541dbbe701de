import type {
  EncodeRule,
  KeyRule,
  ParamsRule,
  Recipe,
  SubRule,
} from '../../src/core/signing/recipe.js';

/**
 * What the page of recipes says about digests among the modifiers of a token, and among the steps.
 */
export const digestModifierText =
  'a digest in lower-case hex; `.MD5` in upper case; also with `:hex` `:HEX` `:base64`';

export const digestStepText =
  'a digest; `hmac-…` takes `key`. After a colon its format for the next step: `hex`, `HEX`, `raw` bytes or `base64`';

type FieldPath =
  | Exclude<keyof Recipe, 'params' | 'encode' | 'key' | 'sub'>
  | `params.${keyof ParamsRule}`
  | `encode.${keyof EncodeRule}`
  | `key.${keyof KeyRule}`
  | `sub.NAME.${keyof SubRule}`;

/**
 * What the page says about each field, in the order of computation: a field without a text does not
 * compile.
 */
export const fieldTexts: Readonly<Record<FieldPath, string>> = {
  'params.from':
    'the place of the parameters that are signed; `form-or-query` is the form of a passback and the query of a read',
  'params.exclude': 'names left out; `NAME*` stands for every name that begins with NAME',
  'params.include': 'the only names signed, `NAME*` as above; `null` for all',
  'params.empty': 'whether parameters with an empty value are kept or dropped',
  'params.joinRepeated': 'text that joins the values of a repeated name; `null` keeps them apart',
  'params.nameCase': 'case of names, before anything else',
  'params.add':
    'values by name that are signed but not sent, literals and tokens: ' +
    '`{"v": "1", "nonce": "$extra:X-Nonce", "key": "$secret"}`; `include` and `exclude` do not concern them',
  'params.order': 'how parameters are sorted, or a list of names, which leaves out all others',
  'params.names': 'whether names are written',
  'params.values': 'whether values are written',
  'params.json': 'writes values, or both names and values, as JSON strings, in quotes',
  'params.escape':
    'texts replaced in names and values, once they are encoded: `{":": "\\\\:"}`; `""` stands for a name or value that is empty',
  'params.encode': 'encoding of names and values',
  'params.case': 'case of names and values, after encoding',
  'params.lengths': 'writes each value behind the number of its bytes in UTF-8, as it is written',
  'params.kvSep': 'text between name and value',
  'params.pairSep': 'text between pairs',
  'params.pairEnd': 'text after each pair; it may hold `$secret`',
  'encode.block': 'encoding of the whole parameter block',
  message: 'what is signed: literals and tokens, in order',
  join: 'text between the entries of `message`',
  basePath: 'prefix of the path that `$path` leaves out',
  'encode.message': 'encoding of the whole message',
  'encode.lower': 'whether the message is lower-cased then',
  'sub.NAME.message':
    'the message of a separate digest, the value of `$sub:NAME`; it may take those before it',
  'sub.NAME.steps': 'its steps',
  'sub.NAME.key': 'the key of its HMAC steps, as `key`; left out, it is the one of the recipe',
  'key.tokens': 'the key of the HMAC steps: literals and tokens',
  'key.decode': 'how the key is read',
  steps: 'the digest chain',
  output: 'format of the last digest',
};
