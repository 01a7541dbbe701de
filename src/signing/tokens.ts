import type { TextChange } from './ink.js';
import { modifiers } from './modifiers.js';
import { RecipeError } from './recipe-error.js';

const plainSources = [
  'params',
  'names',
  'values',
  'secret',
  'method',
  'host',
  'path',
  'url',
  'body',
  'sub',
] as const;
const namedSources = ['param', 'extra'] as const;

/** What a token stands for: the whole of something, or one parameter or extra value by name. */
export type Source = (typeof plainSources)[number] | (typeof namedSources)[number];

export interface Token {
  readonly source: Source;
  /** Of the parameter or extra value; empty for the other sources. */
  readonly name: string;
  readonly changes: readonly TextChange[];
}

/**
 * Reads what follows the `$` of a token, such as `secret.upper`. The known modifiers at its end are modifiers,
 * the rest is the name, which may have dots: `param:item.0.md5` is the MD5 of the parameter `item.0`.
 *
 * @throws RecipeError for a token or modifier that there is not
 */
export function parseToken(text: string, field: string): Token {
  const segments = text.split('.');
  const named = /^(param|extra):/.test(text);
  const isName = (segment: string, index: number) => index === 0 || (named && !modifiers.has(segment));
  const stem = segments.findLastIndex(isName) + 1;
  return makeToken(segments.slice(0, stem).join('.'), segments.slice(stem), field);
}

/** Reads a token written in braces, `${param:NAME}.upper`: the name as it stands, and modifiers after it. */
export function parseBracedToken(text: string, suffix: string, field: string): Token {
  return makeToken(text, suffix.split('.').slice(1), field);
}

function makeToken(stem: string, suffixes: readonly string[], field: string): Token {
  const [prefix = '', name = ''] = splitOnce(stem, ':');
  const source =
    plainSources.find((known) => known === stem) ??
    namedSources.find((known) => known === prefix && name !== '');
  if (source === undefined) {
    const tokens = plainSources.map((known) => `$${known}`).join(' ');
    throw new RecipeError(
      field,
      `unknown token $${stem}`,
      `Tokens are ${tokens} $param:NAME $extra:NAME; a literal $ is $$, and \${secret} keeps a token apart.`,
    );
  }
  return { source, name, changes: suffixes.map((suffix) => parseModifier(suffix, stem, field)) };
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

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
