import type { BlockChange, MessageChange } from '../candidates/block-changes.js';
import {
  type Admit,
  gluedStyles,
  keyedLayouts,
  type Layout,
  maxLayoutBits,
  openLayouts,
  type PairStyle,
  pairedStyles,
  type StylesBeside,
} from '../candidates/layouts.js';
import { textOf } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import type { Surroundings } from '../candidates/surroundings.js';
import { memoize } from '../candidates/weighted.js';

/** A layout that matches the message around some text. */
interface Frame {
  readonly layout: Layout;
  readonly middle: string;
}

/** Layouts by the block text that they need: as written, or as it is in the message. */
export interface FoundFrames {
  readonly byText: ReadonlyMap<string, readonly Layout[]>;
  readonly isPlain: boolean;
  /** The cost of the cheapest layout and its change of the block; infinite where there is none. */
  readonly cheapest: number;
}

/**
 * Finds the layouts that a message can have, for one change of the message, by how pairs are written and how the
 * block is changed. `around` has the surroundings of a block, by whether it is percent-encoded as a whole.
 */
export function frameFinder(
  space: SearchSpace,
  around: (encoded: boolean) => readonly Surroundings[],
  message: string,
  change: MessageChange,
  bound: number,
): (style: PairStyle) => (block: BlockChange) => FoundFrames {
  const isHeld = (text: string) => message.includes(change.apply(text));
  const range = { from: 0, to: Math.min(bound, maxLayoutBits) };
  const forms = space.forms.filter(({ text }) => isHeld(text));
  const formTexts = new Set(forms.map(({ text }) => text));
  const names = space.secretNames.filter(({ value }) => isHeld(value));
  const places = memoize((encoded: boolean) =>
    around(encoded).filter(({ front, tail }) => isHeld(front.text) && isHeld(tail.text)),
  );
  /** Whether the secret can be in this spot, for any surroundings. */
  const admit: Admit = ({ opens, closes, needs }, { first, last, end }, form) => {
    const opening = () => change.apply(first.text + form.text + end.text);
    const closing = () => change.apply(last.text + form.text);
    if (opens && !message.startsWith(opening())) return false;
    if (closes && !message.endsWith(closing())) return false;
    if (opens || closes) return true;
    return message.includes(needs === 'front' ? opening() : closing());
  };
  /** Keeps the layouts that match the message. */
  const collect = (make: (take: (layout: Layout) => void) => void): Frame[] => {
    const frames: Frame[] = [];
    make((layout) => {
      const before = change.apply(textOf(layout.before));
      const after = change.apply(textOf(layout.after));
      const end = message.length - after.length;
      if (end < before.length || !message.startsWith(before) || !message.endsWith(after)) return;
      frames.push({ layout, middle: message.slice(before.length, end) });
    });
    return frames;
  };
  const keyed = (encoded: boolean, stylesBeside: StylesBeside) =>
    collect((take) => keyedLayouts({ around: places(encoded), stylesBeside, forms, admit }, range, take));
  const shared = memoize((encoded: boolean) => [
    ...collect((take) => openLayouts(places(encoded), range, take)),
    ...keyed(encoded, gluedStyles),
  ]);
  return memoize((style) => {
    const styles = pairedStyles(names, style);
    const framesOf = memoize((encoded: boolean) => [...shared(encoded), ...keyed(encoded, () => styles)]);
    return memoize((block) => groupByText(framesOf(block.encode === 'rfc3986'), block, change, formTexts));
  });
}

/** The layouts around a block with this change, by the part of the message that they leave for it. */
function groupByText(
  frames: readonly Frame[],
  block: BlockChange,
  change: MessageChange,
  formTexts: ReadonlySet<string>,
): FoundFrames {
  const undo = undoBoth(block, change);
  const byText = new Map<string, Layout[]>();
  let cheapest = Number.POSITIVE_INFINITY;
  for (const { layout, middle } of frames) {
    if (!block.canYield(middle)) continue;
    // A digest that is a known form of the secret is not a digest of the parameters.
    if (block.digests && (layout.bare || formTexts.has(middle))) continue;
    const text = undo === null ? middle : undo(middle);
    if (text === null) continue;
    cheapest = Math.min(cheapest, block.bits + layout.bits);
    const alike = byText.get(text);
    if (alike === undefined) byText.set(text, [layout]);
    else alike.push(layout);
  }
  return { byText, isPlain: undo !== null, cheapest };
}

/**
 * Reverts both changes. The result is null for a text that they cannot give; the function is null where they
 * cannot be reverted.
 */
function undoBoth(block: BlockChange, message: MessageChange): ((text: string) => string | null) | null {
  const { undo: undoBlock } = block;
  const { undo: undoMessage } = message;
  if (undoBlock === undefined || undoMessage === undefined) return null;
  return (text) => {
    const plain = undoBlock(undoMessage(text));
    return message.apply(block.apply(plain)) === text ? plain : null;
  };
}
