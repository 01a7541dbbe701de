import type { BlockChange, MessageChange } from '../candidates/block-changes.js';
import { maxLayoutBits } from '../candidates/layout-lists.js';
import {
  type Admit,
  gluedStyles,
  type KeyedParts,
  keyedLayouts,
  type Layout,
  openLayouts,
  type PairStyle,
  pairedStyles,
  type StylesBeside,
} from '../candidates/layouts.js';
import { type Piece, textOf } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import type { Surroundings } from '../candidates/surroundings.js';
import type { Choice, PriceRange } from '../candidates/weighted.js';

/** A layout that matches the message around some text. */
export interface Frame {
  readonly layout: Layout;
  readonly middle: string;
}

/** Layouts by the block text that they need: as written, or as it is in the message. */
export interface FoundFrames {
  readonly byText: ReadonlyMap<string, readonly Frame[]>;
  readonly isPlain: boolean;
  /** The cost of the cheapest layout and its change of the block; infinite where there is none. */
  readonly cheapest: number;
}

/** Inputs of a frame. */
export interface FrameParts {
  readonly space: SearchSpace;
  /** The surroundings of a block, by whether it is percent-encoded as a whole. */
  readonly surroundings: (encoded: boolean) => readonly Surroundings[];
}

/** Finds the layouts that a message can have, for one change of the message. */
export class FrameFinder {
  readonly #surroundings: (encoded: boolean) => readonly Surroundings[];
  readonly #message: string;
  readonly #change: MessageChange;
  readonly #bound: number;
  readonly #forms: readonly Piece[];
  readonly #formTexts: ReadonlySet<string>;
  readonly #names: readonly Choice<string>[];
  readonly #around = new Map<boolean, readonly Surroundings[]>();
  readonly #found = new Map<string, readonly Frame[]>();
  readonly #sorted = new Map<string, FoundFrames>();

  constructor({ space, surroundings }: FrameParts, message: string, change: MessageChange, bound: number) {
    this.#surroundings = surroundings;
    this.#message = message;
    this.#change = change;
    this.#bound = Math.min(bound, maxLayoutBits);
    this.#forms = space.forms.filter(({ text }) => this.#holds(text));
    this.#formTexts = new Set(this.#forms.map(({ text }) => text));
    this.#names = space.secretNames.filter(({ value }) => this.#holds(value));
  }

  /** The layouts around a block with this change, and the part of the message that they leave for it. */
  find(style: PairStyle, block: BlockChange): FoundFrames {
    const key = `${block.token} ${block.encode} ${style.kvSep}\0${style.pairSep}`;
    const known = this.#sorted.get(key);
    if (known !== undefined) return known;
    const undo = undoBoth(block, this.#change);
    const byText = new Map<string, Frame[]>();
    let cheapest = Number.POSITIVE_INFINITY;
    for (const frame of this.#frames(style, block.encode === 'rfc3986')) {
      if (!block.canYield(frame.middle)) continue;
      // A digest that is a known form of the secret is not a digest of the parameters.
      if (block.digests && (frame.layout.bare || this.#formTexts.has(frame.middle))) continue;
      const text = undo === null ? frame.middle : undo(frame.middle);
      if (text === null) continue;
      cheapest = Math.min(cheapest, block.bits + frame.layout.bits);
      const alike = byText.get(text);
      if (alike === undefined) byText.set(text, [frame]);
      else alike.push(frame);
    }
    const found = { byText, isPlain: undo !== null, cheapest };
    this.#sorted.set(key, found);
    return found;
  }

  #frames(style: PairStyle, encoded: boolean): readonly Frame[] {
    const shared = this.#memoize(`${encoded}`, (range, take) => {
      openLayouts(this.#placesFor(encoded), range, take);
      keyedLayouts(this.#keyedParts(encoded, gluedStyles), range, take);
    });
    const own = this.#memoize(`${encoded} ${style.kvSep}\0${style.pairSep}`, (range, take) => {
      const styles = pairedStyles(this.#names, style);
      keyedLayouts(
        this.#keyedParts(encoded, () => styles),
        range,
        take,
      );
    });
    return own.length === 0 ? shared : [...shared, ...own];
  }

  #keyedParts(encoded: boolean, stylesBeside: StylesBeside): KeyedParts {
    return { around: this.#placesFor(encoded), stylesBeside, forms: this.#forms, admit: this.#admit };
  }

  /** Whether the secret can be in this spot, for any surroundings. */
  readonly #admit: Admit = ({ opens, closes, needs }, { first, last, end }, form) => {
    const message = this.#message;
    const opening = () => this.#change.apply(first.text + form.text + end.text);
    const closing = () => this.#change.apply(last.text + form.text);
    if (opens && !message.startsWith(opening())) return false;
    if (closes && !message.endsWith(closing())) return false;
    if (opens || closes) return true;
    return message.includes(needs === 'front' ? opening() : closing());
  };

  #memoize(key: string, make: (range: PriceRange, take: (layout: Layout) => void) => void): readonly Frame[] {
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const frames: Frame[] = [];
    make({ from: 0, to: this.#bound }, (layout) => frames.push(...this.#frame(layout)));
    this.#found.set(key, frames);
    return frames;
  }

  #frame(layout: Layout): Frame[] {
    const message = this.#message;
    const before = this.#change.apply(textOf(layout.before));
    const after = this.#change.apply(textOf(layout.after));
    const length = message.length - before.length - after.length;
    if (length < 0 || !message.startsWith(before) || !message.endsWith(after)) return [];
    return [{ layout, middle: message.slice(before.length, before.length + length) }];
  }

  #placesFor(encoded: boolean): readonly Surroundings[] {
    const known = this.#around.get(encoded);
    if (known !== undefined) return known;
    const possible = this.#surroundings(encoded).filter(
      ({ front, tail }) => this.#holds(front.text) && this.#holds(tail.text),
    );
    this.#around.set(encoded, possible);
    return possible;
  }

  #holds(text: string): boolean {
    return this.#message.includes(this.#change.apply(text));
  }
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
