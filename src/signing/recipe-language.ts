import type { EncodeRule, KeyRule, ParamsRule, Recipe, SubRule } from './recipe.js';

/** The tokens of a recipe, and what each stands for. Those of `namedTokens` take a name. */
export const tokenTexts = {
  params: 'the parameters, as `params` writes them',
  names: 'their names alone, with `params.pairSep` between them',
  values: 'their values alone, with `params.pairSep` between them',
  secret: 'the secret',
  method: 'the method, such as `GET`',
  host: 'the host of the URL, with its port if it has one',
  path: 'the path of the URL, without `basePath`',
  url: 'the URL without its query',
  query: 'the query as it was sent, without the signature',
  search: '`?` and that query; nothing where there is none',
  body: 'the body as it was sent',
  sub: 'the digest that `sub` describes',
  param: 'the value of a parameter',
  extra: 'the value of a header, or of `extra` in a sample file',
} as const;

export type Source = keyof typeof tokenTexts;

/** Sources of a text that is sent as it is, such as one after the last digest: none contains the secret. */
export const openSources: ReadonlySet<Source> = new Set([
  'method',
  'host',
  'path',
  'url',
  'query',
  'search',
  'param',
  'extra',
]);

/** Sources of the texts that `params` writes. */
export const blockSources: ReadonlySet<Source> = new Set(['params', 'names', 'values']);

export const namedTokens = ['param', 'extra'] as const;

/** A token as it is written. */
export function tokenForm(source: Source): string {
  return namedTokens.some((name) => name === source) ? `$${source}:NAME` : `$${source}`;
}

/** The modifiers of tokens besides the digests. */
export const modifierTexts = {
  base64: 'base64 of the text',
  reverse: 'the characters in reverse order',
  upper: 'upper case',
  lower: 'lower case',
  form: 'form-encoded: a space as `+`',
  'form-dotnet': 'the same with lower-case escapes, as in .NET',
  rfc3986: 'percent-encoded: a space as `%20`',
} as const;

export const digestModifierText =
  'a digest in lower-case hex; `.MD5` in upper case; also with `:hex` `:HEX` `:base64`';

export interface StepText {
  readonly form: string;
  readonly about: string;
  /** A text that went through the step, in words; `given` is what the step takes. */
  readonly words: (text: string, given: string) => string;
}

/** The steps besides the digests. */
export const stepTexts = {
  append: {
    form: 'append:TEXT',
    about: 'adds literals and tokens behind',
    words: (text, given) => `(${text}) + ${given}`,
  },
  prepend: {
    form: 'prepend:TEXT',
    about: 'adds literals and tokens in front, such as a label: `prepend:sha256=`',
    words: (text, given) => `${given} + (${text})`,
  },
  upper: { form: 'upper', about: 'upper case', words: (text) => `upper of ${text}` },
  lower: { form: 'lower', about: 'lower case', words: (text) => `lower of ${text}` },
  slice: {
    form: 'slice:FROM:TO',
    about: 'the characters from FROM to before TO, counted from 0',
    words: (text, given) => `characters ${given} of ${text}`,
  },
} as const satisfies Readonly<Record<string, StepText>>;

export const digestStepText =
  'a digest; `hmac-…` takes `key`. After a colon its format for the next step: `hex`, `HEX`, `raw` bytes or `base64`';

type FieldPath =
  | Exclude<keyof Recipe, 'params' | 'encode' | 'key' | 'sub'>
  | `params.${keyof ParamsRule}`
  | `encode.${keyof EncodeRule}`
  | `key.${keyof KeyRule}`
  | `sub.${keyof SubRule}`;

/** The fields of a recipe, in the order of computation. */
export const fieldTexts: Readonly<Record<FieldPath, string>> = {
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
  'params.escape': 'texts replaced in names and values, before they are encoded: `{":": "\\\\:"}`',
  'params.encode': 'encoding of names and values',
  'params.case': 'case of names and values, after encoding',
  'params.kvSep': 'text between name and value',
  'params.pairSep': 'text between pairs',
  'params.pairEnd': 'text after each pair; it may hold `$secret`',
  'encode.block': 'encoding of the whole parameter block',
  message: 'what is signed: literals and tokens, in order',
  join: 'text between the entries of `message`',
  basePath: 'prefix of the path that `$path` leaves out',
  'encode.message': 'encoding of the whole message',
  'encode.lower': 'whether the message is lower-cased then',
  'sub.message': 'the message of a separate digest, the value of `$sub`',
  'sub.steps': 'its steps',
  'sub.key': 'the key of its HMAC steps, as `key`; left out, it is the one of the recipe',
  'key.tokens': 'the key of the HMAC steps: literals and tokens',
  'key.decode': 'how the key is read',
  steps: 'the digest chain',
  output: 'format of the last digest',
};
