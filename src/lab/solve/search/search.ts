import { memoize } from '../../../core/support/memoize.js';
import { NoRoom } from '../candidates/lazy-list.js';
import { searchSpace } from '../candidates/search-space.js';
import type { SolveTask } from '../tasks.js';
import { blockSearch } from './block-search.js';
import { compileChain } from './compiled-chain.js';
import { listSearch } from './list-search.js';
import { type Share, type Tally, Work } from './shares.js';

/** A search for the message of one sample. It builds its lists as it needs them, and keeps them. */
export class Search {
  readonly #searches: readonly ((share: Share, work: Work) => void)[];

  constructor(task: SolveTask, space = searchSpace(task)) {
    // Of many chains few are tried before a search ends.
    const fitsOf = memoize(compileChain);
    const lists = listSearch(space, fitsOf);
    const { headers = [], constants = [] } = task.hints ?? {};
    // What hints name is rarely around a block of parameters, and the lists that have it are deep.
    this.#searches =
      headers.length + constants.length > 0 ? [lists] : [blockSearch(space, fitsOf), lists];
  }

  /**
   * Tries the candidates of a share until one fits, the time is over, or the lists have no more
   * room.
   */
  run(share: Share, isOver = () => false): Tally {
    const work = new Work(isOver);
    try {
      for (const search of this.#searches) if (!work.isDone) search(share, work);
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      work.isCut = true;
    }
    return work;
  }
}
