import {
  type Arrangement,
  type BlockKind,
  keyedArrangements,
  openArrangements,
} from '../candidates/arrangements.js';
import {
  type BlockChange,
  changesOf,
  type MessageChange,
  messageChanges,
} from '../candidates/block-changes.js';
import { type BlockShape, blockKind, blockShapes, isFramed, pairStyle } from '../candidates/block-shapes.js';
import { type BlockTexts, blockTexts, distinctWritings, pooledTexts } from '../candidates/block-texts.js';
import {
  gluedKind,
  type LayoutKind,
  type LayoutText,
  maxLayoutBits,
  openKind,
  pairedKind,
  secretPrices,
} from '../candidates/layout-lists.js';
import type { PairStyle } from '../candidates/layouts.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { surroundings } from '../candidates/surroundings.js';
import { type LazyList, lessSpent, type PriceRange } from '../candidates/weighted.js';
import type { CompiledChain } from './compiled-chain.js';
import { recordHit, type Share, type Tally } from './share.js';

/**
 * A group with less room than this between its cheapest candidate and the bound is not split: one part tries all
 * of it.
 */
const partedBits = 12;

/** Blocks, and the layouts to put them into. */
interface Group {
  readonly series: BlockSeries;
  readonly layouts: LayoutKind;
  /** The cost of the cheapest layout. */
  readonly cheapestLayout: number;
}

/** Searches messages with a parameter block. */
export class BlockSearch {
  readonly #groups: readonly Group[];
  readonly #chains: readonly CompiledChain[];

  constructor(space: SearchSpace, chains: readonly CompiledChain[]) {
    this.#groups = space.task.request.params.length === 0 ? [] : groupsOf(space);
    this.#chains = chains;
  }

  run(share: Share, tally: Tally): void {
    const cheapestChain = this.#chains[0]?.chain.bits ?? 0;
    let turn = 0;
    for (const group of this.#groups) {
      const least = group.series.texts.plain.cheapest + group.cheapestLayout + cheapestChain;
      for (const block of changesOf(group.series.changeable)) {
        for (const message of messageChanges) {
          const room = share.to - least - block.bits - message.bits;
          if (room <= 0) break;
          turn += 1;
          if (room <= partedBits && turn % share.parts !== share.part) continue;
          this.#tryChains(
            group,
            block,
            message,
            room <= partedBits ? whole(share) : rotated(share, turn),
            tally,
          );
          if (tally.hit !== null) return;
        }
      }
    }
  }

  #tryChains(group: Group, block: BlockChange, message: MessageChange, share: Share, tally: Tally): void {
    const least = group.series.texts.plain.cheapest + group.cheapestLayout;
    let turn = 0;
    for (const ready of this.#chains) {
      const spent = block.bits + message.bits + ready.chain.bits;
      const room = share.to - spent - least;
      if (room <= 0) return;
      turn += 1;
      if (room <= partedBits && turn % share.parts !== share.part) continue;
      const own = room <= partedBits ? whole(share) : rotated(share, turn);
      tryGroup(group, block, message, ready, own, spent, tally);
      if (tally.hit !== null) return;
    }
  }
}

function groupsOf(space: SearchSpace): Group[] {
  const { pieces, hasBody, forms, secretNames } = space;
  const parts = {
    around: surroundings(pieces, hasBody, false, maxLayoutBits),
    aroundEncoded: surroundings(pieces, hasBody, true, maxLayoutBits),
    forms,
    names: secretNames,
  };
  const open = openKind(parts);
  const glued = gluedKind(parts);
  const shapes = shapeSeries(space);
  const paired = new Map<string, LayoutKind>();
  const pairedFor = (style: PairStyle) => {
    const key = `${style.kvSep}\0${style.pairSep}`;
    const kind = paired.get(key) ?? pairedKind(parts, style);
    paired.set(key, kind);
    return kind;
  };
  return [
    ...pooledSeries(shapes).flatMap((series) => [
      { series, layouts: open, cheapestLayout: 0.6 },
      { series, layouts: glued, cheapestLayout: 1.9 },
    ]),
    ...shapes.map((series) => ({ series, layouts: pairedFor(series.style), cheapestLayout: 3.5 })),
  ];
}

/** The parts take turns at being the first. */
function rotated(share: Share, turn: number): Share {
  return { ...share, part: (share.part + turn) % share.parts };
}

