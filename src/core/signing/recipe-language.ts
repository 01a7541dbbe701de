/** The tokens of a recipe, and what each stands for. Those of `namedTokens` take a name. */
export const tokenTexts = {
  params: 'the parameters, as `params` writes them',
  names: 'their names alone, with `params.pairSep` between them',
  values: 'their values alone, with `params.pairSep` between them',
  secret: 'the secret',
  method: 'the method, such as `GET`',
  host: 'the host of the URL, with its port if it has one',
  path: 'the path of the URL, without `basePath`',
  endpoint: 'the path from `/api/v1` on, without that of the base URL',
  url: 'the URL without its query',
  query: 'the query as it was sent, without the signature',
  body: 'the body as it was sent',
  sub: 'a digest that `sub` describes',
  param: 'the value of a parameter',
  extra: 'the value of a header, or of `extra` in a sample file',
} as const;

export type Source = keyof typeof tokenTexts;

/**
 * Sources of a text that is sent as it is, such as one after the last digest: none contains the
 * secret.
 */
export const openSources: ReadonlySet<Source> = new Set([
  'method',
  'host',
  'path',
  'endpoint',
  'url',
  'query',
  'param',
  'extra',
]);

/** Sources of the texts that `params` writes. */
export const blockSources: ReadonlySet<Source> = new Set(['params', 'names', 'values']);

export const namedTokens = ['param', 'extra', 'sub'] as const;

/** A token as it is written. */
export function tokenForm(source: Source): string {
  return namedTokens.some((name) => name === source) ? `$${source}:NAME` : `$${source}`;
}

/** The modifiers of tokens besides the digests. */
export const modifierTexts = {
  base64: 'base64 of the text',
  reverse: 'the characters in reverse order',
  length: 'the number of its bytes in UTF-8, in decimal; never of the secret',
  sorted: 'the pairs between `&`, sorted by name, then by value; never of the secret',
  date: 'its first 8 digits: `20231114` of `20231114T221320Z` and of `2023-11-14T22:13:20Z`; never of the secret',
  upper: 'upper case',
  lower: 'lower case',
  form: 'form-encoded as by Java: a space as `+`, `*` as it is, `~` as `%7E`',
  'form-php': 'form-encoded as by PHP: `*` as `%2A`, too',
  'form-python': "form-encoded as by Python's `quote_plus`: `*` as `%2A`, `~` as it is",
  'form-dotnet': 'form-encoded as by .NET: escapes in lower case, `!*()` as they are',
  rfc3986: 'percent-encoded: a space as `%20`, `~` as it is',
  javascript: 'percent-encoded as by `encodeURIComponent`: `!*()` and the apostrophe as they are',
} as const;

interface StepText {
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
