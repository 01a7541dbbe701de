import { algorithms, digestText } from './digest-algorithms.js';
import { decodePercent, encoders, folds, reverse } from './encodings.js';
import { RecipeError } from './recipe.js';
import { type modifierTexts, namedTokens, type Source, tokenForm, tokenTexts } from './recipe-language.js';
import { type Secret, secretLabel } from './secret.js';

/** A change of text. A `local` one works character by character, so it can be applied part by part. */
export interface TextChange {
  readonly apply: (text: string) => string;
  readonly local: boolean;
}

/** The modifiers of a token by name, as in `$secret.md5`. */
export const modifiers: ReadonlyMap<string, TextChange> = new Map([
  ...algorithms.flatMap((algorithm) => [
    whole(algorithm, (text) => digestText(algorithm, text, 'hex')),
    whole(`${algorithm}:hex`, (text) => digestText(algorithm, text, 'hex')),
    whole(`${algorithm}:HEX`, (text) => digestText(algorithm, text, 'HEX')),
    whole(`${algorithm}:base64`, (text) => digestText(algorithm, text, 'base64')),
  ]),
  whole('MD5', (text) => digestText('md5', text, 'HEX')),
  ...Object.entries(textModifiers()),
]);

function textModifiers(): Readonly<Record<keyof typeof modifierTexts, TextChange>> {
  return {
    base64: { apply: encoders.base64, local: false },
    reverse: { apply: reverse, local: false },
    upper: { apply: folds.upper, local: true },
    lower: { apply: folds.lower, local: true },
    form: { apply: encoders.form, local: true },
    'form-dotnet': { apply: encoders['form-dotnet'], local: true },
    rfc3986: { apply: encoders.rfc3986, local: true },
  };
}

function whole(name: string, apply: TextChange['apply']): [string, TextChange] {
  return [name, { apply, local: false }];
}

const plainSources = (Object.keys(tokenTexts) as Source[]).filter(
  (source) => !namedTokens.some((named) => named === source),
);

export interface Token {
  readonly source: Source;
  /** The name of the parameter or extra value; empty for other sources. */
  readonly name: string;
  /** The names of the modifiers, in order, and what they do. */
  readonly modifiers: readonly string[];
  readonly changes: readonly TextChange[];
}

/**
 * Parses what follows the `$` of a token, such as `secret.upper`. Known modifiers at its end are modifiers, the
 * rest is the name, which may contain dots: `param:item.0.md5` is the MD5 of the parameter `item.0`.
 *
 * @throws RecipeError for an unknown token or modifier
 */
function parseToken(text: string, field: string): Token {
  const segments = text.split('.');
  const named = /^(param|extra):/.test(text);
  const isName = (segment: string, index: number) => index === 0 || (named && !modifiers.has(segment));
  const stem = segments.findLastIndex(isName) + 1;
  return makeToken(segments.slice(0, stem).join('.'), segments.slice(stem), field);
}

function makeToken(stem: string, suffixes: readonly string[], field: string): Token {
  const [, prefix, name = ''] = /^(\w+):(.+)$/s.exec(stem) ?? [];
  const source =
    plainSources.find((known) => known === stem) ?? namedTokens.find((known) => known === prefix);
  if (source === undefined) {
    const tokens = (Object.keys(tokenTexts) as Source[]).map(tokenForm).join(' ');
    throw new RecipeError(
      field,
      `unknown token $${stem}`,
      `Tokens are ${tokens}; a literal $ is $$, and \${secret} keeps a token apart.`,
    );
  }
  const changes = suffixes.map((suffix) => parseModifier(suffix, stem, field));
  return { source, name, modifiers: suffixes, changes };
}

function parseModifier(name: string, stem: string, field: string): TextChange {
  const change = modifiers.get(name);
  if (change !== undefined) return change;
  throw new RecipeError(
    field,
    `unknown modifier .${name} of $${stem}`,
    `Modifiers are ${shortModifiers()}; digests also with :hex :HEX :base64.`,
  );
}

function shortModifiers(): string {
  const short = [...modifiers.keys()].filter((name) => !name.includes(':'));
  return short.map((name) => `.${name}`).join(' ');
}

export type Template = readonly (string | Token)[];

