import { forAppSign } from '../signing/app-signatures.js';
import { paramOf, type Sample } from '../signing/request.js';
import { SampleError } from '../signing/samples/captured-request.js';
import type { Secret } from '../signing/secret.js';
import type { SolveTask } from './candidates/search-space.js';
import { readSignature } from './candidates/signature-reading.js';
import { fitsOf } from './matching-recipes.js';
import { designSample, type NextSample } from './next-sample.js';
import type { RecipeCandidate } from './reconstruct/assemble-recipe.js';
import type { Hit, SearchEnd } from './search/search.js';

/** Runs the shares of a search in order until one has a hit or the time is over. */
export type Searcher = (task: SolveTask) => Promise<SearchEnd>;

/** Awaited regularly while recipes are assembled: yields to other work, and may throw to abort. */
export type Pause = () => Promise<void>;

export interface Solution extends Omit<SearchEnd, 'hit'> {
  /** Every recipe that fits all samples, the likeliest first. */
  readonly fits: readonly RecipeCandidate[];
  /** The sample that would tell them apart; null where there are fewer than two, or none would. */
  readonly next: NextSample | null;
  /** Whether single samples have recipes, but no recipe fits all samples. */
  readonly isDivided: boolean;
}

/** How much more than the hit a listed recipe may cost, in bits. */
const usualSlack = 11;

/** The same where none of the usual recipes fits all samples: a rarer one may. */
const wideSlack = 15;

/**
 * Finds the recipes that sign all samples. The sample with the fewest parameters is searched first: the message of
 * one sample is enough to list every recipe that makes it; the other samples then test these recipes.
 *
 * @throws SampleError for a signature that no recipe can write
 */
export async function solve(tasks: readonly SolveTask[], search: Searcher, pause: Pause): Promise<Solution> {
  tasks.forEach(checkSignature);
  const bySize = [...tasks].sort((a, b) => a.request.params.length - b.request.params.length);
  const hits: { readonly task: SolveTask; readonly hit: Hit }[] = [];
  let progress: Omit<SearchEnd, 'hit'> = { tried: 0, bits: 0, isComplete: false };
  const fitsFor = async (task: SolveTask, hit: Hit, slack: number): Promise<Solution | null> => {
    const fits = await fitsOf(task, hit, tasks, slack, pause);
    if (fits.length === 0) return null;
    const next = fits.length > 1 ? designSample(task.request, fits, task.secret) : null;
    return { ...progress, fits, next, isDivided: false };
  };
  for (const task of bySize) {
    const { tried, hit, bits, isComplete } = await search(task);
    progress = { tried: progress.tried + tried, bits, isComplete };
    if (hit === null) continue;
    hits.push({ task, hit });
    const solution = await fitsFor(task, hit, usualSlack);
    if (solution !== null) return solution;
  }
  for (const { task, hit } of tasks.length > 1 ? hits : []) {
    const solution = await fitsFor(task, hit, wideSlack);
    if (solution !== null) return solution;
  }
  return { ...progress, fits: [], next: null, isDivided: tasks.length > 1 && hits.length > 0 };
}

function checkSignature(task: SolveTask): void {
  if (readSignature(task).length > 0) return;
  throw new SampleError(
    `a signature of ${task.signature.length} characters is no digest that a recipe can write`,
    'Recipes write md5, sha1, sha256 and sha512, whole or cut, in hex or base64; an RSA signature has no rule to find.',
  );
}

export interface SignedSample extends Sample {
  readonly secret: Secret;
}

/**
 * The tasks for the signature of the samples: one rule that fits them all.
 *
 * @throws SampleError for a sample without a signature
 */
export function tasksForSign(samples: readonly SignedSample[]): SolveTask[] {
  return withOthers(
    samples.map(({ signature, signParam, secret, ...request }) => {
      if (signature === null) {
        throw new SampleError(
          `the sample has no signature: there is no parameter ${JSON.stringify(signParam)}`,
          'Name the parameter that carries it by --sign-param.',
        );
      }
      return { request, secret, signature };
    }),
  );
}

/** The tasks for `app_sign`, where `sign` covers it in every sample (§5.5, §5.6); else null. */
export function tasksForAppSign(samples: readonly SignedSample[]): SolveTask[] | null {
  const tasks = samples.flatMap(({ signature: _, signParam, secret, ...request }) => {
    const signature = paramOf(request, 'app_sign');
    return signParam !== 'sign' || !signature ? [] : [{ request: forAppSign(request), secret, signature }];
  });
  return tasks.length === samples.length && tasks.length > 0 ? withOthers(tasks) : null;
}

function withOthers(tasks: readonly Omit<SolveTask, 'otherParams'>[]): SolveTask[] {
  return tasks.map((task) => ({
    ...task,
    otherParams: tasks.filter((other) => other !== task).flatMap(({ request }) => request.params),
  }));
}
