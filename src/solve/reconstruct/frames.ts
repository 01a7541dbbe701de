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
import { type Piece, textOf } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import type { Surroundings } from '../candidates/surroundings.js';
import { type Choice, memoize } from '../candidates/weighted.js';

/** A layout that matches the message around some text. */
interface Frame {
  readonly layout: Layout;
  readonly middle: string;
}

/** Layouts by the block text that they need: as written, or as it is in the message. */
interface FoundFrames {
  readonly byText: ReadonlyMap<string, readonly Layout[]>;
  readonly isPlain: boolean;
  /** The cost of the cheapest layout and its change of the block; infinite where there is none. */
  readonly cheapest: number;
}

/** Finds the layouts that a message can have, for one change of the message. */
export class FrameFinder {
  readonly #message: string;
  readonly #change: MessageChange;
  readonly #bound: number;
  readonly #forms: readonly Piece[];
  readonly #formTexts: ReadonlySet<string>;
  readonly #names: readonly Choice<string>[];
  /** The surroundings of a block, by whether it is percent-encoded as a whole. */
  readonly #around: (encoded: boolean) => readonly Surroundings[];
  readonly #shared: (encoded: boolean) => readonly Frame[];
  readonly #paired = new Map<string, readonly Frame[]>();
  readonly #found = new Map<string, FoundFrames>();

  constructor(
    space: SearchSpace,
    surroundings: (encoded: boolean) => readonly Surroundings[],
    message: string,
    change: MessageChange,
    bound: number,
  ) {
    this.#message = message;
    this.#change = change;
    this.#bound = Math.min(bound, maxLayoutBits);
    this.#forms = space.forms.filter(({ text }) => this.#holds(text));
    this.#formTexts = new Set(this.#forms.map(({ text }) => text));
    this.#names = space.secretNames.filter(({ value }) => this.#holds(value));
    this.#around = memoize((encoded) =>
      surroundings(encoded).filter(({ front, tail }) => this.#holds(front.text) && this.#holds(tail.text)),
    );
    this.#shared = memoize((encoded) => [
      ...this.#collect((take) => openLayouts(this.#around(encoded), { from: 0, to: this.#bound }, take)),
      ...this.#keyed(encoded, gluedStyles),
    ]);
  }

  /** The layouts around a block with this change, by the part of the message that they leave for it. */
  find(style: PairStyle, block: BlockChange): FoundFrames {
    const key = `${block.token} ${block.encode} ${style.kvSep}\0${style.pairSep}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const undo = undoBoth(block, this.#change);
    const byText = new Map<string, Layout[]>();
    let cheapest = Number.POSITIVE_INFINITY;
    for (const { layout, middle } of this.#frames(style, block.encode === 'rfc3986')) {
      if (!block.canYield(middle)) continue;
      // A digest that is a known form of the secret is not a digest of the parameters.
      if (block.digests && (layout.bare || this.#formTexts.has(middle))) continue;
      const text = undo === null ? middle : undo(middle);
      if (text === null) continue;
      cheapest = Math.min(cheapest, block.bits + layout.bits);
      const alike = byText.get(text);
      if (alike === undefined) byText.set(text, [layout]);
      else alike.push(layout);
    }
    const found = { byText, isPlain: undo !== null, cheapest };
    this.#found.set(key, found);
    return found;
  }

  #frames(style: PairStyle, encoded: boolean): readonly Frame[] {
    const key = `${encoded} ${style.kvSep}\0${style.pairSep}`;
    const styles = pairedStyles(this.#names, style);
    const paired = this.#paired.get(key) ?? this.#keyed(encoded, () => styles);
    this.#paired.set(key, paired);
    return [...this.#shared(encoded), ...paired];
  }

  #keyed(encoded: boolean, stylesBeside: StylesBeside): Frame[] {
    const parts = { around: this.#around(encoded), stylesBeside, forms: this.#forms, admit: this.#admit };
    return this.#collect((take) => keyedLayouts(parts, { from: 0, to: this.#bound }, take));
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

  /** Keeps the layouts that match the message. */
  #collect(make: (take: (layout: Layout) => void) => void): Frame[] {
    const message = this.#message;
    const frames: Frame[] = [];
    make((layout) => {
      const before = this.#change.apply(textOf(layout.before));
      const after = this.#change.apply(textOf(layout.after));
      const end = message.length - after.length;
      if (end < before.length || !message.startsWith(before) || !message.endsWith(after)) return;
      frames.push({ layout, middle: message.slice(before.length, end) });
    });
    return frames;
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
