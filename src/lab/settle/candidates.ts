import type { SignatureName } from '../../core/signing/app-signatures.js';
import { compileRecipe } from '../../core/signing/compile-recipe.js';
import type { Recipe } from '../../core/signing/recipe.js';
import type { Signer } from '../../core/signing/signer.js';
import { constantRule, type FoundRules } from '../find-rules.js';

/** A rule that may be the platform's. */
export interface Candidate {
  /** `null` for a module. */
  readonly recipe: Recipe | null;
  readonly signer: Signer;
  /** How likely it is, in relation to the others. */
  readonly weight: number;
}

/** The candidates of both signatures, the likeliest first. */
export type Candidates = Readonly<Record<SignatureName, readonly Candidate[]>>;

export function candidateOf(recipe: Recipe, weight = 1): Candidate {
  return { recipe, signer: compileRecipe(recipe), weight };
}

/** The rules that a search found. */
export function candidatesOf({ groups }: FoundRules): Candidate[] {
  return groups.map(({ recipe, weight }) => candidateOf(recipe, weight));
}

/** A signature that each request has alike, as an operator may have issued it. */
export function constantCandidate(text: string): Candidate {
  return candidateOf(constantRule(text));
}
