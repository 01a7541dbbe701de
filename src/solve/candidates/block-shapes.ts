import type { ParamsRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { memoize } from '../../support/memoize.js';
import type { BlockKind } from './arrangements.js';
import { sortByBits, type Weighted } from './cost.js';
import type { PairStyle } from './layouts.js';
import { literal, nameValueSeparators, type Piece, separators } from './pieces.js';

/** The format of the parameter block, independent of which parameters are in it. */
export interface BlockShape extends Weighted {
  /** Names, values or both; `apart` writes all names, then all values. */
  readonly shows: 'pairs' | 'values' | 'names' | 'apart';
  readonly kvSep: string;
  readonly pairSep: string;
  /** Text before the pairs. */
  readonly open: string;
  /** Text after the pairs. */
  readonly close: string;
  /** Whether the secret follows every pair. */
  readonly secretEnds: boolean;
  /** Whether values are written as JSON strings. */
  readonly isJson: boolean;
  /** The punctuation of a named secret next to the block: that of a pair, even where the block has none. */
  readonly style: PairStyle;
}

/** One object for each style, so that what belongs to it can be looked up. */
const styleOf = memoize((kvSep: string) => memoize((pairSep: string): PairStyle => ({ kvSep, pairSep })));

/** Separators after every pair, the last one too. */
const closed: readonly (readonly [kvSep: string, pairSep: string, bits: number])[] = [
  ['=', '&', 6],
  ['=', '|', 8],
  ['=', ',', 8.5],
  ['=', ';', 9],
  ['=', '\n', 8],
  [':', '\n', 8.5],
];

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
  ...separators.map(({ value, bits }) => shape('apart', value, value, bits + 6)),
  { ...pairs('":"', '","', 6.5), open: '{"', close: '"}' },
  ...closed.map(([kvSep, pairSep, bits]) => ({ ...pairs(kvSep, pairSep, bits), close: pairSep })),
  ...['&', '|', ','].map((pairSep) => ({ ...shape('values', '', pairSep, 8), close: pairSep })),
  { ...pairs('=', '&', 7.5), isJson: true },
  { ...pairs('=', '', 5.5), secretEnds: true },
  { ...pairs('=', '&', 7), secretEnds: true },
  { ...pairs('', '', 7), secretEnds: true },
  { ...shape('values', '', '', 7), secretEnds: true },
]);

function pairs(kvSep: string, pairSep: string, bits: number): BlockShape {
  return shape('pairs', kvSep, pairSep, bits);
}

function shape(shows: BlockShape['shows'], kvSep: string, pairSep: string, bits: number): BlockShape {
  const style = shows === 'pairs' ? styleOf(kvSep)(pairSep) : styleOf('=')(pairSep || '&');
  return { shows, kvSep, pairSep, open: '', close: '', secretEnds: false, isJson: false, style, bits };
}

export function shapeRule(block: BlockShape): Partial<ParamsRule> {
  const { shows, pairSep, kvSep, secretEnds, isJson } = block;
  const end = secretEnds ? { pairEnd: '$secret' } : {};
  switch (shows) {
    case 'pairs':
      return { kvSep, pairSep, ...end, ...(isJson && { json: 'values' }) };
    case 'values':
      return { names: false, pairSep, ...end };
    default:
      return { pairSep };
  }
}

/** The tokens for the block in `message`; `$params` itself may be changed. Their texts come from the block. */
export function shapePieces({ shows, kvSep, open, close }: BlockShape, params: string): Piece[] {
  const token = (name: string): Piece => ({ tokens: [name], text: '', bits: 0 });
  switch (shows) {
    case 'names':
      return [token('$names')];
    case 'apart':
      return [token('$names'), literal(kvSep), token('$values')];
    default:
      return [literal(open), token(params), literal(close)];
  }
}

/** Whether the block is more than `$params`, so that it cannot be changed as a whole. */
export function isFramed({ shows, open, close }: BlockShape): boolean {
  return open !== '' || close !== '' || shows === 'names' || shows === 'apart';
}

/**
 * Writes a block; `write` encodes a name or a value. `join` makes the text in one piece: a text built by `+` stays
 * a rope, which costs three times as much to make and digest.
 */
export function writeShape(
  shape: BlockShape,
  entries: readonly Param[],
  write: (text: string) => string,
  secret: string,
): string {
  const { shows, kvSep, pairSep, open, close, secretEnds } = shape;
  const end = secretEnds ? secret : '';
  switch (shows) {
    case 'pairs': {
      const writeValue = valueWriter(shape, write);
      const pairs = entries.map(([name, value]) => write(name) + kvSep + writeValue(value) + end);
      return open + pairs.join(pairSep) + close;
    }
    case 'values':
      return entries.map(([, value]) => write(value) + end).join(pairSep) + close;
    case 'names':
      return entries.map(([name]) => write(name)).join(pairSep);
    case 'apart':
      return [entries.map(([name]) => write(name)), entries.map(([, value]) => write(value))]
        .map((texts) => texts.join(pairSep))
        .join(kvSep);
  }
}

/** Writes the value of a pair. */
export function valueWriter(
  { isJson }: BlockShape,
  write: (text: string) => string,
): (value: string) => string {
  return isJson ? (value) => write(JSON.stringify(value)) : write;
}

/** Blocks of values and blocks of pairs tend to have other orders. */
export function blockKind({ shows }: BlockShape): BlockKind {
  return shows === 'pairs' ? 'pairs' : 'values';
}
