import { decodePercent } from '../support/percent-encoding.js';
import { type Algorithm, algorithms, digestText, type Output } from './digest-algorithms.js';
import { encodeBase64, encoders, folds } from './encodings.js';
import { checkLimit, RecipeError } from './recipe.js';
import { type modifierTexts, type Source, tokenForm, tokenTexts } from './recipe-language.js';
import type { SignableRequest } from './request.js';
import { type Secret, secretLabel } from './secret.js';

/**
 * A change of text. A `local` one works character by character, so it can be applied part by part.
 */
export interface TextChange {
  readonly apply: (text: string) => string;
  readonly local: boolean;
}

/**
 * A change that a token can ask for, as `md5` in `$secret.md5`, and what it does: a digest, or to
 * the text.
 */
export interface Modifier extends TextChange {
  readonly does: TextModifier | { readonly algorithm: Algorithm; readonly format: Output };
}

type TextModifier = keyof typeof modifierTexts;

/** The modifiers of tokens, by name. */
export const modifiers: ReadonlyMap<string, Modifier> = new Map([
  ...algorithms.map((algorithm) => digestModifier(algorithm, algorithm, 'hex')),
  digestModifier('MD5', 'md5', 'HEX'),
  textModifier('base64', encodeBase64, false),
  textModifier('upper', folds.upper),
  textModifier('lower', folds.lower),
  textModifier('form', encoders.form),
  textModifier('form-php', encoders['form-php']),
  textModifier('form-python', encoders['form-python']),
  textModifier('form-dotnet', encoders['form-dotnet']),
  textModifier('rfc3986', encoders.rfc3986),
  textModifier('javascript', encoders.javascript),
]);

function digestModifier(name: string, algorithm: Algorithm, format: Output): [string, Modifier] {
  const apply = (text: string) => digestText(algorithm, text, format);
  return [name, { does: { algorithm, format }, apply, local: false }];
}

function textModifier(
  does: TextModifier,
  apply: TextChange['apply'],
  local = true,
): [string, Modifier] {
  return [does, { does, apply, local }];
}

const plainSources = (Object.keys(tokenTexts) as Source[]).filter((source) => source !== 'param');

/** A part of a text that stands for something of the request, or for the secret. */
export interface Token {
  readonly source: Source;
  /** The name of the parameter; empty for other sources. */
  readonly name: string;
  /** The names of the modifiers, in order, and what they do. */
  readonly modifiers: readonly string[];
  readonly changes: readonly Modifier[];
  /** The token with its `$`, as the recipe has it. */
  readonly written: string;
}

type ParsedToken = Omit<Token, 'written'>;

/**
 * Parses what follows the `$` of a token, such as `secret.upper`. Known modifiers at its end are
 * modifiers, the rest is the name, which may contain dots: `param:item.0.md5` is the MD5 of the
 * parameter `item.0`.
 *
 * @throws RecipeError for an unknown token or modifier
 */
function parseToken(text: string, field: string): ParsedToken {
  const segments = text.split('.');
  const named = text.startsWith('param:');
  const isName = (segment: string, index: number) =>
    index === 0 || (named && !modifiers.has(segment));
  const stem = segments.findLastIndex(isName) + 1;
  return makeToken(segments.slice(0, stem).join('.'), segments.slice(stem), field);
}

function makeToken(stem: string, suffixes: readonly string[], field: string): ParsedToken {
  const param = /^param:(.+)$/s.exec(stem)?.[1];
  const source = param === undefined ? plainSources.find((plain) => plain === stem) : 'param';
  if (source === undefined) {
    const tokens = (Object.keys(tokenTexts) as Source[]).map(tokenForm).join(' ');
    throw new RecipeError(
      field,
      `unknown token $${stem}`,
      `Tokens are ${tokens}; a literal $ is $$, and \${secret} keeps a token apart.`,
    );
  }
  checkLimit(suffixes.length, 'modifiers', field, `modifiers of $${stem}`);
  const changes = suffixes.map((suffix) => parseModifier(suffix, stem, field));
  return { source, name: param ?? '', modifiers: suffixes, changes };
}

function parseModifier(name: string, stem: string, field: string): Modifier {
  const change = modifiers.get(name);
  if (change !== undefined) return change;
  const names = [...modifiers.keys()].map((modifier) => `.${modifier}`).join(' ');
  throw new RecipeError(field, `unknown modifier .${name} of $${stem}`, `Modifiers are ${names}.`);
}

/** A text with tokens, parsed. */
export interface Template {
  readonly parts: readonly (string | Token)[];
  readonly tokens: readonly Token[];
}

const tokenPattern = /\$\$|\$\{([^{}]*)\}((?:\.[\w-]+)*)|\$((?:[\w.:-]*[\w-])?)/g;

/**
 * Parses `&key=$secret`. A token ends at the first character outside `[A-Za-z0-9_.:-]` (dots and
 * colons at its end are text), or at the brace of `${secret}`, which holds the exact name, and the
 * modifiers after it; a literal `$` is `$$`.
 *
 * @throws RecipeError for an unknown token or modifier
 */
export function parseTemplate(text: string, field: string): Template {
  const kept = parsed.get(text);
  if (kept !== undefined) return kept;
  const template = parseTemplateParts(text, field);
  if (parsed.size === maxParsed) parsed.clear();
  parsed.set(text, template);
  return template;
}

