import type { Recipe } from '../recipe.js';
import { RecipeError } from '../recipe-error.js';
import { compileRecipe } from '../sign.js';
import type { Signer } from '../signer.js';
import { probesFor } from './probes.js';
import type { Telling } from './recover/assemble-recipe.js';
import { BlockRecovery } from './recover/recover-blocks.js';
import { recoverLists } from './recover/recover-lists.js';
import type { Hit } from './search/share.js';
import { chainIdentity } from './space/chain.js';
import { sortByBits, type Weighed } from './space/choice.js';
import { type SolveTask, wholeSpace } from './space/space.js';

/** A recipe that signs every sample as it was signed. */
export interface Fit extends Weighed {
  readonly recipe: Recipe;
  /** Other ways to say the same function that were found. */
  readonly alike: number;
}

/** How much rarer than the first a recipe may be to be listed: 2^bits times. */
const slackBits = 11;

/**
 * Every recipe that makes the message of a hit and fits all samples, the likeliest first; of those that are the same
 * function, the likeliest alone.
 */
export function fitsOf(task: SolveTask, hit: Hit, others: readonly SolveTask[]): Fit[] {
  const { request, secret } = task;
  const samples = [task, ...others];
  const probes = probesFor(request);
  const functions = new Map<string, Fit>();
  for (const { recipe, bits } of sortByBits(tellAll(task, hit))) {
    const signer = compileRecipe(recipe);
    if (!samples.every((sample) => signs(signer, sample))) continue;
    const answers = probes.map((probe) => signer.sign(probe, secret).digest).join(' ');
    const known = functions.get(answers);
    functions.set(
      answers,
      known === undefined ? { recipe, bits, alike: 0 } : { ...known, alike: known.alike + 1 },
    );
  }
  return [...functions.values()];
}

function tellAll(task: SolveTask, hit: Hit): Telling[] {
  const space = wholeSpace(task);
  const riddle = {
    message: hit.message,
    chains: space.chains.filter((chain) => chainIdentity(chain) === hit.chain),
    bound: hit.bits + slackBits,
  };
  const told = new Map<string, Telling>();
  const add = (telling: Telling) => {
    const key = JSON.stringify(telling.recipe);
    const known = told.get(key);
    if (known === undefined || known.bits > telling.bits) told.set(key, telling);
  };
  new BlockRecovery(space, riddle, add).run();
  recoverLists(space, riddle, add);
  return [...told.values()];
}

/** Whether a sample was signed so. Another sample may come with a secret that cannot be the key. */
function signs(signer: Signer, { request, secret, signature }: SolveTask): boolean {
  try {
    return signer.sign(request, secret).digest === signature;
  } catch (error) {
    if (error instanceof RecipeError) return false;
    throw error;
  }
}
