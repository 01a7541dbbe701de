import { algorithms } from '../signing/digest-algorithms.js';
import { SampleError } from '../signing-tools/samples/sample-error.js';
import { readSignature } from './candidates/signature-reading.js';
import { type Hints, recipesByHints } from './hinted.js';
import { type Listing, matchingRecipes } from './matching-recipes.js';
import { designSample, type NextSample } from './next-sample.js';
import type { Pause, RecipeCandidate } from './reconstruct/target.js';
import type { Hit, SearchEnd } from './search/shares.js';
import type { SolveTask } from './tasks.js';

/** Runs the shares of a search in order until one has a hit or the time is over: at least the first. */
export type Searcher = (task: SolveTask) => Promise<SearchEnd>;

/** The recipes of signed samples. */
export interface Solution extends Omit<SearchEnd, 'hit'> {
  /** Every recipe that fits all samples, the likeliest first. */
  readonly fits: readonly RecipeCandidate[];
  /** The sample that would tell them apart; null where there are fewer than two, or none would. */
  readonly next: NextSample | null;
  /** Whether single samples have recipes, but no recipe fits all samples. */
  readonly isDivided: boolean;
  /** Whether the time ended before all recipes that fit were listed: a likelier one may be missing. */
  readonly isCutShort: boolean;
}

/** Maximum cost of a listed recipe above that of the hit, in bits. */
const usualSlack = 11;

/** Maximum where the time is over: these are listed in any case. */
const leastSlack = 2;

/** Maximum where no recipe within the usual one fits all samples. */
const wideSlack = 15;

/**
 * Finds the recipes that sign all samples. `pause` may throw `TimeOver`. The sample with the fewest parameters is
 * searched first: the message of one sample is enough to list every recipe that makes it; the other samples then test
 * these recipes.
 *
 * @throws SampleError for a signature that no recipe can write
 */
export async function solve(tasks: readonly SolveTask[], search: Searcher, pause: Pause): Promise<Solution> {
  tasks.forEach(checkSignature);
  const bySize = [...tasks].sort((a, b) => a.request.params.length - b.request.params.length);
  const hits: { readonly task: SolveTask; readonly hit: Hit }[] = [];
  let progress: Omit<SearchEnd, 'hit'> = { tried: 0, bits: 0, isComplete: false };
  const solutionFrom = async (task: SolveTask, hit: Hit, slack: number): Promise<Solution | null> => {
    const { fits, isCutShort } = await fitsWithin({ task, hit, slack, pause }, tasks);
    if (fits.length === 0) return null;
    const next = fits.length > 1 ? designSample(task.request, fits, task.secret) : null;
    return { ...progress, fits, next, isDivided: false, isCutShort };
  };
  for (const task of bySize) {
    const { tried, hit, bits, isComplete } = await search(task);
    progress = { tried: progress.tried + tried, bits, isComplete };
    if (hit === null) continue;
    hits.push({ task, hit });
    const solution = await solutionFrom(task, hit, usualSlack);
    if (solution !== null) return solution;
  }
  for (const { task, hit } of tasks.length > 1 ? hits : []) {
    const solution = await solutionFrom(task, hit, wideSlack);
    if (solution !== null) return solution;
  }
  const isDivided = tasks.length > 1 && hits.length > 0;
  return { ...progress, fits: [], next: null, isDivided, isCutShort: false };
}

/** Finds the recipes that the hints allow; null where none fits, or the time ends: a search without them may find more. */
export async function solveByHints(
  tasks: readonly SolveTask[],
  hints: Hints,
  pause: Pause,
): Promise<Solution | null> {
  tasks.forEach(checkSignature);
  const [task] = tasks;
  try {
    const { fits, tried } = await recipesByHints(tasks, hints, pause);
    if (fits.length === 0 || task === undefined) return null;
    const next = fits.length > 1 ? designSample(task.request, fits, task.secret) : null;
    return { tried, fits, next, bits: 0, isComplete: false, isDivided: false, isCutShort: false };
  } catch (error) {
    if (error instanceof TimeOver) return null;
    throw error;
  }
}

/** Thrown by `pause` when the time to list recipes is over. */
export class TimeOver extends Error {}

/** The recipes that fit: all, or if the time ends before that, those about as likely as the hit. */
async function fitsWithin(
  listing: Listing,
  tasks: readonly SolveTask[],
): Promise<{ readonly fits: readonly RecipeCandidate[]; readonly isCutShort: boolean }> {
  try {
    return { fits: await matchingRecipes(listing, tasks), isCutShort: false };
  } catch (error) {
    if (!(error instanceof TimeOver)) throw error;
    const slack = Math.min(listing.slack, leastSlack);
    const pause = () => listing.pause().catch(ignoreTimeOver);
    return { fits: await matchingRecipes({ ...listing, slack, pause }, tasks), isCutShort: true };
  }
}

function ignoreTimeOver(error: unknown): void {
  if (!(error instanceof TimeOver)) throw error;
}

function checkSignature(task: SolveTask): void {
  if (readSignature(task).length > 0) return;
  throw new SampleError(
    `a signature of ${task.signature.length} characters is no digest that a recipe can write`,
    `Recipes write ${algorithms.join(', ')}, whole or cut, in hex or base64; an RSA signature has no rule to find.`,
  );
}
