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
import { type Choice, LazyList, memoize, type PriceRange } from './weighted.js';

/** Maximum cost of a layout, in bits. */
export const maxLayoutBits = 14;

/** Maximum cost of a layout before its message is changed as a whole. */
const maxChangedBits = 10;

/** The cost of a secret that is in the layout, the block or the digest chain more than memoize, or nowhere. */
export function secretPrices(...places: readonly boolean[]): number {
  const count = places.filter((isThere) => isThere).length;
  return count === 0 ? absentBits : (count - 1) * doubledBits;
}

const doubledBits = 3;
const absentBits = 7;

/** A layout as the texts before and after the block. */
export interface LayoutText {
  readonly before: string;
  readonly after: string;
  /** Whether only the secret is around the block. */
  readonly bare: boolean;
}

/** Layouts in the message: all, and those that the change of the message affects. */
export interface ChangedLayouts {
  readonly all: LazyList<LayoutText>;
  readonly touched: LazyList<LayoutText>;
}

/** Layouts of one kind: without the secret, with the secret joined on, or with the secret as one more pair. */
export interface LayoutKind {
  /** Whether the layouts hold the secret. */
  readonly keyed: boolean;
  /** The layouts around a block with this change, in a message with this change. */
  around(block: BlockChange): (message: MessageChange) => ChangedLayouts;
}

/** Inputs of the layouts. */
export interface LayoutParts {
  /** For a block that is not percent-encoded as a whole. */
  readonly around: readonly Surroundings[];
  /** For a block that is. */
  readonly aroundEncoded: readonly Surroundings[];
  readonly forms: readonly Piece[];
  readonly names: readonly Choice<string>[];
}

/** The layouts without a secret. */
export function openKind(parts: LayoutParts): LayoutKind {
  return layoutKind(false, parts, openLayouts);
}

/** The layouts with the secret joined on. */
export function gluedKind(parts: LayoutParts): LayoutKind {
  return layoutKind(true, parts, (around, range, take) => {
    keyedLayouts({ around, stylesBeside: gluedStyles, forms: parts.forms, admit: always }, range, take);
  });
}

/** The layouts with the secret as one more pair, for blocks with this pair style. */
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
  const listAmong = memoize((places: readonly Surroundings[]) => layoutList(make, places));
  const kind = memoize((block: BlockChange) => {
    const list = listAmong(block.encode === 'rfc3986' ? aroundEncoded : around);
    const possible = block.digests
      ? list.map(maxLayoutBits, (layout) => (layout.bare ? null : layout))
      : list;
    return memoize((message: MessageChange) => changeLayouts(possible, message));
  });
  return { keyed, around: kind };
}

function layoutList(make: MakeLayouts, places: readonly Surroundings[]): LazyList<LayoutText> {
  return new LazyList<LayoutText>(maxLayoutBits, textKey, (from, to, add) => {
    make(places, { from, to }, ({ before, after, bare, bits }) => {
      add({ before: textOf(before), after: textOf(after), bare }, bits);
    });
  });
}

/** An unchanged message affects no layout. */
function changeLayouts(list: LazyList<LayoutText>, { changes, apply }: MessageChange): ChangedLayouts {
  if (!changes) return { all: list, touched: new LazyList<LayoutText>(0, null, () => {}) };
  const all = list.map(maxChangedBits, (layout) => ({
    layout,
    changed: { ...layout, before: apply(layout.before), after: apply(layout.after) },
  }));
  return {
    all: all.map(maxChangedBits, ({ changed }) => changed),
    touched: all.map(maxChangedBits, ({ layout, changed }) =>
      textKey(layout) === textKey(changed) ? null : changed,
    ),
  };
}

function textKey({ before, after }: LayoutText): string {
  return `${before}\0${after}`;
}
