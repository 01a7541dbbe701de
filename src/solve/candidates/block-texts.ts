import type { Case, TextEncoding } from '../../signing/encodings.js';
import { compileOrder, compileParamText } from '../../signing/params.js';
import { isByPair, type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { memoize } from '../../support/memoize.js';
import type { Arrangement } from './arrangements.js';
import type { BlockChange, MessageChange } from './block-changes.js';
import { type BlockShape, valueWriter, writeShape } from './block-shapes.js';
import { type CostRange, choices, distinctBy, lessSpent, sortByBits, type Weighted } from './cost.js';
import { LazyList } from './lazy-list.js';
import type { SearchSpace } from './search-space.js';

/** Receives the text of a block, its cost, and the rule by which it is written. */
type AddBlock = (text: string, bits: number, arrangement: Arrangement, writing: Writing) => void;

const maxBlockBits = 17;

/** Maximum cost of a block before it is changed as a whole, alone or with the message. */
const maxChangedBits = 12;

export interface BlockParts {
  readonly shape: BlockShape;
  readonly arrangements: LazyList<Arrangement>;
  readonly writings: readonly Writing[];
  readonly secret: string;
  /** Maximum number of pairs in a block. Default: any. */
  readonly maxPairs?: number;
}

/** Writes the blocks of one shape that cost from `from` to below `to`; the cost of the shape is not included. */
export function writeBlocks(parts: BlockParts, { from, to }: CostRange, add: AddBlock): void {
  const { shape, arrangements, writings, secret, maxPairs = Number.POSITIVE_INFINITY } = parts;
  const count = arrangements.countBelow(to);
  for (let index = 0; index < count; index++) {
    const arrangement = arrangements.items[index] as Arrangement;
    if (arrangement.entries.length > maxPairs) continue;
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
): readonly Param[] {
  const { order } = rule;
  if (!isByPair(order)) return entries;
  const key = shape.shows === 'pairs' ? (name: string) => write(name) + shape.kvSep : () => '';
  const writeValue = valueWriter(shape, write);
  return compileOrder(order, ([name, value]) => key(name) + writeValue(value))([...entries]);
}

/** Distinct block texts, the likeliest first, each at its lowest cost, and their changed forms. */
export interface BlockTexts {
  /** Unchanged. The cost includes the shape. */
  readonly plain: LazyList<string>;
  /**
   * In the message. Texts that the change of the block leaves as they are are left out: they are among the plain
   * ones.
   */
  readonly changed: (block: BlockChange) => (message: MessageChange) => LazyList<string>;
}

export function blockTexts(parts: BlockParts): BlockTexts {
  const { bits } = parts.shape;
  const plain = new LazyList<string>(maxBlockBits, String, (from, to, add) => {
    writeBlocks(parts, lessSpent({ from, to }, bits), (text, written) => add(text, written + bits));
  });
  return withChanges(plain);
}

/** The texts of several shapes in one list. */
export function pooledTexts(all: readonly BlockTexts[]): BlockTexts {
  const pool = new LazyList<string>(maxBlockBits, String, (from, to, add) => {
    for (const { plain } of all) plain.visit(from, to, add);
  });
  return withChanges(pool);
}

function withChanges(plain: LazyList<string>): BlockTexts {
  const inBlock = memoize(({ changes, apply }: BlockChange) => {
    if (!changes) return plain;
    return plain.map(maxChangedBits, (text) => {
      const changed = apply(text);
      return changed === text ? null : changed;
    });
  });
  return {
    plain,
    changed: memoize((block) =>
      memoize(({ changes, apply }) => (changes ? inBlock(block).map(maxChangedBits, apply) : inBlock(block))),
    ),
  };
}

/** The encoding of names and values. */
export interface Writing extends Weighted {
  readonly rule: Pick<ParamsRule, 'escape' | 'encode' | 'case'>;
  readonly write: (text: string) => string;
}

const encodings = choices<TextEncoding>([0.4, 'none'], [3.3, 'form', 'rfc3986'], [6, 'form-dotnet']);
const foldings = choices<Case>([0.1, 'none'], [5, 'lower', 'upper']);

/** Replacements that documented rules use. */
const escapes = choices<ParamsRule['escape']>(
  [0, {}],
  [8, { '&': '_', '=': '_' }, { '\\': '\\\\', ':': '\\:' }, { '\\': '\\\\', '"': '\\"' }],
  [9, { ' ': '' }, { '/': '\\/' }, { '|': '\\|' }, { '\\': '\\\\', '|': '\\|' }],
);

/**
 * The ways to write the parameters, the likeliest first; a replacement is included where it finds something to
 * replace in them.
 */
export function writingsOf({ task, isDistinct }: SearchSpace): Writing[] {
  const texts = task.request.params.flat();
  const everything = texts.join('\n');
  const useful = escapes.filter(
    ({ value, bits }) => bits === 0 || Object.keys(value).some((text) => everything.includes(text)),
  );
  const writings = useful.flatMap((replaced) =>
    encodings.flatMap((encode) =>
      foldings.map((fold) => {
        const rule = { escape: replaced.value, encode: encode.value, case: fold.value };
        const write = compileParamText({ ...recipeDefaults.params, ...rule });
        const isPlain = rule.case === 'none' && rule.encode === 'none' && replaced.bits === 0;
        // The same few texts are written in thousands of blocks.
        return {
          rule,
          write: isPlain ? write : memoize(write),
          bits: replaced.bits + encode.bits + fold.bits,
        };
      }),
    ),
  );
  return isDistinct ? distinctBy(writings, ({ write }) => texts.map(write).join('\0')) : sortByBits(writings);
}
