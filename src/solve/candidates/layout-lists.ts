import type { BlockChange, MessageChange } from './block-changes.js';
import {
  gluedStyles,
  keyedLayouts,
  type Layout,
  openLayouts,
  type PairStyle,
  pairedStyles,
} from './layouts.js';
import { type Piece, textOf } from './pieces.js';
import type { Surroundings } from './surroundings.js';
import { type Choice, GrowingList, once, type PriceRange } from './weighted.js';

/** No layout is dearer than this. */
export const dearestLayout = 14;

/** No layout of a message that is changed as a whole is dearer than this before. */
const dearestChanged = 10;

/** What it costs that the secret is in the layout, the block or the digest chain more than once, or nowhere. */
export function secretPrices(...places: readonly boolean[]): number {
  const count = places.filter((isThere) => isThere).length;
  return count === 0 ? absentBits : (count - 1) * doubledBits;
}

const doubledBits = 3;
const absentBits = 7;

/** A layout as the texts around the block. */
export interface LayoutText {
  readonly before: string;
  readonly after: string;
  /** Whether there is nothing around the block but the secret. */
  readonly bare: boolean;
}

/** Layouts as they stand in the message: all of them, and those that the change of the message touches. */
export interface ChangedLayouts {
  readonly all: GrowingList<LayoutText>;
  readonly touched: GrowingList<LayoutText>;
}

/** Layouts of one kind: without the secret, with it glued on, or with it as one more pair. */
export interface LayoutKind {
  /** Whether the secret is in them. */
  readonly keyed: boolean;
  /** Around a block that is changed so, in a message that is changed so. */
  around(block: BlockChange): (message: MessageChange) => ChangedLayouts;
}

/** What layouts are made of. */
export interface LayoutParts {
  /** Of a block that is not percent-encoded as a whole. */
  readonly around: readonly Surroundings[];
  /** Of a block that is. */
  readonly aroundEncoded: readonly Surroundings[];
  readonly forms: readonly Piece[];
  readonly names: readonly Choice<string>[];
}

/** The layouts without a secret. */
export function openKind(parts: LayoutParts): LayoutKind {
  return layoutKind(false, parts, openLayouts);
}

/** The layouts with the secret glued or joined on. */
export function gluedKind(parts: LayoutParts): LayoutKind {
  return layoutKind(true, parts, (around, range, take) => {
    keyedLayouts({ around, stylesBeside: gluedStyles, forms: parts.forms, admit: always }, range, take);
  });
}

/** The layouts with the secret as one more pair, for blocks that write pairs so. */
export function pairedKind(parts: LayoutParts, style: PairStyle): LayoutKind {
  const styles = pairedStyles(parts.names, style);
  return layoutKind(true, parts, (around, range, take) => {
    keyedLayouts({ around, stylesBeside: () => styles, forms: parts.forms, admit: always }, range, take);
  });
}

function always(): boolean {
  return true;
}

type MakeLayouts = (
  around: readonly Surroundings[],
  range: PriceRange,
  take: (layout: Layout) => void,
) => void;

function layoutKind(keyed: boolean, { around, aroundEncoded }: LayoutParts, make: MakeLayouts): LayoutKind {
  const listAmong = once((places: readonly Surroundings[]) => layoutList(make, places));
  const kind = once((block: BlockChange) => {
    const list = listAmong(block.encode === 'rfc3986' ? aroundEncoded : around);
    const possible = block.digests
      ? list.map(dearestLayout, (layout) => (layout.bare ? null : layout))
      : list;
    return once((message: MessageChange) => changeLayouts(possible, message));
  });
  return { keyed, around: kind };
}

function layoutList(make: MakeLayouts, places: readonly Surroundings[]): GrowingList<LayoutText> {
  return new GrowingList<LayoutText>(dearestLayout, textKey, (from, to, add) => {
    make(places, { from, to }, ({ before, after, bare, bits }) => {
      add({ before: textOf(before), after: textOf(after), bare }, bits);
    });
  });
}

/** Nothing is touched where the message is not changed. */
function changeLayouts(list: GrowingList<LayoutText>, { changes, apply }: MessageChange): ChangedLayouts {
  if (!changes) return { all: list, touched: new GrowingList<LayoutText>(0, null, () => {}) };
  const all = list.map(dearestChanged, (layout) => ({
    layout,
    changed: { ...layout, before: apply(layout.before), after: apply(layout.after) },
  }));
  return {
    all: all.map(dearestChanged, ({ changed }) => changed),
    touched: all.map(dearestChanged, ({ layout, changed }) =>
      textKey(layout) === textKey(changed) ? null : changed,
    ),
  };
}

function textKey({ before, after }: LayoutText): string {
  return `${before}\0${after}`;
}