function whole(share: Share): Share {
  return { ...share, part: 0, parts: 1 };
}

/** Tries all layouts and block texts of one group, change and chain. */
function tryGroup(
  { series: { texts, keyed }, layouts }: Group,
  block: BlockChange,
  message: MessageChange,
  ready: CompiledChain,
  share: Share,
  before: number,
  tally: Tally,
): void {
  const spent = before + secretPrices(layouts.keyed, keyed, ready.chain.keyed);
  const { touched, untouched } = texts.changed(block)(message);
  const around = layouts.around(block)(message);
  const attempt = {
    blocks: touched,
    layouts: around.all,
    ready,
    range: lessSpent(share, spent),
    spent,
    tally,
  };
  tryProduct(attempt, share.part, share.parts);
  if (!message.changes || tally.hit !== null) return;
  // Texts that the change of the message does not affect were tried without it.
  tryProduct({ ...attempt, blocks: untouched, layouts: around.touched }, share.part, share.parts);
}

/** Blocks that go into the same layouts. */
interface BlockSeries {
  readonly texts: BlockTexts;
  /** Whether the blocks hold the secret. */
  readonly keyed: boolean;
  /** Whether the blocks may be changed as a whole. */
  readonly changeable: boolean;
}

/** Blocks of one shape; the secret can be next to them as one more pair. */
interface ShapeSeries extends BlockSeries {
  readonly shape: BlockShape;
  readonly style: PairStyle;
}

/** The blocks of each shape, with the secret among the parameters and without it. */
function shapeSeries({ task, paramNames, secretNames }: SearchSpace): ShapeSeries[] {
  const { request, secret } = task;
  const parts = { request, secret, names: paramNames, secretNames, distinct: true };
  const open = listsByKind((kind) => openArrangements(parts, kind));
  const keyed = listsByKind((kind) => keyedArrangements(parts, kind));
  const writings = distinctWritings(request.params);
  return blockShapes.flatMap((shape) => {
    const series = (lists: typeof open, secretIn: boolean): ShapeSeries => ({
      shape,
      style: pairStyle(shape),
      texts: blockTexts({
        shape,
        arrangements: lists[blockKind(shape)],
        writings,
        secret: secret.reveal(),
        maxPairs: Number.POSITIVE_INFINITY,
      }),
      keyed: secretIn || shape.secretEnds,
      changeable: !isFramed(shape),
    });
    return shape.secretEnds ? [series(open, false)] : [series(open, false), series(keyed, true)];
  });
}

function listsByKind(make: (kind: BlockKind) => LazyList<Arrangement>) {
  return { pairs: make('pairs'), values: make('values') };
}

/** The blocks of all shapes, grouped by kind. */
function pooledSeries(all: readonly ShapeSeries[]): BlockSeries[] {
  const kinds = [
    { keyed: false, changeable: true },
    { keyed: false, changeable: false },
    { keyed: true, changeable: true },
    { keyed: true, changeable: false },
  ];
  return kinds.map((kind) => {
    const alike = all.filter(
      ({ keyed, changeable }) => keyed === kind.keyed && changeable === kind.changeable,
    );
    return { ...kind, texts: pooledTexts(alike.map(({ texts }) => texts)) };
  });
}

/** A product is split along its inner loop where each part then has at least this many candidates a round. */
const triesForEach = 32;

/** A product to try. */
interface Attempt {
  readonly blocks: LazyList<string>;
  readonly layouts: LazyList<LayoutText>;
  readonly ready: CompiledChain;
  readonly range: PriceRange;
  /** The cost of a candidate without its block and its layout. */
  readonly spent: number;
  readonly tally: Tally;
}

/**
 * Tries every block in every layout whose total cost is within the share. Most of the time goes here. The shorter
 * list is the outer loop, so that the inner loop, a stretch of the longer list, is long.
 */
function tryProduct(attempt: Attempt, part: number, parts: number): void {
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

/** One block in the layouts that are within the range with it: every `step`-th. */
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
    if (fits(message)) return recordHit(tally, message, spent + bits + (layouts.bits[at] ?? 0), chain);
  }
}

/** One layout around the blocks that are within the range with it: every `step`-th. */
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
    if (fits(message)) return recordHit(tally, message, spent + bits + (blocks.bits[at] ?? 0), chain);
  }
}
