import type { ParamsRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { memoize } from '../../support/memoize.js';
import type { BlockKind } from './arrangements.js';
import { sortByBits, type Weighted } from './cost.js';
import type { PairStyle } from './layouts.js';
import { nameValueSeparators, separators } from './pieces.js';

/** The format of the parameter block, independent of which parameters are in it. */
export interface BlockShape extends Weighted {
  readonly shows: 'pairs' | 'values' | 'names';
  readonly kvSep: string;
  readonly pairSep: string;
  /** What follows every pair, the last one too: a text, or `$secret`. */
  readonly pairEnd: string;
  /** The punctuation of a named secret next to the block: that of a pair, even where the block has none. */
  readonly style: PairStyle;
}

/** One object for each style, so that what belongs to it can be looked up. */
const styleOf = memoize((kvSep: string) => memoize((pairSep: string): PairStyle => ({ kvSep, pairSep })));

/** The likeliest first. */
export const blockShapes: readonly BlockShape[] = sortByBits([
  pairs('=', '&', 1.2),
  pairs('', '', 2.1),
  shape('values', '', '', 3),
  pairs('=', '', 4),
  ...nameValueSeparators.flatMap((kv) =>
    separators
      .filter(({ value }) => kv.value !== '=' || value !== '&')
      .map((pair) => pairs(kv.value, pair.value, kv.bits + pair.bits + 3)),
  ),
  ...nameValueSeparators
    .filter(({ value }) => value !== '=' && value !== '')
    .map(({ value, bits }) => pairs(value, '', bits + 6)),
  ...separators.map(({ value, bits }) => shape('values', '', value, bits + 3)),
  shape('names', '', '', 7),
  ...separators.map(({ value, bits }) => shape('names', '', value, bits + 6.5)),
  ...['&', '|', '\n'].map((end) => ended(pairs('=', '', 8), end)),
  ...['&', '|', ','].map((end) => ended(shape('values', '', '', 8), end)),
  ended(pairs('=', '', 5.5), '$secret'),
  ended(pairs('=', '&', 7), '$secret'),
  ended(pairs('', '', 7), '$secret'),
  ended(shape('values', '', '', 7), '$secret'),
]);

function pairs(kvSep: string, pairSep: string, bits: number): BlockShape {
  return shape('pairs', kvSep, pairSep, bits);
}

function shape(shows: BlockShape['shows'], kvSep: string, pairSep: string, bits: number): BlockShape {
  const style = shows === 'pairs' ? styleOf(kvSep)(pairSep) : styleOf('=')(pairSep || '&');
  return { shows, kvSep, pairSep, pairEnd: '', style, bits };
}

function ended(block: BlockShape, pairEnd: string): BlockShape {
  return { ...block, pairEnd };
}

export function shapeRule({ shows, pairSep, kvSep, pairEnd }: BlockShape): Partial<ParamsRule> {
  const rule = { pairSep, pairEnd };
  if (shows === 'pairs') return { ...rule, kvSep };
  return { ...rule, [shows === 'values' ? 'names' : 'values']: false };
}

/**
 * Writes a block; `write` encodes a name or a value. `join` makes the text in one piece: a text built by `+` stays
 * a rope, which costs three times as much to make and digest.
 */
export function writeShape(
  { shows, kvSep, pairSep, pairEnd }: BlockShape,
  entries: readonly Param[],
  write: (text: string) => string,
  secret: string,
): string {
  const end = pairEnd === '$secret' ? secret : pairEnd;
  switch (shows) {
    case 'pairs':
      return entries.map(([name, value]) => write(name) + kvSep + write(value) + end).join(pairSep);
    case 'values':
      return entries.map(([, value]) => write(value) + end).join(pairSep);
    case 'names':
      return entries.map(([name]) => write(name)).join(pairSep);
  }
}

/** Blocks of values and blocks of pairs tend to have other orders. */
export function blockKind({ shows }: BlockShape): BlockKind {
  return shows === 'pairs' ? 'pairs' : 'values';
}
