import type { SearchEnd, Searcher } from '../solve.js';
import { Search } from './search.js';
import { dearest, ShareQueue } from './share.js';

/** Searches in this thread. `isOver` is asked after every share, which takes a quarter of a second or so. */
export function searchHere(isOver: (tried: number) => boolean): Searcher {
  return async (task): Promise<SearchEnd> => {
    const search = new Search(task);
    const queue = new ShareQueue();
    let tried = 0;
    for (let share = queue.take(); share !== null; share = queue.take()) {
      const tally = search.run(share);
      tried += tally.tried;
      queue.note(share, tally.tried);
      const isCut = isOver(tried);
      if (tally.hit !== null || isCut) return { tried, hit: tally.hit, bits: share.from, isComplete: false };
    }
    return { tried, hit: null, bits: dearest, isComplete: true };
  };
}
