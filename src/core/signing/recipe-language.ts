/** The tokens of a recipe, and what each stands for. Those of `namedTokens` take a name. */
export const tokenTexts = {
  params: 'the parameters, as `params` writes them',
  secret: 'the secret',
  method: 'the method, such as `GET`',
  host: 'the host of the URL, with its port if it has one',
  path: 'the path of the URL',
  endpoint: 'the path from `/api/v1` on, without that of the base URL',
  url: 'the URL without its query',
  query: 'the query as it was sent, without the signature',
  body: 'the body as it was sent',
  param: 'the value of a parameter',
} as const;

/** What a token stands for. */
export type Source = keyof typeof tokenTexts;

/** A token as it is written. */
export function tokenForm(source: Source): string {
  if (source === 'param') return '$param:NAME';
  return `$${source}`;
}

/** The modifiers of tokens besides the digests. */
export const modifierTexts = {
  base64: 'base64 of the text',
  upper: 'upper case',
  lower: 'lower case',
  form: 'form-encoded as by Java: a space as `+`, `*` as it is, `~` as `%7E`',
  'form-php': 'form-encoded as by PHP: `*` as `%2A`, too',
  'form-python': "form-encoded as by Python's `quote_plus`: `*` as `%2A`, `~` as it is",
  'form-dotnet': 'form-encoded as by .NET: escapes in lower case, `!*()` as they are',
  rfc3986: 'percent-encoded: a space as `%20`, `~` as it is',
  javascript: 'percent-encoded as by `encodeURIComponent`: `!*()` and the apostrophe as they are',
} as const;

/** A step in words. */
interface StepText {
  /** As it is written in a recipe. */
  readonly form: string;
  /** What it does. */
  readonly about: string;
  /** The result of the step on a text, which is in words too; `argument` is what follows its name. */
  readonly words: (text: string, argument: string) => string;
}

/** The steps besides the digests. */
export const stepTexts = {
  append: {
    form: 'append:TEXT',
    about: 'adds literals and tokens behind',
    words: (text, argument) => `(${text}) + ${argument}`,
  },
  prepend: {
    form: 'prepend:TEXT',
    about: 'adds literals and tokens in front',
    words: (text, argument) => `${argument} + (${text})`,
  },
  slice: {
    form: 'slice:FROM:TO',
    about: 'the characters of a digest from FROM to before TO, counted from 0',
    words: (text, argument) => `characters ${argument} of ${text}`,
  },
} as const satisfies Readonly<Record<string, StepText>>;
