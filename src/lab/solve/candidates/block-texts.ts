import type { Case, TextEncoding } from '../../../core/signing/encodings.js';
import { compileOrder, compileParamText } from '../../../core/signing/params.js';
import { isByPair, type ParamsRule, recipeDefaults } from '../../../core/signing/recipe.js';
import type { Param } from '../../../core/signing/request.js';
import { memoize } from '../../../core/support/memoize.js';
import type { Arrangement, BlockKind } from './arrangements.js';
import { type Choice, choice, choices, combined, distinctBy, type Weighted } from './cost.js';
import { type Add, costStep, LazyList, type Room } from './lazy-list.js';
import { nameValueSeparators, separators } from './pieces.js';
import type { SearchSpace } from './search-space.js';

/** The format of the parameter block, independent of which parameters are in it. */
export type BlockShape = Choice<
  Pick<ParamsRule, 'names' | 'values' | 'kvSep' | 'pairSep' | 'pairEnd'>
>;

function shape(bits: number, rule: Partial<BlockShape['value']>): BlockShape {
  return choice(
    { names: true, values: true, kvSep: '=', pairSep: '&', pairEnd: '', ...rule },
    bits,
  );
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
  if (join === undefined) return anyShapes;
  const inPairs = [
    shape(5, { kvSep: join, pairSep: join }),
    shape(6, { kvSep: join, pairSep: '', pairEnd: join }),
  ];
  return [...shapesWith(choices([3, ''], [0, join])), ...inPairs];
}

/**
 * Writes a block; `write` encodes a name or a value. `join` makes the text in one piece: a text
 * built by `+` stays a rope, which costs three times as much to make and digest.
 */
function writeShape(
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

const maxBlockBits = 17;

/** A parameter block, and the rule by which it is written. */
export interface BlockText {
  readonly text: string;
  readonly rule: BlockRule;
}

interface BlockRule {
  readonly shape: BlockShape;
  readonly arrangement: Arrangement;
  readonly writing: Writing;
}

interface BlockParts {
  readonly shape: BlockShape;
  readonly arrangements: LazyList<Arrangement>;
  readonly writings: readonly Writing[];
  readonly space: SearchSpace;
}

/**
 * Distinct blocks of one shape, the likeliest first, each at its lowest cost. The cost includes the
 * shape.
 */
export function blockTexts({
  shape,
  arrangements,
  writings,
  space,
}: BlockParts): LazyList<BlockText> {
  const { room, task } = space;
  const secret = task.secret.reveal();
  const make = (from: number, to: number, add: Add<BlockText>) => {
    for (const writing of writings) {
      const { write } = writing;
      const spent = shape.bits + writing.bits;
      arrangements.visit(from - spent - costStep, to - spent, (arrangement, arranged) => {
        const bits = spent + arranged;
        if (bits < from || bits >= to) return;
        const text = writeShape(shape, inOrder(arrangement, shape, write), write, secret);
        add({ text, rule: { shape, arrangement, writing } }, bits);
      });
    }
  };
  const least = shape.bits + arrangements.cheapest + (writings[0]?.bits ?? 0);
  return new LazyList(maxBlockBits, textOf, room, make, Math.min(least, maxBlockBits));
}

function textOf({ text }: BlockText): string {
  return text;
}

function inOrder(
  { rule, entries }: Arrangement,
  { value: { names, values, kvSep } }: BlockShape,
  write: Writing['write'],
): readonly Param[] {
  if (!isByPair(rule.order)) return entries;
  const key = names && values ? (name: string) => write(name) + kvSep : () => '';
  return compileOrder(rule.order, ([name, value]) => key(name) + write(value))([...entries]);
}

/** The blocks of several shapes in one list. */
export function pooledTexts(all: readonly LazyList<BlockText>[], room: Room): LazyList<BlockText> {
  const make = (from: number, to: number, add: Add<BlockText>) => {
    for (const blocks of all) blocks.visit(from, to, add);
  };
  return new LazyList(maxBlockBits, textOf, room, make, Math.min(...all.map(({ least }) => least)));
}

/** The encoding of names and values. */
export interface Writing extends Weighted {
  readonly rule: Pick<ParamsRule, 'encode' | 'case'>;
  readonly write: (text: string) => string;
}

export const encodings = choices<TextEncoding>(
  [0.4, 'none'],
  [3.3, 'form', 'rfc3986'],
  [6, 'form-dotnet'],
);
export const foldings = choices<Case>([0.1, 'none'], [5, 'lower', 'upper']);

/** The ways to write the parameters, the likeliest first. */
export function writingsOf({ task }: SearchSpace): Writing[] {
  const texts = task.request.params.flatMap(([name, value]): string[] => [name, value]);
  const writings = encodings.flatMap((encode) =>
    foldings.map((fold) => {
      const rule = { encode: encode.value, case: fold.value };
      const write = compileParamText({ ...recipeDefaults.params, ...rule });
      const isPlain = rule.case === 'none' && rule.encode === 'none';
      // The same few texts are written in thousands of blocks.
      return { rule, write: isPlain ? write : memoize(write), bits: encode.bits + fold.bits };
    }),
  );
  return distinctBy(writings, ({ write }) => texts.map(write).join('\0'));
}
