import type { Recipe } from '../../signing/recipe.js';
import { memoize } from '../../support/memoize.js';
import { type Arrangement, arrangementsOf } from '../candidates/arrangements.js';
import {
  type BlockChange,
  changesOf,
  type MessageChange,
  messageChanges,
} from '../candidates/block-changes.js';
import {
  type BlockShape,
  blockKind,
  blockShapes,
  isFramed,
  shapePieces,
  shapeRule,
} from '../candidates/block-shapes.js';
import { type BlockParts, type Writing, writeBlocks, writingsOf } from '../candidates/block-texts.js';
import type { Chain } from '../candidates/chains.js';
import type { Weighted } from '../candidates/cost.js';
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
  secretCost,
} from '../candidates/layouts.js';
import { textOf } from '../candidates/pieces.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { type Surroundings, surroundings } from '../candidates/surroundings.js';
import { assembleRecipe } from './assemble-recipe.js';
import type { Target } from './target.js';

/** Finds every recipe with a parameter block that gives a message. */
export async function reconstructBlocks(space: SearchSpace, target: Target): Promise<void> {
  const { message, chains, bound, add, pause } = target;
  const arrangements = arrangementsOf(space);
  const writings = writingsOf(space);
  const secret = space.task.secret.reveal();
  const chainBits = Math.min(...chains.map(({ bits }) => bits));
  const around = memoize((encoded: boolean) =>
    surroundings(space, encoded, Math.min(bound - chainBits, maxLayoutBits)),
  );
  for (const change of messageChanges) {
    if (!change.canYield(message)) continue;
    const rest = bound - change.bits - chainBits;
    const findFrames = frameFinder(space, around, message, change, rest);
    for (const shape of blockShapes) {
      if (shape.bits >= rest) break;
      await pause();
      for (const secretIn of shape.secretEnds ? [false] : [false, true]) {
        const blocks = { shape, arrangements: arrangements(blockKind(shape), secretIn), writings, secret };
        const keyed = secretIn || shape.secretEnds;
        fillFrames(blocks, change, findFrames(shape.style), rest - shape.bits, (filled) => {
          for (const chain of chains) {
            const bits =
              shape.bits + filled.bits + chain.bits + secretCost(filled.layout.keyed, keyed, chain.keyed);
            const recipe = bits > bound ? null : recipeOf(shape, change, chain, filled);
            if (recipe !== null) add({ recipe, bits });
          }
        });
      }
    }
  }
}

/** A block in a layout that together give the message, and their cost with the changes of both. */
interface FilledFrame extends Weighted {
  readonly block: BlockChange;
  readonly layout: Layout;
  readonly arrangement: Arrangement;
  readonly writing: Writing;
}

/** Finds the blocks of one shape that fit into a layout of the message. */
function fillFrames(
  parts: BlockParts,
  change: MessageChange,
  findFrames: (block: BlockChange) => FoundFrames,
  bound: number,
  take: (filled: FilledFrame) => void,
): void {
  const found = changesOf(!isFramed(parts.shape)).map((block) => ({ block, ...findFrames(block) }));
  const plain = found.filter(({ isPlain }) => isPlain);
  const opaque = found.filter(({ isPlain, byText }) => !isPlain && byText.size > 0);
  const texts = plain.flatMap(({ byText }) => [...byText.keys()]);
  const maxPairs = opaque.length > 0 ? Number.POSITIVE_INFINITY : countPairs(parts.shape, texts);
  if (maxPairs === 0) return;
  const to = bound - Math.min(...found.map(({ cheapest }) => cheapest));
  writeBlocks({ ...parts, maxPairs }, { from: 0, to }, (text, written, arrangement, writing) => {
    const fill = (block: BlockChange, layouts: readonly Layout[] = []) => {
      for (const layout of layouts) {
        const bits = written + block.bits + change.bits + layout.bits;
        take({ block, layout, arrangement, writing, bits });
      }
    };
    for (const { block, byText } of plain) fill(block, byText.get(text));
    for (const { block, byText, cheapest } of opaque) {
      if (written + cheapest < bound) fill(block, byText.get(change.apply(block.apply(text))));
    }
  });
}

function recipeOf(
  shape: BlockShape,
  change: MessageChange,
  chain: Chain,
  { block, layout, arrangement, writing }: FilledFrame,
): Recipe | null {
  return assembleRecipe({
    params: { ...arrangement.rule, ...writing.rule, ...shapeRule(shape) },
    message: [...layout.before, ...shapePieces(shape, block.token), ...layout.after],
    join: '',
    block: block.encode,
    change,
    chain,
  });
}

function countPairs({ shows, kvSep, pairSep }: BlockShape, texts: readonly string[]): number {
  const counts = texts.map((text) => {
    const pairs = pairSep === '' ? Number.POSITIVE_INFINITY : text.split(pairSep).length;
    const values =
      shows === 'pairs' && kvSep !== '' ? text.split(kvSep).length - 1 : Number.POSITIVE_INFINITY;
    return Math.min(pairs, values);
  });
  return Math.max(0, ...counts);
}

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

/**
 * Finds the layouts that a message can have, for one change of the message, by how pairs are written and how the
 * block is changed. `around` has the surroundings of a block, by whether it is percent-encoded as a whole.
 */
function frameFinder(
  space: SearchSpace,
  around: (encoded: boolean) => readonly Surroundings[],
  message: string,
  change: MessageChange,
  bound: number,
): (style: PairStyle) => (block: BlockChange) => FoundFrames {
  const isInMessage = (text: string) => message.includes(change.apply(text));
  const range = { from: 0, to: Math.min(bound, maxLayoutBits) };
  const forms = space.forms.filter(({ text }) => isInMessage(text));
  const formTexts = new Set(forms.map(({ text }) => text));
  const names = space.secretNames.filter(({ value }) => isInMessage(value));
  const places = memoize((encoded: boolean) =>
    around(encoded).filter(({ front, tail }) => isInMessage(front.text) && isInMessage(tail.text)),
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
