import type { Recipe } from '../recipe.js';
import { RecipeError } from '../recipe-error.js';
import { compileRecipe } from '../sign.js';
import type { Signer } from '../signer.js';
import { probesFor } from './probes.js';
import type { Telling } from './recover/assemble-recipe.js';
import { BlockRecovery } from './recover/recover-blocks.js';
import { recoverLists } from './recover/recover-lists.js';
import type { Hit } from './search/share.js';
import type { Pause } from './solve.js';
import { chainIdentity } from './space/chain.js';
import { sortByBits, type Weighed } from './space/choice.js';
import { type SolveTask, wholeSpace } from './space/space.js';

/** A recipe that signs every sample as it was signed. */
export interface Fit extends Weighed {
  readonly recipe: Recipe;
  /** Other ways to say the same function that were found. */
  readonly alike: number;
}

/** What recipes are wanted for: a message that was found, and the samples that they must fit. */
export interface FitsWanted {
  readonly task: SolveTask;
  readonly hit: Hit;
  readonly others: readonly SolveTask[];
  /** How much dearer than the hit a recipe may be, in bits. */
  readonly slack: number;
}

/**
 * Every recipe that makes the message of a hit and fits all samples, the likeliest first; of those that are the same
 * function, the likeliest alone.
 */
export async function fitsOf(wanted: FitsWanted, pause: Pause): Promise<Fit[]> {
  const { request, secret } = wanted.task;
  const samples = [wanted.task, ...wanted.others];
  const probes = probesFor(request);
  const functions = new Map<string, Fit>();
  for (const { recipe, bits } of sortByBits(await tellAll(wanted, pause))) {
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

async function tellAll({ task, hit, slack }: FitsWanted, pause: Pause): Promise<Telling[]> {
  const space = wholeSpace(task);
  const riddle = {
    message: hit.message,
    chains: space.chains.filter((chain) => chainIdentity(chain) === hit.chain),
    bound: hit.bits + slack,
  };
  const told = new Map<string, Telling>();
  const add = (telling: Telling) => {
    const key = JSON.stringify(telling.recipe);
    const known = told.get(key);
    if (known === undefined || known.bits > telling.bits) told.set(key, telling);
  };
  await new BlockRecovery(space, riddle, add).run(pause);
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
