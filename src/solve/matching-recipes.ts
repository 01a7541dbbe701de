import { compileRecipe } from '../signing/compile-recipe.js';
import { RecipeError } from '../signing/recipe.js';
import type { Signer } from '../signing/signer.js';
import { chainIdentity } from './candidates/chains.js';
import { roundingBits, sortByBits } from './candidates/cost.js';
import { searchSpace } from './candidates/search-space.js';
import { probesFor } from './probes.js';
import { reconstructBlocks } from './reconstruct/blocks.js';
import { reconstructLists } from './reconstruct/lists.js';
import type { Pause, RecipeCandidate } from './reconstruct/target.js';
import type { Hit } from './search/shares.js';
import type { SolveTask } from './tasks.js';

/** A hit, and the recipes to list for it. */
export interface Listing {
  /** The task that was searched. */
  readonly task: SolveTask;
  readonly hit: Hit;
  /** Maximum cost of a recipe above that of the hit, in bits. */
  readonly slack: number;
  readonly pause: Pause;
}

/** Number of recipes that are tested between two pauses. */
const betweenPauses = 256;

/**
 * Every recipe that makes the message of the hit and fits all samples, the likeliest first. Of recipes for the same
 * function only the likeliest is listed.
 */
export async function matchingRecipes(
  listing: Listing,
  samples: readonly SolveTask[],
): Promise<RecipeCandidate[]> {
  const { request, secret } = listing.task;
  const probes = probesFor(request);
  const functions = new Map<string, RecipeCandidate>();
  for (const [index, candidate] of sortByBits(await candidatesFor(listing)).entries()) {
    if (index % betweenPauses === 0) await listing.pause();
    const signer = signerOf(candidate);
    if (signer === null || !samples.every((sample) => signs(signer, sample))) continue;
    const answers = probes.map((probe) => signer.sign(probe, secret).digest).join(' ');
    if (!functions.has(answers)) functions.set(answers, candidate);
  }
  return [...functions.values()];
}

async function candidatesFor({ task, hit, slack, pause }: Listing): Promise<RecipeCandidate[]> {
  const space = searchSpace(task, false);
  const candidates = new Map<string, RecipeCandidate>();
  const target = {
    message: hit.message,
    chains: space.chains.filter((chain) => chainIdentity(chain) === hit.chain),
    bound: hit.bits + slack + roundingBits,
    add(candidate: RecipeCandidate) {
      const key = JSON.stringify(candidate.recipe);
      const known = candidates.get(key);
      if (known === undefined || known.bits > candidate.bits) candidates.set(key, candidate);
    },
    pause,
  };
  await reconstructBlocks(space, target);
  reconstructLists(space, target);
  return [...candidates.values()];
}

/** `null` where the language refuses the recipe, such as one that replaces characters of the secret. */
function signerOf({ recipe }: RecipeCandidate): Signer | null {
  try {
    return compileRecipe(recipe);
  } catch (error) {
    if (error instanceof RecipeError) return null;
    throw error;
  }
}

/** Whether the recipe gives the signature of a sample. Another sample may have a secret that cannot be the key. */
function signs(signer: Signer, { request, secret, signature }: SolveTask): boolean {
  try {
    return signer.sign(request, secret).digest === signature;
  } catch (error) {
    if (error instanceof RecipeError) return false;
    throw error;
  }
}
