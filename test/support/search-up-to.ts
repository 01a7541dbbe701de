import { searchOnThreads } from '../../src/cli/commands/sign/search-threads.js';
import type { Searcher } from '../../src/lab/solve/solve.js';

/**
 * The searcher of `sign solve --jobs 1`: it stops after the share with which it has tried more than
 * `most` candidates.
 */
export function searchUpTo(most: number): Searcher {
  let tried = 0;
  return searchOnThreads({
    jobs: 1,
    signal: new AbortController().signal,
    timeLeft: () => (tried > most ? 0 : Number.POSITIVE_INFINITY),
    onProgress: (count) => {
      tried = count;
    },
  });
}
