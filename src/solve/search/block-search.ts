import type { Recipe } from '../../signing/recipe.js';
import { arrangementsOf } from '../candidates/arrangements.js';
import {
  type BlockChange,
  blockChanges,
  type MessageChange,
  messageChanges,
} from '../candidates/block-changes.js';
import { type BlockShape, blockKind, blockShapes, shapeRule } from '../candidates/block-shapes.js';
import {
  type BlockText,
  type BlockTexts,
  blockTexts,
  pooledTexts,
  writingsOf,
} from '../candidates/block-texts.js';
import type { Chain } from '../candidates/chains.js';
import { type CostRange, lessSpent } from '../candidates/cost.js';
import {
  type LayoutKind,
  type LayoutText,
  layoutKinds,
  type PairStyle,
  secretCost,
} from '../candidates/layouts.js';
import type { LazyList } from '../candidates/lazy-list.js';
import { nothing } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Fits } from './compiled-chain.js';
import type { Share, Tally } from './shares.js';

/**
 * A product with less room than this between its cheapest candidate and the bound is not split: one part tries all
 * of it.
 */
const partedBits = 12;

/** Blocks of one or more shapes. */
interface Blocks {
  readonly texts: BlockTexts;
  /** Whether the blocks contain the secret. */
  readonly keyed: boolean;
}

/** Blocks, and the layouts to put them into. */
interface Group extends Blocks {
  readonly layouts: LayoutKind;
  readonly cheapestLayout: number;
}

/**
 * Searches messages with a parameter block. The parts of a share divide the small products among them, and split
 * each large one.
 */
export function blockSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, tally: Tally) => void {
  const groups = space.task.request.params.length === 0 ? [] : groupsOf(space);
  return (share, tally) => {
    let turn = 0;
    for (const group of groups) {
      const room = share.to - group.texts.plain.cheapest - group.cheapestLayout;
      for (const block of blockChanges) {
        for (const message of messageChanges) {
          for (const chain of space.chains) {
            const least = block.bits + message.bits + chain.bits;
            if (least >= room) break;
            turn += 1;
            const isSplit = room - least > partedBits;
            if (!isSplit && turn % share.parts !== share.part) continue;
            const { part, parts } = isSplit ? share : { part: 0, parts: 1 };
            const spent = least + secretCost(group.layouts.keyed, group.keyed, chain.keyed);
            const product = {
              blocks: group.texts.changed(block)(message),
              layouts: group.layouts.around(block)(message),
              block,
              message,
              chain,
              fits: fitsOf(chain),
              range: lessSpent(share, spent),
              spent,
            };
            tryProduct(product, tally, (part + turn) % parts, parts);
            if (tally.hit !== null) return;
          }
        }
      }
    }
  };
}

/** Whether the secret follows every pair. */
function endsIn({ pairEnd }: BlockShape): boolean {
  return pairEnd === '$secret';
}

function groupsOf(space: SearchSpace): Group[] {
  const layouts = layoutKinds(space);
  const shapes = shapeBlocks(space);
  return [
    ...pooledBlocks(shapes).flatMap((blocks) => [
      { ...blocks, layouts: layouts.open, cheapestLayout: 0.6 },
      { ...blocks, layouts: layouts.glued, cheapestLayout: 1.9 },
    ]),
    ...shapes.map((blocks) => ({ ...blocks, layouts: layouts.paired(blocks.style), cheapestLayout: 3.5 })),
  ];
}

/** Blocks of one shape; the secret can be next to them as one more pair. */
interface ShapeBlocks extends Blocks {
  readonly style: PairStyle;
}

/** The blocks of each shape, without the secret among the parameters and with it. */
function shapeBlocks(space: SearchSpace): ShapeBlocks[] {
  const arrangements = arrangementsOf(space);
  const writings = writingsOf(space);
  const secret = space.task.secret.reveal();
  return blockShapes.flatMap((shape) =>
    (endsIn(shape) ? [false] : [false, true]).map((secretIn) => ({
      style: shape.style,
      texts: blockTexts({ shape, arrangements: arrangements(blockKind(shape), secretIn), writings, secret }),
      keyed: secretIn || endsIn(shape),
    })),
  );
}

/** The blocks of all shapes, in one list for all that go into the same layouts. */
function pooledBlocks(all: readonly ShapeBlocks[]): Blocks[] {
  return [false, true].map((keyed) => {
    const alike = all.filter((blocks) => blocks.keyed === keyed);
    return { keyed, texts: pooledTexts(alike.map(({ texts }) => texts)) };
  });
}

/** Every block in every layout, for one digest chain. */
interface Product {
  readonly blocks: LazyList<BlockText>;
  readonly layouts: LazyList<LayoutText>;
  readonly block: BlockChange;
  readonly message: MessageChange;
  readonly chain: Chain;
  readonly fits: Fits;
  /** Costs of block and layout together. */
  readonly range: CostRange;
  /** The cost of a candidate without its block and its layout. */
  readonly spent: number;
}

/**
 * Tries the candidates of a product whose total cost is within the range. The shorter list is the outer loop, so
 * that the inner loop, a stretch of the longer list, is long. A part is every `parts`-th round of the outer loop.
 */
function tryProduct(product: Product, tally: Tally, part: number, parts: number): void {
  const { blocks, layouts, range } = product;
  const blockCount = blocks.countBelow(range.to - layouts.cheapest);
  const layoutCount = layouts.countBelow(range.to - blocks.cheapest);
  const tryAt =
    blockCount < layoutCount
      ? tryItem(product, tally, blocks, layouts, {
          write: ({ text }, { before, after }) => before + text + after,
          recipe: (block, layout) => recipeOf(product, block, layout),
        })
      : tryItem(product, tally, layouts, blocks, {
          write: ({ before, after }, { text }) => before + text + after,
          recipe: (layout, block) => recipeOf(product, block, layout),
        });
  const count = Math.min(blockCount, layoutCount);
  for (let index = part; index < count && tally.hit === null; index += parts) tryAt(index);
}

/** What an item of each list gives together. */
interface Pairing<Outer, Inner> {
  readonly write: (outer: Outer, inner: Inner) => string;
  readonly recipe: (outer: Outer, inner: Inner) => Recipe | null;
}

/** Tries an item of the outer list with those of the inner list that are within the range with it. */
function tryItem<Outer, Inner>(
  { fits, range, spent }: Product,
  tally: Tally,
  outer: LazyList<Outer>,
  inner: LazyList<Inner>,
  { write, recipe: recipeFor }: Pairing<Outer, Inner>,
): (index: number) => void {
  return (index) => {
    const item = outer.items[index] as Outer;
    const bits = outer.bits[index] ?? 0;
    const end = inner.countBelow(range.to - bits);
    for (let at = inner.countBelow(range.from - bits); at < end; at++) {
      tally.tried += 1;
      const other = inner.items[at] as Inner;
      if (!fits(write(item, other))) continue;
      const recipe = recipeFor(item, other);
      if (recipe === null) continue;
      tally.hit = { recipe, bits: spent + bits + (inner.bits[at] ?? 0) };
      return;
    }
  };
}

function recipeOf(
  { block, message: change, chain }: Product,
  { rule: { shape, arrangement, writing } }: BlockText,
  { layout }: LayoutText,
): Recipe | null {
  return assembleRecipe({
    params: { ...shapeRule(shape), ...arrangement.rule, ...writing.rule },
    message: [...layout.before, { ...nothing, tokens: [block.token] }, ...layout.after],
    join: '',
    block: block.encode,
    change,
    chain,
  });
}