/**
 * Templates by their text: a search, or a check for mistakes, compiles thousands of recipes of the
 * same few.
 */
const parsed = new Map<string, Template>();
const maxParsed = 1000;

function parseTemplateParts(text: string, field: string): Template {
  const parts: (string | Token)[] = [];
  let literal = '';
  let end = 0;
  for (const match of text.matchAll(tokenPattern)) {
    const [whole, braced, suffix = '', bare = ''] = match;
    literal += text.slice(end, match.index);
    end = match.index + whole.length;
    if (whole === '$$') {
      literal += '$';
      continue;
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    const isBare = braced === undefined;
    const suffixes = suffix.split('.').slice(1);
    const token = isBare ? parseToken(bare, field) : makeToken(braced, suffixes, field);
    parts.push({ ...token, written: whole });
  }
  literal += text.slice(end);
  if (literal !== '') parts.push(literal);
  return templateOf(parts);
}

function templateOf(parts: Template['parts']): Template {
  return { parts, tokens: parts.filter((part) => typeof part !== 'string') };
}

/**
 * Parses texts, and concatenates them with the literal `join` between them.
 *
 * @throws RecipeError for an unknown token or modifier
 */
export function parseTemplates(texts: readonly string[], field: string, join = ''): Template {
  const parts: (string | Token)[] = [];
  for (const [index, text] of texts.entries()) {
    if (index > 0 && join !== '') parts.push(join);
    parts.push(...parseTemplate(text, `${field}[${index}]`).parts);
  }
  return templateOf(parts);
}

/**
 * Placeholder of the secret until the text is shown: an unpaired surrogate, which no other text has
 * after `toWellFormed`.
 */
const secretMark = '\udc00';
/** Matches the mark, and no half of a surrogate pair. */
const markPattern = /\udc00/u;

/**
 * Maximum length of a text that is signed, or of a part of it, in characters, plus `growth` times
 * the length of the request.
 */
const longestSigned = 2_097_152;
const growth = 8;

/**
 * Renders the text of a recipe, either to sign it or, masked, to show it. The secret is masked
 * where it is inserted, never searched for afterwards.
 */
export class Renderer {
  readonly #secret: string;
  readonly #request: SignableRequest;
  readonly isMasked: boolean;

  constructor(secret: Secret, request: SignableRequest, isMasked = false) {
    this.#secret = secret.reveal();
    this.#request = request;
    this.isMasked = isMasked;
  }

  /**
   * @throws RecipeError for a text that is much longer than the request: tokens and modifiers
   * multiply what it has
   */
  checkLength({ length }: string): void {
    if (length <= longestSigned) return;
    if (length <= longestSigned + growth * sizeOf(this.#request)) return;
    const problem = 'makes too long a text of this request';
    throw new RecipeError('message', problem, 'Sign by a module.');
  }

  /** A text that may be shown, without anything that looks like the mark of the secret. */
  showable(text: string): string {
    return this.isMasked ? text.toWellFormed() : text;
  }

  /**
   * A value of the request. With app key and secret swapped, the secret is sent as one; it is
   * masked there too.
   */
  value(text: string, write: (text: string) => string = String): string {
    if (this.isMasked && text !== '' && text === this.#secret) return secretMark;
    return this.showable(write(text));
  }

  /** A query; in it, a value that is the secret is masked too. */
  query(text: string): string {
    if (!this.isMasked || this.#secret === '') return text;
    const pairs = text.split('&').map((pair) => this.#maskedPair(pair));
    return pairs.join('&');
  }

  /** The secret, or its mark. */
  secret(): string {
    return this.isMasked ? secretMark : this.#secret;
  }

  /**
   * A changed text. No change reaches a mark: a digest of the secret is masked as the secret is.
   */
  change(text: string, { apply, local }: TextChange): string {
    this.checkLength(text);
    if (!this.isMasked) return apply(text);
    if (local) return text.split(markPattern).map(apply).join(secretMark);
    if (markPattern.test(text)) return secretMark;
    return apply(text);
  }

  /** A pair of a query, whose value is masked if it is the secret, in either form of a space. */
  #maskedPair(pair: string): string {
    const valueStart = pair.indexOf('=') + 1;
    const value = pair.slice(valueStart);
    const forms = [value, value.replaceAll('+', ' ')];
    const isSecret = forms.some((form) => decodePercent(form) === this.#secret);
    if (isSecret) return pair.slice(0, valueStart) + secretMark;
    return this.showable(pair);
  }
}

/** The size of what a request gives to a text, in characters. */
function sizeOf({ url, query = '', body, params }: SignableRequest): number {
  let size = url.length + query.length + (body?.length ?? 0);
  for (const [name, value] of params) size += name.length + value.length;
  return size;
}

/** Masked text with words in place of the marks. */
export function showMarks(text: string): string {
  return text.split(markPattern).join(secretLabel);
}

/** Renders a template: the value of each token, changed by its modifiers. */
export function renderTemplate(
  template: Template,
  renderer: Renderer,
  read: (token: Token) => string,
): string {
  let text = '';
  for (const part of template.parts) {
    if (typeof part === 'string') {
      text += renderer.showable(part);
    } else {
      let value = read(part);
      for (const change of part.changes) value = renderer.change(value, change);
      text += value;
    }
    renderer.checkLength(text);
  }
  return text;
}
