import { SampleError } from '../samples/sample-error.js';
import { type Fit, fitsOf } from './fits.js';
import { designSample, type NextSample } from './next-sample.js';
import type { Hit } from './search/share.js';
import { readSignature } from './space/signature-reading.js';
import type { SolveTask } from './space/space.js';

/** How far a search went. */
export interface SearchEnd {
  /** How many candidates were digested and compared. */
  readonly tried: number;
  readonly hit: Hit | null;
  /** Every candidate was tried that is likelier than one rule in 2^bits; all that there are where `isComplete`. */
  readonly bits: number;
  readonly isComplete: boolean;
}

/** Runs the shares of a search, in their order, until one has a hit or the time is over. */
export type Searcher = (task: SolveTask) => Promise<SearchEnd>;

/** What a search found. */
export interface Solution extends Omit<SearchEnd, 'hit'> {
  /** Every recipe that fits all samples, the likeliest first. */
  readonly fits: readonly Fit[];
  /** How a sample must look that tells them apart; null where there are not two, or nothing does. */
  readonly next: NextSample | null;
  /** Whether some sample has recipes by itself, though none fits them all. */
  readonly isDivided: boolean;
}

/**
 * Finds the recipes by which all samples were signed. The sample with the fewest parameters is searched first: the
 * message of one sample is enough to know every recipe that makes it, and these the others put to the test.
 *
 * @throws SampleError for a signature that no recipe can make
 */
export async function solve(tasks: readonly SolveTask[], search: Searcher): Promise<Solution> {
  tasks.forEach(checkSignature);
  const bySize = [...tasks].sort((a, b) => a.request.params.length - b.request.params.length);
  let tried = 0;
  let isDivided = false;
  let last: Pick<SearchEnd, 'bits' | 'isComplete'> = { bits: 0, isComplete: false };
  for (const task of bySize) {
    const end = await search(task);
    tried += end.tried;
    last = { bits: end.bits, isComplete: end.isComplete };
    if (end.hit === null) continue;
    const others = tasks.filter((other) => other !== task);
    const fits = fitsOf(task, end.hit, others);
    if (fits.length > 0) {
      const next = fits.length > 1 ? designSample(task.request, fits, task.secret) : null;
      return { ...last, tried, fits, next, isDivided: false };
    }
    isDivided = true;
  }
  return { ...last, tried, fits: [], next: null, isDivided };
}

function checkSignature(task: SolveTask): void {
  if (readSignature(task).length > 0) return;
  throw new SampleError(
    `a signature of ${task.signature.length} characters is no digest that a recipe can write`,
    'Recipes write md5, sha1, sha256 and sha512, whole or cut, in hex or base64; an RSA signature has no rule to find.',
  );
}
