import { type BlockChange, changesOf, type MessageChange, messageChanges } from '../space/block-changes.js';
import { lessSpent } from '../space/choice.js';
import {
  dearestLayout,
  gluedKind,
  type LayoutKind,
  openKind,
  pairedKind,
  secretPrices,
} from '../space/layout-lists.js';
import type { PairStyle } from '../space/layouts.js';
import type { Space } from '../space/space.js';
import { surroundings } from '../space/surroundings.js';
import { type BlockSeries, pooledSeries, shapeSeries } from './block-series.js';
import type { ReadyChain } from './ready-chain.js';
import type { Share, Tally } from './share.js';
import { tryProduct } from './try-product.js';

/** What has no more room than this between its cheapest candidate and the bound is not parted, but one part's alone. */
const partedBits = 12;

/** Blocks, and the layouts that they go into. */
interface Group {
  readonly series: BlockSeries;
  readonly layouts: LayoutKind;
  /** What a layout costs at the least. */
  readonly cheapestLayout: number;
}

/** Messages that hold a parameter block. */
export class BlockSearch {
  readonly #groups: readonly Group[];
  readonly #chains: readonly ReadyChain[];

  constructor(space: Space, chains: readonly ReadyChain[]) {
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

function groupsOf(space: Space): Group[] {
  const { pieces, hasBody, forms, secretNames } = space;
  const parts = {
    around: surroundings(pieces, hasBody, false, dearestLayout),
    aroundEncoded: surroundings(pieces, hasBody, true, dearestLayout),
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

/** The parts take turns at being first. */
function rotated(share: Share, turn: number): Share {
  return { ...share, part: (share.part + turn) % share.parts };
}

function whole(share: Share): Share {
  return { ...share, part: 0, parts: 1 };
}

/** Tries what has all in common but the layout and the text of the block. */
function tryGroup(
  { series: { texts, keyed }, layouts }: Group,
  block: BlockChange,
  message: MessageChange,
  ready: ReadyChain,
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
  // What the change of the message touches nowhere was tried without it.
  tryProduct({ ...attempt, blocks: untouched, layouts: around.touched }, share.part, share.parts);
}
