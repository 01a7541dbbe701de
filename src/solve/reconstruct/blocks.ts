import { type Arrangement, type Arrangements, arrangementsOf } from '../candidates/arrangements.js';
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
  pairStyle,
  shapePieces,
  shapeRule,
} from '../candidates/block-shapes.js';
import { type Writing, writeBlocks, writings } from '../candidates/block-texts.js';
import type { Chain } from '../candidates/chains.js';
import { type Layout, maxLayoutBits, secretCost } from '../candidates/layouts.js';
import type { SearchSpace } from '../candidates/search-space.js';
import { surroundings } from '../candidates/surroundings.js';
import { memoize, type Weighted } from '../candidates/weighted.js';
import type { Pause } from '../solve.js';
import { assembleRecipe, type RecipeCandidate } from './assemble-recipe.js';
import { FrameFinder } from './frames.js';

/** What to reconstruct: a message, the chains that turn it into the signature, and the maximum cost of a recipe. */
export interface Target {
  readonly message: string;
  readonly chains: readonly Chain[];
  readonly bound: number;
}

/** Finds every recipe with a parameter block that gives a message. */
export class BlockReconstruction {
  readonly #space: SearchSpace;
  readonly #target: Target;
  readonly #add: (candidate: RecipeCandidate) => void;
  readonly #writings: readonly Writing[];
  readonly #arrangements: Arrangements;

  constructor(space: SearchSpace, target: Target, add: (candidate: RecipeCandidate) => void) {
    const { paramNames, secretNames, task } = space;
    const { request, secret } = task;
    this.#space = space;
    this.#target = target;
    this.#add = add;
    this.#writings = writings(request.params);
    this.#arrangements = arrangementsOf({
      request,
      secret,
      names: paramNames,
      secretNames,
      isDistinct: false,
    });
  }

  async run(pause: Pause): Promise<void> {
    const { message, chains, bound } = this.#target;
    const chainBits = Math.min(...chains.map(({ bits }) => bits));
    const { pieces, hasBody } = this.#space;
    const maxBits = Math.min(bound - chainBits, maxLayoutBits);
    const around = memoize((encoded: boolean) => surroundings(pieces, hasBody, encoded, maxBits));
    for (const change of messageChanges) {
      if (!change.canYield(message)) continue;
      const rest = bound - change.bits - chainBits;
      const frames = new FrameFinder(this.#space, around, message, change, rest);
      for (const shape of blockShapes) {
        if (shape.bits >= rest) break;
        await pause();
        for (const secretIn of shape.secretEnds ? [false] : [false, true]) {
          this.#addShape(shape, secretIn, change, frames, rest - shape.bits);
        }
      }
    }
  }

  #addShape(
    shape: BlockShape,
    secretIn: boolean,
    change: MessageChange,
    frames: FrameFinder,
    bound: number,
  ): void {
    const found = changesOf(!isFramed(shape)).map((block) => ({
      block,
      ...frames.find(pairStyle(shape), block),
    }));
    const plain = found.filter(({ isPlain }) => isPlain);
    const opaque = found.filter(({ isPlain, byText }) => !isPlain && byText.size > 0);
    const texts = plain.flatMap(({ byText }) => [...byText.keys()]);
    const maxPairs = opaque.length > 0 ? Number.POSITIVE_INFINITY : countPairs(shape, texts);
    if (maxPairs === 0) return;
    const blocks = {
      shape,
      arrangements: this.#arrangements(blockKind(shape), secretIn),
      writings: this.#writings,
      secret: this.#space.task.secret.reveal(),
      maxPairs,
    };
    const to = bound - Math.min(...found.map(({ cheapest }) => cheapest));
    writeBlocks(blocks, { from: 0, to }, (text, bits, arrangement, writing) => {
      const written = { shape, secretIn, change, arrangement, writing, bits };
      for (const { block, byText } of plain) {
        for (const layout of byText.get(text) ?? []) this.#addLayout(written, block, layout);
      }
      for (const { block, byText, cheapest } of opaque) {
        if (bits + cheapest >= bound) continue;
        const changed = change.apply(block.apply(text));
        for (const layout of byText.get(changed) ?? []) this.#addLayout(written, block, layout);
      }
    });
  }

  #addLayout(written: WrittenBlock, block: BlockChange, layout: Layout): void {
    const { shape, change, arrangement, writing } = written;
    const keyedBlock = written.secretIn || shape.secretEnds;
    for (const chain of this.#target.chains) {
      const bits =
        shape.bits +
        written.bits +
        block.bits +
        change.bits +
        chain.bits +
        layout.bits +
        secretCost(layout.keyed, keyedBlock, chain.keyed);
      if (bits > this.#target.bound) continue;
      const recipe = assembleRecipe({
        params: { ...arrangement.rule, ...writing.rule, ...shapeRule(shape) },
        message: [...layout.before, ...shapePieces(shape, block.token), ...layout.after],
        join: '',
        block: block.encode,
        change,
        chain,
      });
      if (recipe !== null) this.#add({ recipe, bits });
    }
  }
}

/** A block and the rule by which it is written. */
interface WrittenBlock extends Weighted {
  readonly shape: BlockShape;
  readonly secretIn: boolean;
  readonly change: MessageChange;
  readonly arrangement: Arrangement;
  readonly writing: Writing;
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
