import { compileComplete, compileRecipe } from '../../core/signing/compile-recipe.js';
import { compileParams } from '../../core/signing/params.js';
import { type Recipe, recipeDefaults, unlessRefused } from '../../core/signing/recipe.js';
import type { SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import type { Signer } from '../../core/signing/signer.js';
import { entriesOf } from '../verify/recipe-changes.js';
import { addedEntries } from './candidates/arrangements.js';
import { type RecipeCandidate, sortByBits } from './candidates/cost.js';
import { namedToken } from './candidates/pieces.js';
import { type Change, changesOf } from './changes.js';
import { probesFor } from './probes.js';
import type { SolveTask } from './tasks.js';

/** Awaited regularly while recipes are tried: yields to other work, and may throw to abort. */
export type Pause = () => Promise<void>;

/** A hit, and the recipes to list for it. */
export interface Listing {
  /** The task that was searched. */
  readonly task: SolveTask;
  readonly hit: RecipeCandidate;
  /** Maximum cost of a recipe above that of the hit, in bits. */
  readonly slack: number;
  readonly pause: Pause;
}

/** The recipes that sign all samples, and the number of those that sign the searched one alone. */
export interface FittingRecipes {
  readonly fits: readonly RecipeCandidate[];
  readonly ruledOut: number;
}

/** Number of recipes that are tested between two pauses. */
const betweenPauses = 128;

/** Maximum number of recipes that are tested for one way to write the message of the hit. */
const maxCombined = 5000;

/**
 * The hit and its variants that sign all samples, the likeliest first: all combinations of the
 * changes that leave the signature of the searched sample as it is. Of recipes for the same
 * function only the likeliest is listed.
 */
export async function fittingRecipes(
  { task, hit, slack, pause }: Listing,
  samples: readonly SolveTask[],
): Promise<FittingRecipes> {
  const { request, secret } = task;
  const probes = probesFor(request);
  const functions = new Map<string, RecipeCandidate>();
  const ruledOut = new Set<string>();
  let tested = 0;
  for (const base of [hit, ...asList(hit, task), ...asBlock(hit)]) {
    if (!signs(base.recipe, task)) continue;
    const changes = changesOf(base.recipe, task);
    // Another sample may lack a header or the body.
    if (!samples.every((sample) => signs(base.recipe, sample)))
      changes.push(...optionalEntries(base.recipe));
    const silent = changes.filter(({ apply }) => signs(apply(base.recipe), task));
    for (const candidate of combine(base, silent, hit.bits + slack)) {
      tested += 1;
      if (tested % betweenPauses === 0) await pause();
      if (!signs(candidate.recipe, task)) continue;
      const isFit = samples.every((sample) => signs(candidate.recipe, sample));
      const answers = answersOf(compileRecipe(candidate.recipe), probes, secret);
      const known = functions.get(answers);
      if (!isFit) ruledOut.add(answers);
      else if (known === undefined || known.bits > candidate.bits)
        functions.set(answers, candidate);
    }
  }
  return { fits: sortByBits([...functions.values()]), ruledOut: ruledOut.size };
}

function optionalEntries({ message }: Recipe): Change[] {
  return message.map((entry) => ({
    place: entry,
    bits: 1,
    apply: (recipe) => ({
      ...recipe,
      message: recipe.message.map((one) => (one === entry ? `$[${entry}]` : one)),
    }),
  }));
}

/** The cost of values one by one instead of a block of values, and of the reverse, in bits. */
const listBits = 2;

/** A recipe with a block of values, with these one by one. */
function asList({ recipe, bits }: RecipeCandidate, task: SolveTask): RecipeCandidate[] {
  const { params, join } = recipe;
  const { pairSep } = params;
  const entries = entriesOf(recipe);
  const place = entries.indexOf('$params');
  const selected = compileParams(params).select(task.request.params, addedEntries(params, task));
  const isGlued = join === '' || join === pairSep || selected.length === 1;
  if (place < 0 || params.names || !isGlued) return [];
  const tokens = selected.map(([name]) => params.add[name] ?? namedToken('param', name) ?? '');
  const separated = join !== '' ? tokens : tokens.flatMap((token) => [pairSep, token]).slice(1);
  const message = entries.toSpliced(place, 1, ...separated);
  return [{ recipe: { ...recipe, params: recipeDefaults.params, message }, bits: bits + listBits }];
}

/** A recipe with values side by side, with these as a block in their order. */
function asBlock({ recipe, bits }: RecipeCandidate): RecipeCandidate[] {
  const entries = entriesOf(recipe);
  const isValue = (entry: string) => /^\$(?:\{param:[^}]+\}|param:[\w-]+)$/.test(entry);
  const from = entries.findIndex(isValue);
  const values = entries.slice(from, entries.findLastIndex(isValue) + 1);
  if (from < 0 || !values.every(isValue)) return [];
  const order = values.map((entry) => entry.replace(/^\$\{?param:|\}$/g, ''));
  const params = { ...recipe.params, order, names: false, pairSep: recipe.join };
  const message = entries.toSpliced(from, values.length, '$params');
  return [{ recipe: { ...recipe, params, message }, bits: bits + listBits }];
}

/** What a rule makes of the probes: equal for the same function. */
function answersOf(signer: Signer, probes: readonly SignableRequest[], secret: Secret): string {
  return probes.map((probe) => signer.sign(probe, secret).digest).join(' ');
}

/** The recipe with at most one change of each place, the likeliest first. */
function combine(
  base: RecipeCandidate,
  changes: readonly Change[],
  bound: number,
): RecipeCandidate[] {
  const places = new Set(changes.map(({ place }) => place));
  let all = [base];
  for (const place of places) {
    const here = changes.filter((change) => change.place === place);
    const changed = all.flatMap(({ recipe, bits }) =>
      here
        .filter((change) => bits + change.bits <= bound)
        .map((change) => ({ recipe: change.apply(recipe), bits: bits + change.bits })),
    );
    all = sortByBits([...all, ...changed]).slice(0, maxCombined);
  }
  return all;
}

export function signs(recipe: Recipe, { request, secret, signature }: SolveTask): boolean {
  return unlessRefused(() => compileComplete(recipe).sign(request, secret))?.digest === signature;
}
