import type { Recipe } from '../../signing/recipe.js';
import type { Chain } from '../candidates/chains.js';
import type { Weighted } from '../candidates/cost.js';

/** A recipe that gives the signature, and its cost. */
export interface RecipeCandidate extends Weighted {
  readonly recipe: Recipe;
}

/** Awaited regularly while recipes are assembled: yields to other work, and may throw to abort. */
export type Pause = () => Promise<void>;

/** A message to find recipes for. */
export interface Target {
  readonly message: string;
  /** The chains that turn the message into the signature. */
  readonly chains: readonly Chain[];
  /** Maximum cost of a recipe, in bits. */
  readonly bound: number;
  /** Receives each recipe, some of them more than once. */
  readonly add: (candidate: RecipeCandidate) => void;
  readonly pause: Pause;
}