const tokenShape = /\$\$|\$\{([^{}]*)\}((?:\.[\w:-]*)*)|\$([\w.:-]*)/g;

/**
 * Parses `&key=$secret`. A token ends at the first character outside `[A-Za-z0-9_.:-]`, or at the brace of
 * `${secret}`, which holds the exact name, and the modifiers after it; a literal `$` is `$$`.
 *
 * @throws RecipeError for an unknown token or modifier
 */
export function parseTemplate(text: string, field: string): Template {
  const template: (string | Token)[] = [];
  let literal = '';
  let end = 0;
  for (const match of text.matchAll(tokenShape)) {
    const [whole, braced, suffix = '', bare = ''] = match;
    literal += text.slice(end, match.index);
    end = match.index + whole.length;
    if (whole === '$$') {
      literal += '$';
      continue;
    }
    if (literal !== '') template.push(literal);
    literal = '';
    const isBraced = braced !== undefined;
    template.push(isBraced ? makeToken(braced, suffix.split('.').slice(1), field) : parseToken(bare, field));
  }
  literal += text.slice(end);
  return literal === '' ? template : [...template, literal];
}

/** Concatenates templates with the literal `join` between them. */
export function parseTemplates(texts: readonly string[], field: string, join = ''): Template {
  return texts.flatMap((text, index) => {
    const template = parseTemplate(text, `${field}[${index}]`);
    return index === 0 || join === '' ? template : [join, ...template];
  });
}

export function tokensOf(template: Template): Token[] {
  return template.filter((part) => typeof part !== 'string');
}

/**
 * Placeholder of the secret until the text is shown: an unpaired surrogate, which no other text has after
 * `toWellFormed`.
 */
const secretMark = '\udc00';
/** Placeholder of `$sub`. */
const subMark = '\udc01';

/**
 * Renders the text of a recipe, either to sign it or, masked, to show it. The secret is masked where it is inserted,
 * never searched for afterwards.
 */
export class Renderer {
  readonly #secret: string;
  readonly isMasked: boolean;

  constructor(secret: Secret, isMasked: boolean) {
    this.#secret = secret.reveal();
    this.isMasked = isMasked;
  }

  /** A text that may be shown. */
  open(text: string): string {
    return this.isMasked ? text.toWellFormed() : text;
  }

  /** A value of the request. With app key and secret swapped, the secret is sent as one; it is masked there too. */
  value(text: string, write: (text: string) => string = String): string {
    if (this.isMasked && text !== '' && text === this.#secret) return secretMark;
    return this.open(write(text));
  }

  /** A query; in it, a value that is the secret is masked too. */
  query(text: string): string {
    if (!this.isMasked || this.#secret === '') return text;
    const written = (pair: string) => {
      const at = pair.indexOf('=') + 1;
      const value = pair.slice(at);
      const isSecret = [value, value.replaceAll('+', ' ')].some((one) => decodePercent(one) === this.#secret);
      return isSecret ? pair.slice(0, at) + secretMark : this.open(pair);
    };
    return text.split('&').map(written).join('&');
  }

  secret(): string {
    return this.isMasked ? secretMark : this.#secret;
  }

  /** The value of `$sub`. It nearly always contains the secret, so it is always masked. */
  sub(digest: string): string {
    return this.isMasked ? subMark : digest;
  }

  /** A changed text. No change reaches a mark: a digest of the secret is masked as the secret is. */
  change(text: string, { apply, local }: TextChange): string {
    if (!this.isMasked) return apply(text);
    if (local) return text.replace(/[^\udc00\udc01]+/gu, (open) => apply(open));
    return /[\udc00\udc01]/u.exec(text)?.[0] ?? apply(text);
  }
}

/** Masked text with words in place of the marks. */
export function showMarks(text: string): string {
  return text.replace(/[\udc00\udc01]/gu, (mark) => (mark === subMark ? '<sub>' : secretLabel));
}

/** Renders a template: the value of each token, changed by its modifiers. */
export function renderTemplate(
  template: Template,
  renderer: Renderer,
  read: (token: Token) => string,
): string {
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') {
      text += renderer.open(part);
    } else {
      let value = read(part);
      for (const change of part.changes) value = renderer.change(value, change);
      text += value;
    }
  }
  return text;
}
