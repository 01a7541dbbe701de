import { readSignature } from './candidates/signature-reading.js';
import { type Pause, signs } from './fitting-recipes.js';
import { withReading } from './neighbours.js';
import { checkOpenRecipe, fill, type Hints, isOpen, openRecipe } from './open-recipe.js';
import { validRecipe } from './search/assemble-recipe.js';
import type { Found, SolveTask } from './tasks.js';

const betweenPauses = 256;

/**
 * The likeliest recipe by which all samples are signed, of those that fill in the recipe of the hints. None where its
 * message is open: then the hints are for the search. `pause` may throw.
 *
 * @throws RecipeError for hints that no recipe has
 */
export async function findByHints(tasks: readonly SolveTask[], hints: Hints, pause: Pause): Promise<Found> {
  const [task] = tasks;
  const wanted = openRecipe(hints);
  let tried = 0;
  if (task === undefined) return { tried, hit: null };
  checkOpenRecipe(wanted, task, hints);
  if (isOpen(wanted.message)) return { tried, hit: null };
  for (const { recipe: json, bits } of fill(wanted, task, hints)) {
    if (tried % betweenPauses === 0) await pause();
    tried += 1;
    const recipe = validRecipe(json);
    const read = recipe === null ? [] : readSignature(task).map((reading) => withReading(recipe, reading));
    const hit = read.find((one) => tasks.every((sample) => signs(one, sample)));
    if (hit !== undefined) return { tried, hit: { recipe: hit, bits } };
  }
  return { tried, hit: null };
}
