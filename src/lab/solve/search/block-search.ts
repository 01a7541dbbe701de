import type { Recipe } from '../../../core/signing/recipe.js';
import { arrangementsOf } from '../candidates/arrangements.js';
import {
  type BlockChange,
  blockChanges,
  type MessageChange,
  messageChanges,
} from '../candidates/block-changes.js';
import {
  type BlockShape,
  type BlockText,
  blockKind,
  blockShapes,
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
  secretCost,
} from '../candidates/layouts.js';
import { type LazyList, rounded } from '../candidates/lazy-list.js';
import { nothing } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Fits } from './compiled-chain.js';
import type { Share, Work } from './shares.js';

/**
 * A product with less room than this between its cheapest candidate and the bound is not split: one
 * part tries all of it.
 */
const partedBits = 12;

/**
 * Maximum cost of a block, and of a layout, where the block or the message is changed as a whole.
 */
const maxChangedBits = 12;

/** Blocks of one or more shapes. */
interface Blocks {
  readonly blocks: LazyList<BlockText>;
  /** Whether the blocks contain the secret. */
  readonly keyed: boolean;
}

/** Blocks, and the layouts to put them into. */
interface Group extends Blocks {
  readonly layouts: LayoutKind;
  readonly cheapestLayout: number;
}

/**
 * Searches messages with a parameter block. The parts of a share divide the small products among
 * them, and split each large one.
 */
export function blockSearch(
  space: SearchSpace,
  fitsOf: (chain: Chain) => Fits,
): (share: Share, work: Work) => void {
  let groups: readonly Group[] | undefined;
  return (share, work) => {
    groups ??= space.task.request.params.length === 0 ? [] : groupsOf(space);
    let turn = 0;
    for (const group of groups) {
      const room = share.to - group.blocks.least - group.cheapestLayout;
      for (const block of blockChanges) {
        for (const message of messageChanges) {
          for (const chain of space.chains) {
            const least = rounded(block.bits + message.bits + chain.bits);
            if (least >= room) break;
            turn += 1;
            const isSplit = room - least > partedBits;
            if (!isSplit && turn % share.parts !== share.part) continue;
            const { part, parts } = isSplit ? share : { part: 0, parts: 1 };
            const spent = least + secretCost(group.layouts.keyed, group.keyed, chain.keyed);
            const product = {
              blocks: group.blocks,
              layouts: group.layouts.around(block.encode === 'rfc3986'),
              block,
              message,
              chain,
              fits: fitsOf(chain),
              range: lessSpent(share, spent),
              spent,
            };
            tryProduct(product, work, (part + turn) % parts, parts);
            if (work.isDone) return;
          }
        }
      }
    }
  };
}

function groupsOf(space: SearchSpace): Group[] {
  const layouts = layoutKinds(space);
  const shapes = shapeBlocks(space);
  return [
    ...pooledBlocks(shapes, space).flatMap((blocks) => [
      { ...blocks, layouts: layouts.open, cheapestLayout: 0.5 },
      { ...blocks, layouts: layouts.glued, cheapestLayout: 1.5 },
    ]),
    ...shapes.map(({ shape: { names, kvSep, pairSep }, ...blocks }) => ({
      ...blocks,
      // A secret with a name is a pair, even where the block has none.
      layouts: names ? layouts.paired(kvSep)(pairSep) : layouts.paired('=')(pairSep || '&'),
      cheapestLayout: 3.5,
    })),
  ];
}

interface ShapeBlocks extends Blocks {
  readonly shape: BlockShape['value'];
}

/** The blocks of each shape, without the secret among the parameters and with it. */
function shapeBlocks(space: SearchSpace): ShapeBlocks[] {
  const arrangements = arrangementsOf(space);
  const writings = writingsOf(space);
  return blockShapes(space.task.hints?.join).flatMap((shape) => {
    const isEnd = shape.value.pairEnd === '$secret';
    return (isEnd ? [false] : [false, true]).map((secretIn) => ({
      shape: shape.value,
      blocks: blockTexts({
        shape,
        arrangements: arrangements(blockKind(shape), secretIn),
        writings,
        space,
      }),
      keyed: secretIn || isEnd,
    }));
  });
}

/** The blocks of all shapes, in one list for all that go into the same layouts. */
function pooledBlocks(all: readonly ShapeBlocks[], { room }: SearchSpace): Blocks[] {
  return [false, true].map((keyed) => {
    const alike = all.flatMap((one) => (one.keyed === keyed ? one.blocks : []));
    return { keyed, blocks: pooledTexts(alike, room) };
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
 * Tries the candidates of a product whose total cost is within the range. The shorter list is the
 * outer loop, so that the inner loop, a stretch of the longer list, is long. A part is every
 * `parts`-th round of the outer loop.
 */
function tryProduct(product: Product, work: Work, part: number, parts: number): void {
  const { blocks, layouts, block, message, fits, range, spent } = product;
  const most = block.changes || message.changes ? maxChangedBits : Number.POSITIVE_INFINITY;
  const tryPair = ({ text, rule }: BlockText, { before, after, layout }: LayoutText) => {
    const inBlock = block.changes ? block.apply(text) : text;
    if (block.changes && (inBlock === text || (block.digests && layout.bare))) return null;
    const whole = before + inBlock + after;
    const written = message.changes ? message.apply(whole) : whole;
    if (message.changes && written === whole) return null;
    work.count();
    return fits(written) ? recipeOf(product, rule, layout) : null;
  };
  const tryRounds = <Outer, Inner>(
    outer: LazyList<Outer>,
    inner: LazyList<Inner>,
    tryTwo: (one: Outer, other: Inner) => Recipe | null,
  ) => {
    const count = outer.countBelow(Math.min(most, range.to - inner.cheapest));
    for (let index = part; index < count && !work.isCut; index += parts) {
      const bits = outer.bits[index] ?? 0;
      const end = inner.countBelow(Math.min(most, range.to - bits));
      for (let at = inner.countBelow(range.from - bits); at < end && !work.isCut; at++) {
        const recipe = tryTwo(outer.items[index] as Outer, inner.items[at] as Inner);
        if (recipe === null) continue;
        work.hit = { recipe, bits: spent + bits + (inner.bits[at] ?? 0) };
        return;
      }
    }
  };
  if (
    blocks.countBelow(range.to - layouts.cheapest) < layouts.countBelow(range.to - blocks.cheapest)
  )
    tryRounds(blocks, layouts, tryPair);
  else tryRounds(layouts, blocks, (layout, text) => tryPair(text, layout));
}

function recipeOf(
  { block, message: change, chain }: Product,
  { shape, arrangement, writing }: BlockText['rule'],
  layout: LayoutText['layout'],
): Recipe | null {
  return assembleRecipe({
    params: { ...shape.value, ...arrangement.rule, ...writing.rule },
    message: [...layout.before, { ...nothing, tokens: [block.token] }, ...layout.after],
    join: '',
    block: block.encode,
    change,
    chain,
  });
}
