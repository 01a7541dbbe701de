import { algorithms } from '../../core/signing/digest-algorithms.js';
import { SampleError } from '../samples/sample-error.js';
import type { RecipeCandidate } from './candidates/cost.js';
import { readSignature } from './candidates/signature-reading.js';
import {
  type FittingRecipes,
  fittingRecipes,
  type Listing,
  type Pause,
} from './fitting-recipes.js';
import { findNeighbour } from './neighbours.js';
import { designSample, type FitGroup, groupFits, type NextSample } from './next-sample.js';
import { findByHints, withHints } from './open-recipe.js';
import type { SearchEnd } from './search/shares.js';
import type { Found, Hints, SolveTask } from './tasks.js';

/**
 * Runs the shares of a search in order until one has a hit or the time is over: at least the first.
 */
export type Searcher = (task: SolveTask) => Promise<SearchEnd>;

/** The recipes of signed samples. */
export interface Solution extends Omit<SearchEnd, 'hit'> {
  /** Every recipe that fits all samples, the likeliest first. */
  readonly fits: readonly RecipeCandidate[];
  /** The fits after the first, by what tells them from it. */
  readonly groups: readonly FitGroup[];
  /** The sample that would tell them apart; null where there are fewer than two, or none would. */
  readonly next: NextSample | null;
  /** Number of recipes that fit the searched sample, but not the others. */
  readonly ruledOut: number;
  /** Whether single samples have recipes, but no recipe fits all samples. */
  readonly isDivided: boolean;
  /**
   * Whether the time ended before all recipes that fit were listed: a likelier one may be missing.
   */
  readonly isCutShort: boolean;
}

/** Maximum cost of a listed recipe above that of the hit, in bits. */
const usualSlack = 11;

/** Maximum where the time is over: these are listed in any case. */
const minSlack = 2;

/**
 * Finds the recipes that sign all samples: those that a document allows, then the neighbours of
 * known rules, then all. `pause` may throw `TimeOver`. The sample with the fewest parameters is
 * searched first; the recipe that is found, and its variants, are then tested with the others.
 *
 * @throws SampleError for a signature that no recipe can write, or a request that is too large;
 * RecipeError for hints that no recipe has
 */
export async function solve(
  tasks: readonly SolveTask[],
  search: Searcher,
  pause: Pause,
  hints: Hints = {},
): Promise<Solution> {
  tasks.forEach(checkTask);
  const bySize = withHints(tasks, hints).sort(
    (a, b) => a.request.params.length - b.request.params.length,
  );
  let end: SearchEnd = { tried: 0, hit: null, bits: 0, isComplete: false };
  let isDivided = false;
  const finders: (readonly [task: SolveTask, find: () => Promise<Found>])[] = bySize.map((task) => [
    task,
    () => search(task),
  ]);
  const [smallest] = bySize;
  if (smallest !== undefined) {
    finders.unshift([smallest, () => inTime(findNeighbour(bySize, pause))]);
    if (hints.recipe !== undefined)
      finders.unshift([smallest, () => inTime(findByHints(bySize, hints, pause))]);
  }
  for (const [task, find] of finders) {
    const found = await find();
    const { bits = 0, isComplete = false }: Partial<SearchEnd> = found;
    end = {
      hit: found.hit,
      tried: end.tried + found.tried,
      // The search of another sample may have ended sooner.
      bits: Math.max(end.bits, bits),
      isComplete: end.isComplete || isComplete,
    };
    if (found.hit === null) continue;
    const { fits, ruledOut, isCutShort } = await fitsWithin(
      { task, hit: found.hit, slack: usualSlack, pause },
      tasks,
    );
    isDivided = tasks.length > 1 && fits.length === 0;
    if (fits.length === 0) continue;
    const next = fits.length > 1 ? designSample(task.request, fits, task.secret) : null;
    const groups = groupFits(task.request, fits, task.secret);
    return { ...end, fits, groups, next, ruledOut, isDivided: false, isCutShort };
  }
  return { ...end, fits: [], groups: [], next: null, ruledOut: 0, isDivided, isCutShort: false };
}

/** What is found before the time is over. */
async function inTime(finding: Promise<Found>): Promise<Found> {
  return (await finding.catch(ignoreTimeOver)) ?? { tried: 0, hit: null };
}

/** Thrown by `pause` when the time to list recipes is over. */
export class TimeOver extends Error {}

/** The recipes that fit: all, or if the time ends before that, those about as likely as the hit. */
async function fitsWithin(
  listing: Listing,
  tasks: readonly SolveTask[],
): Promise<FittingRecipes & { readonly isCutShort: boolean }> {
  try {
    return { ...(await fittingRecipes(listing, tasks)), isCutShort: false };
  } catch (error) {
    if (!(error instanceof TimeOver)) throw error;
    const slack = Math.min(listing.slack, minSlack);
    const pause = () => listing.pause().catch(ignoreTimeOver);
    return { ...(await fittingRecipes({ ...listing, slack, pause }, tasks)), isCutShort: true };
  }
}

function ignoreTimeOver(error: unknown): void {
  if (!(error instanceof TimeOver)) throw error;
}

/**
 * Maximum number of parameters, of headers and of characters in a request: with more, a search
 * would take minutes to begin.
 */
const maxParams = 100;
const maxHeaders = 30;
const maxCharacters = 65_536;

function checkTask(task: SolveTask): void {
  const { params, url, body, extra } = task.request;
  const length = [...params, ...Object.entries(extra), [url, body ?? '']].flat().join('').length;
  const headers = Object.keys(extra).length;
  if (params.length > maxParams || headers > maxHeaders || length > maxCharacters) {
    throw new SampleError(
      `a request of ${params.length} parameters, ${headers} headers and ${length} characters is too large to search`,
      `At most ${maxParams} parameters, ${maxHeaders} headers and ${maxCharacters} characters: take a smaller request, signed by the same rule.`,
    );
  }
  if (readSignature(task).length > 0) return;
  throw new SampleError(
    `a signature of ${task.signature.length} characters is not a digest that a recipe can write`,
    `Recipes write ${algorithms.join(', ')}, whole or cut, in hex or base64; an RSA signature has no rule to find.`,
  );
}
