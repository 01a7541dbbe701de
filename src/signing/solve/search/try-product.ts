import type { PriceRange } from '../space/choice.js';
import type { GrowingList } from '../space/growing-list.js';
import type { LayoutText } from '../space/layout-lists.js';
import type { ReadyChain } from './ready-chain.js';
import { noteHit, type Tally } from './share.js';

/** A product is parted along its inner loop where that leaves so many candidates of a round for each part. */
const triesForEach = 32;

/** What a product is tried with. */
interface Attempt {
  readonly blocks: GrowingList<string>;
  readonly layouts: GrowingList<LayoutText>;
  readonly ready: ReadyChain;
  readonly range: PriceRange;
  /** What a candidate costs beside its block and its layout. */
  readonly spent: number;
  readonly tally: Tally;
}

/**
 * Tries every block in every layout, as far as their prices together are within the share. This is where the time
 * goes: the shorter list is the outer loop, so that the inner one, a stretch of the longer list, is long.
 */
export function tryProduct(attempt: Attempt, part: number, parts: number): void {
  const { blocks, layouts, range, tally } = attempt;
  const blockCount = blocks.countBelow(range.to - layouts.cheapest);
  const layoutCount = layouts.countBelow(range.to - blocks.cheapest);
  const tryAt = blockCount < layoutCount ? tryBlock : tryLayout;
  const count = Math.min(blockCount, layoutCount);
  const isOuterParted = count >= parts || Math.max(blockCount, layoutCount) < parts * triesForEach;
  const outerStep = isOuterParted ? parts : 1;
  const innerStep = isOuterParted ? 1 : parts;
  for (let index = isOuterParted ? part : 0; index < count && tally.hit === null; index += outerStep) {
    tryAt(attempt, index, isOuterParted ? 0 : (part + index) % parts, innerStep);
  }
}

/** One block in the layouts that are within the range with it: every `step`-th of them. */
function tryBlock(
  { blocks, layouts, ready: { chain, fits }, range, spent, tally }: Attempt,
  index: number,
  first: number,
  step: number,
) {
  const block = blocks.items[index] ?? '';
  const bits = blocks.bits[index] ?? 0;
  const end = layouts.countBelow(range.to - bits);
  for (let at = layouts.countBelow(range.from - bits) + first; at < end; at += step) {
    tally.tried += 1;
    const { before, after } = layouts.items[at] as LayoutText;
    const message = before + block + after;
    if (fits(message)) return noteHit(tally, message, spent + bits + (layouts.bits[at] ?? 0), chain);
  }
}

/** One layout around the blocks that are within the range with it: every `step`-th of them. */
function tryLayout(
  { blocks, layouts, ready: { chain, fits }, range, spent, tally }: Attempt,
  index: number,
  first: number,
  step: number,
) {
  const { before, after } = layouts.items[index] as LayoutText;
  const bits = layouts.bits[index] ?? 0;
  const end = blocks.countBelow(range.to - bits);
  for (let at = blocks.countBelow(range.from - bits) + first; at < end; at += step) {
    tally.tried += 1;
    const message = before + (blocks.items[at] as string) + after;
    if (fits(message)) return noteHit(tally, message, spent + bits + (blocks.bits[at] ?? 0), chain);
  }
}
