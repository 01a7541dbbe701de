import type { ParamsRule } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import type { BlockKind } from './arrangements.js';
import { type Choice, choice, choices, combined, distinctBy } from './cost.js';
import { nameValueSeparators, separators } from './pieces.js';

/** The format of the parameter block, independent of which parameters are in it. */
export type BlockShape = Choice<Pick<ParamsRule, 'names' | 'values' | 'kvSep' | 'pairSep' | 'pairEnd'>>;

function shape(bits: number, rule: Partial<BlockShape['value']>): BlockShape {
  return choice({ names: true, values: true, kvSep: '=', pairSep: '&', pairEnd: '', ...rule }, bits);
}

const usual = [
  shape(1.2, {}),
  shape(2.1, { kvSep: '', pairSep: '' }),
  shape(3, { names: false, pairSep: '' }),
  shape(4, { pairSep: '' }),
];
const ends = choices<string>([4, '$secret'], [5, '&', '|'], [6, ',', '\n']);

/** The likeliest first; the usual ones, and those with these texts between pairs. */
function shapesWith(joiners: readonly Choice<string>[]): readonly BlockShape[] {
  return distinctBy(
    [
      ...usual,
      ...combined(nameValueSeparators, joiners, (kvSep, pairSep) => ({ kvSep, pairSep })).map(
        ({ value, bits }) => shape(bits + 3, value),
      ),
      ...joiners.flatMap(({ value: pairSep, bits }) => [
        shape(bits + 3, { names: false, pairSep }),
        shape(bits + 6.5, { values: false, pairSep }),
      ]),
      ...combined(usual, ends, (rule, pairEnd) => ({ ...rule, pairEnd })),
    ],
    ({ value }) => JSON.stringify(value),
  );
}

const anyShapes = shapesWith([choice('', 3), ...separators]);

/** The shapes of blocks, of which a document may say what joins the parts. */
export function blockShapes(join: string | undefined): readonly BlockShape[] {
  return join === undefined ? anyShapes : shapesWith(choices([3, ''], [0, join]));
}

/**
 * Writes a block; `write` encodes a name or a value. `join` makes the text in one piece: a text built by `+` stays
 * a rope, which costs three times as much to make and digest.
 */
export function writeShape(
  { value: { names, values, kvSep, pairSep, pairEnd } }: BlockShape,
  entries: readonly Param[],
  write: (text: string) => string,
  secret: string,
): string {
  const end = pairEnd === '$secret' ? secret : pairEnd;
  if (!names) return entries.map(([, value]) => write(value) + end).join(pairSep);
  if (!values) return entries.map(([name]) => write(name)).join(pairSep);
  return entries.map(([name, value]) => write(name) + kvSep + write(value) + end).join(pairSep);
}

/** Blocks of values and blocks of pairs tend to have other orders. */
export function blockKind({ value: { names, values } }: BlockShape): BlockKind {
  return names && values ? 'pairs' : 'values';
}
