import {
  type Arrangement,
  type BlockKind,
  keyedArrangements,
  openArrangements,
} from '../space/arrangements.js';
import { type BlockShape, blockKind, blockShapes, isFramed, pairStyle } from '../space/block-shapes.js';
import { type BlockTexts, blockTexts, pooledTexts } from '../space/block-texts.js';
import type { GrowingList } from '../space/growing-list.js';
import type { PairStyle } from '../space/layouts.js';
import type { Space } from '../space/space.js';
import { distinctWritings } from '../space/writings.js';

/** Blocks that go into the same layouts. */
export interface BlockSeries {
  readonly texts: BlockTexts;
  /** Whether the secret is in the blocks. */
  readonly keyed: boolean;
  /** Whether the blocks may be changed as a whole. */
  readonly changeable: boolean;
}

/** Blocks of one shape: the secret may stand beside them as one more pair. */
export interface ShapeSeries extends BlockSeries {
  readonly shape: BlockShape;
  readonly style: PairStyle;
}

/** The blocks of each shape, with the secret sorted in and without it. */
export function shapeSeries({ task, paramNames, secretNames }: Space): ShapeSeries[] {
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
        mostPairs: Number.POSITIVE_INFINITY,
      }),
      keyed: secretIn || shape.secretEnds,
      changeable: !isFramed(shape),
    });
    return shape.secretEnds ? [series(open, false)] : [series(open, false), series(keyed, true)];
  });
}

function listsByKind(make: (kind: BlockKind) => GrowingList<Arrangement>) {
  return { pairs: make('pairs'), values: make('values') };
}

/** The same blocks, those of all shapes together. */
export function pooledSeries(all: readonly ShapeSeries[]): BlockSeries[] {
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
