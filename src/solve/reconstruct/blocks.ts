import type { Recipe } from '../../signing/recipe.js';
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
import { type Layout, maxLayoutBits, secretCost } from '../candidates/layouts.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { surroundings } from '../candidates/surroundings.js';
import { memoize, type Weighted } from '../candidates/weighted.js';
import type { Pause } from '../solve.js';
import { assembleRecipe, type RecipeCandidate } from './assemble-recipe.js';
import { type FoundFrames, frameFinder } from './frames.js';

/** What to reconstruct: a message, the chains that turn it into the signature, and the maximum cost of a recipe. */
export interface Target {
  readonly message: string;
  readonly chains: readonly Chain[];
  readonly bound: number;
}

/** Finds every recipe with a parameter block that gives a message. */
export async function reconstructBlocks(
  space: SearchSpace,
  target: Target,
  add: (candidate: RecipeCandidate) => void,
  pause: Pause,
): Promise<void> {
  const { message, chains, bound } = target;
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

/** The maximum number of pairs in the texts, judged by their separators. */
function countPairs({ shows, kvSep, pairSep }: BlockShape, texts: readonly string[]): number {
  const counts = texts.map((text) => {
    const pairs = pairSep === '' ? Number.POSITIVE_INFINITY : text.split(pairSep).length;
    const values =
      shows === 'pairs' && kvSep !== '' ? text.split(kvSep).length - 1 : Number.POSITIVE_INFINITY;
    return Math.min(pairs, values);
  });
  return Math.max(0, ...counts);
}
