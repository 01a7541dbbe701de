import type { SubRule } from '../../recipe.js';
import type { Param } from '../../request.js';
import { distinctBy, type Weighed } from './choice.js';

/** A stretch of a message: how a recipe says it, and the text that it is in the sample. */
export interface Piece extends Weighed {
  /** Entries of `message`, literals and tokens. */
  readonly tokens: readonly string[];
  readonly text: string;
  /** What `$sub` in the tokens stands for. */
  readonly sub?: SubRule;
  /** What `$path` in the tokens leaves out. */
  readonly basePath?: string;
}

export const nothing: Piece = { tokens: [], text: '', bits: 0 };

export function literal(text: string, bits = 0): Piece {
  return text === '' ? { ...nothing, bits } : { tokens: [text.replaceAll('$', '$$$$')], text, bits };
}

/** Pieces one after the other, as one. */
export function glue(...pieces: readonly Piece[]): Piece {
  const sub = pieces.find((piece) => piece.sub !== undefined)?.sub;
  const basePath = pieces.find((piece) => piece.basePath !== undefined)?.basePath;
  return {
    tokens: pieces.flatMap(({ tokens }) => tokens),
    text: pieces.map(({ text }) => text).join(''),
    bits: pieces.reduce((sum, { bits }) => sum + bits, 0),
    ...(sub !== undefined && { sub }),
    ...(basePath !== undefined && { basePath }),
  };
}

/** Pieces with a literal between them. */
export function join(pieces: readonly Piece[], separator: string): Piece {
  const between = literal(separator);
  return glue(...pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece])));
}

/** The token of a parameter or an extra value; null where no token can hold the name. */
export function namedToken(source: 'param' | 'extra', name: string): string | null {
  if (/^[\w-]+$/.test(name)) return `$${source}:${name}`;
  return name === '' || /[{}]/.test(name) ? null : `\${${source}:${name}}`;
}

/** The same token, to stand before any text. */
export function bracedToken(source: 'param' | 'extra', name: string): string {
  return `\${${source}:${name}}`;
}

/** The first parameter of each name. */
export function distinctParams(params: readonly Param[]): Param[] {
  const firsts = new Map<string, Param>();
  for (const param of params) if (!firsts.has(param[0])) firsts.set(param[0], param);
  return [...firsts.values()];
}

/** The cheapest of those with the same text; what is empty is left out. */
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
