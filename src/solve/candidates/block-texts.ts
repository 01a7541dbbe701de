import type { Case, TextEncoding } from '../../signing/encodings.js';
import { compileOrder, compileParamText } from '../../signing/params.js';
import { isByPair, type ParamsRule, recipeDefaults } from '../../signing/recipe.js';
import type { Param } from '../../signing/request.js';
import { memoize } from '../../support/memoize.js';
import type { Arrangement } from './arrangements.js';
import type { BlockChange, MessageChange } from './block-changes.js';
import { type BlockShape, writeShape } from './block-shapes.js';
import { choices, distinctBy, type Weighted } from './cost.js';
import { LazyList } from './lazy-list.js';
import type { SearchSpace } from './search-space.js';

const maxBlockBits = 17;

/** Maximum cost of a block before it is changed as a whole, alone or with the message. */
const maxChangedBits = 12;

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
  readonly secret: string;
}

/** Distinct blocks, the likeliest first, each at its lowest cost, and their changed forms. */
export interface BlockTexts {
  /** Unchanged. The cost includes the shape. */
  readonly plain: LazyList<BlockText>;
  /**
   * In the message. Texts that the change of the block leaves as they are are left out: they are among the plain
   * ones.
   */
  readonly changed: (block: BlockChange) => (message: MessageChange) => LazyList<BlockText>;
}

export function blockTexts({ shape, arrangements, writings, secret }: BlockParts): BlockTexts {
  const plain = new LazyList<BlockText>(maxBlockBits, textOf, (from, to, add) => {
    arrangements.visit(0, to - shape.bits, (arrangement, arranged) => {
      for (const writing of writings) {
        const bits = shape.bits + arranged + writing.bits;
        if (bits >= to) break;
        if (bits < from) continue;
        const { write } = writing;
        const text = writeShape(shape, inOrder(arrangement, shape, write), write, secret);
        add({ text, rule: { shape, arrangement, writing } }, bits);
      }
    });
  });
  return withChanges(plain);
}

function textOf({ text }: BlockText): string {
  return text;
}

function inOrder(
  { rule, entries }: Arrangement,
  { shows, kvSep }: BlockShape,
  write: Writing['write'],
): readonly Param[] {
  if (!isByPair(rule.order)) return entries;
  const key = shows === 'pairs' ? (name: string) => write(name) + kvSep : () => '';
  return compileOrder(rule.order, ([name, value]) => key(name) + write(value))([...entries]);
}

/** The texts of several shapes in one list. */
export function pooledTexts(all: readonly BlockTexts[]): BlockTexts {
  const pool = new LazyList<BlockText>(maxBlockBits, textOf, (from, to, add) => {
    for (const { plain } of all) plain.visit(from, to, add);
  });
  return withChanges(pool);
}

function withChanges(plain: LazyList<BlockText>): BlockTexts {
  const inBlock = memoize(({ changes, apply }: BlockChange) => {
    if (!changes) return plain;
    return plain.map(maxChangedBits, ({ text, rule }) => {
      const changed = apply(text);
      return changed === text ? null : { text: changed, rule };
    });
  });
  return {
    plain,
    changed: memoize((block) =>
      memoize(({ changes, apply }) =>
        changes
          ? inBlock(block).map(maxChangedBits, ({ text, rule }) => ({ text: apply(text), rule }))
          : inBlock(block),
      ),
    ),
  };
}

/** The encoding of names and values. */
export interface Writing extends Weighted {
  readonly rule: Pick<ParamsRule, 'encode' | 'case'>;
  readonly write: (text: string) => string;
}

export const encodings = choices<TextEncoding>([0.4, 'none'], [3.3, 'form', 'rfc3986'], [6, 'form-dotnet']);
export const foldings = choices<Case>([0.1, 'none'], [5, 'lower', 'upper']);

/** The ways to write the parameters, the likeliest first. */
export function writingsOf({ task }: SearchSpace): Writing[] {
  const texts = task.request.params.flat();
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
