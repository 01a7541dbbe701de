import { encoders } from '../../../core/signing/encodings.js';
import type { ParamsRule, Recipe } from '../../../core/signing/recipe.js';
import { modifiers } from '../../../core/signing/template.js';
import { choices, distinctBy, type Weighted } from './cost.js';

/** A part of a message: its recipe tokens, and its text in the sample. */
export interface Piece extends Weighted {
  /** Entries of `message`, literals and tokens. */
  readonly tokens: readonly string[];
  readonly text: string;
  /** The rule for the sub in the tokens. */
  readonly sub?: Recipe['sub'];
  /** The prefix that `$path` in the tokens leaves out. */
  readonly basePath?: string;
  /** The rule for `$params` in the tokens. */
  readonly params?: Partial<ParamsRule>;
  /** Whether it is glued to the piece behind it, whatever joins the pieces: a label. */
  readonly leads?: boolean;
}

export const nothing: Piece = { tokens: [], text: '', bits: 0 };

export function literal(text: string, bits = 0): Piece {
  return text === ''
    ? { ...nothing, bits }
    : { tokens: [text.replaceAll('$', '$$$$')], text, bits };
}

export function glue(...pieces: readonly Piece[]): Piece {
  return {
    ...Object.assign({}, ...pieces),
    leads: false,
    tokens: pieces.flatMap(({ tokens }) => tokens),
    text: textOf(pieces),
    bits: pieces.reduce((sum, { bits }) => sum + bits, 0),
  };
}

/** The pieces as one entry of a message, without what joins the entries. */
export function fuse(...pieces: readonly Piece[]): Piece {
  const whole = glue(...pieces);
  const braced = whole.tokens.map((token, index) =>
    /^[\w.:-]/.test(whole.tokens[index + 1] ?? '')
      ? token.replace(/^\$([\w:-]+)(?=(?:\.[\w:-]+)*$)/, (_, name: string) => `\${${name}}`)
      : token,
  );
  return { ...whole, tokens: [braced.join('')] };
}

export function joinPieces(pieces: readonly Piece[], separator: string): Piece {
  const between = literal(separator);
  return glue(...pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece])));
}

/** The token of a parameter or an extra value; null where a token cannot hold the name. */
export function namedToken(source: 'param' | 'extra', name: string): string | null {
  if (/^[\w-]+$/.test(name)) return `$${source}:${name}`;
  return name === '' || /[{}]/.test(name) ? null : `\${${source}:${name}}`;
}

/** The token of a parameter or an extra value, in the form that any text may follow. */
export function bracedToken(source: 'param' | 'extra', name: string): string {
  return `\${${source}:${name}}`;
}

/** The cheapest piece of each text; empty ones are left out. */
export function distinctPieces(pieces: readonly Piece[]): Piece[] {
  return distinctBy(
    pieces.filter(({ text }) => text !== ''),
    ({ text }) => text,
  );
}

export function textOf(pieces: readonly Piece[]): string {
  let text = '';
  for (const piece of pieces) text += piece.text;
  return text;
}

export function changed(token: string, text: string, modifier: string, bits: number): Piece {
  return { tokens: [`${token}.${modifier}`], text: modifierNamed(modifier)(text), bits };
}

/** @throws Error for a name that is not a modifier of tokens */
export function modifierNamed(name: string): (text: string) => string {
  const change = modifiers.get(name);
  if (change === undefined) throw new Error(`there is no modifier ${name}`);
  return change.apply;
}

/** A piece of one token, percent-encoded. */
export function percentEncoded({ tokens, text, ...piece }: Piece): Piece {
  return {
    ...piece,
    tokens: tokens.map((token) => `${token}.rfc3986`),
    text: encoders.rfc3986(text),
  };
}

/** Separators of two texts, except for the empty one, the likeliest first. */
export const separators = choices<string>(
  [1.5, '&'],
  [2.5, ',', '|'],
  [3, '\n', ':'],
  [3.5, '_', '-', '.'],
  [4, ';'],
  [4.5, '#'],
  [5, '+', ' '],
  [5.5, '$', '@', '*', '/', '='],
  [6, '?', '~', '^'],
  [6.5, '!', '%', '&&', '||', '##', ', ', '\r\n', '\t'],
);

export const nameValueSeparators = choices<string>(
  [0.6, '='],
  [2, ''],
  [2.6, ':'],
  [5.5, '|', ',', '_', '-'],
  [6, '#'],
  [6.5, '==', '=>', ': ', '&'],
);
