import type { TextEncoding } from '../../signing/encodings.js';
import type { Case } from '../../signing/letter-case.js';
import { compileOrder } from '../../signing/param-order.js';
import type { Entry } from '../../signing/param-selection.js';
import { compileParamText } from '../../signing/param-text.js';
import { type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import type { Arrangement } from './arrangements.js';
import type { BlockChange, MessageChange } from './block-changes.js';
import { type BlockShape, writeShape } from './block-shapes.js';
import {
  distinctBy,
  GrowingList,
  lessSpent,
  once,
  type PriceRange,
  sortByBits,
  type Weighed,
} from './weighted.js';

/** Takes a block as it is written, what it costs, and by which rule it is written. */
type AddBlock = (text: string, bits: number, arrangement: Arrangement, writing: Writing) => void;

/** No block is dearer than this. */
const dearestBlock = 17;

/** No block that is changed as a whole, alone or with the message, is dearer than this before. */
const dearestChanged = 12;

/** What the blocks of one shape are made of. */
interface BlockParts {
  readonly shape: BlockShape;
  readonly arrangements: GrowingList<Arrangement>;
  readonly writings: readonly Writing[];
  readonly secret: string;
  /** Blocks of more pairs are not wanted. */
  readonly mostPairs: number;
}

/** Writes the blocks of one shape that cost `from` or more and less than `to`, without the shape. */
export function writeBlocks(parts: BlockParts, { from, to }: PriceRange, add: AddBlock): void {
  const { shape, arrangements, writings, secret, mostPairs } = parts;
  const count = arrangements.countBelow(to);
  for (let index = 0; index < count; index++) {
    const arrangement = arrangements.items[index] as Arrangement;
    if (arrangement.entries.length > mostPairs) continue;
    const arranged = arrangements.bits[index] ?? 0;
    for (const writing of writings) {
      const bits = arranged + writing.bits;
      if (bits >= to) break;
      if (bits < from) continue;
      const { write } = writing;
      add(writeShape(shape, inOrder(arrangement, shape, write), write, secret), bits, arrangement, writing);
    }
  }
}

function inOrder(
  { rule, entries }: Arrangement,
  shape: BlockShape,
  write: Writing['write'],
): readonly Entry[] {
  const { order } = rule;
  if (order !== 'pair' && order !== 'pair-nocase') return entries;
  const key = shape.shows === 'pairs' ? (name: string) => write(name) + shape.kvSep : () => '';
  return compileOrder(order, ([name, value]) => key(name) + write(value))([...entries]);
}

/** Texts as they stand in the message: those that the change of the message touches, and the others. */
interface ChangedTexts {
  readonly touched: GrowingList<string>;
  readonly untouched: GrowingList<string>;
}

/** Different texts of blocks, the likeliest first, each at its lowest price, and what becomes of them. */
export interface BlockTexts {
  /** As they are written; the price is that of the shape as well. */
  readonly plain: GrowingList<string>;
  /** As they stand in the message. What the change of the block does not touch is left out: it is there without. */
  readonly changed: (block: BlockChange) => (message: MessageChange) => ChangedTexts;
}

/** The texts of the blocks of one shape. */
export function blockTexts(parts: BlockParts): BlockTexts {
  const { bits } = parts.shape;
  const make = new GrowingList<string>(dearestBlock, itself, (from, to, add) => {
    writeBlocks(parts, lessSpent({ from, to }, bits), (text, price) => add(text, price + bits));
  });
  return changeable(make);
}

/** The texts of several shapes together. */
export function pooledTexts(all: readonly BlockTexts[]): BlockTexts {
  const pool = new GrowingList<string>(dearestBlock, itself, (from, to, add) => {
    for (const { plain } of all) plain.visit(from, to, add);
  });
  return changeable(pool);
}

function itself(text: string): string {
  return text;
}

function changeable(plain: GrowingList<string>): BlockTexts {
  const inBlock = once(({ changes, apply }: BlockChange) =>
    changes ? plain.map(dearestChanged, (text) => unlessSame(apply(text), text)) : plain,
  );
  return { plain, changed: once((block) => once((message) => changeTexts(inBlock(block), message))) };
}

/** Everything is touched where the message is not changed at all. */
function changeTexts(texts: GrowingList<string>, { changes, apply }: MessageChange): ChangedTexts {
  if (!changes) return { touched: texts, untouched: new GrowingList<string>(0, null, () => {}) };
  return {
    touched: texts.map(dearestChanged, (text) => unlessSame(apply(text), text)),
    untouched: texts.map(dearestChanged, (text) => (apply(text) === text ? text : null)),
  };
}

function unlessSame(changed: string, text: string): string | null {
  return changed === text ? null : changed;
}

/** How names and values are written. */
export interface Writing extends Weighed {
  readonly rule: Pick<ParamsRule, 'escape' | 'encode' | 'case'>;
  readonly write: (text: string) => string;
}

const encodings: readonly (readonly [TextEncoding, number])[] = [
  ['none', 0.4],
  ['form', 3.3],
  ['rfc3986', 3.3],
  ['form-dotnet', 6],
];

const foldings: readonly (readonly [Case, number])[] = [
  ['none', 0.1],
  ['lower', 5],
  ['upper', 5],
];

/** Texts that rules are known to replace. */
const escapes: readonly (readonly [ParamsRule['escape'], number])[] = [
  [{}, 0],
  [{ '&': '_', '=': '_' }, 8],
  [{ '\\': '\\\\', ':': '\\:' }, 8],
  [{ '\\': '\\\\', '"': '\\"' }, 8],
  [{ ' ': '' }, 9],
  [{ '/': '\\/' }, 9],
];

/** The likeliest first; an escape takes part where it finds something to replace in the parameters. */
export function writings(params: readonly Param[]): Writing[] {
  const everything = params.flat().join('\n');
  const useful = escapes.filter(
    ([replaced]) =>
      Object.keys(replaced).length === 0 || Object.keys(replaced).some((text) => everything.includes(text)),
  );
  return sortByBits(
    useful.flatMap(([replaced, escapeBits]) =>
      encodings.flatMap(([encode, encodeBits]) =>
        foldings.map(([fold, foldBits]) => {
          const rule = { escape: replaced, encode, case: fold };
          const write = compileParamText({ ...recipeDefaults.params, ...rule });
          return {
            rule,
            write: fold === 'none' && encode === 'none' && escapeBits === 0 ? write : remember(write),
            bits: escapeBits + encodeBits + foldBits,
          };
        }),
      ),
    ),
  );
}

/** The writings that differ in what they make of the parameters. */
export function distinctWritings(params: readonly Param[]): Writing[] {
  const everything = params.flat();
  return distinctBy(writings(params), ({ write }) => everything.map(write).join('\0'));
}

/** The same few texts are written in thousands of blocks. */
function remember(write: (text: string) => string): (text: string) => string {
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text);
    if (known !== undefined) return known;
    const made = write(text);
    written.set(text, made);
    return made;
  };
}
