import { distinctSearchSpace, type SolveTask } from '../candidates/search-space.js';
import { BlockSearch } from './block-search.js';
import { compileChains } from './compiled-chain.js';
import { ListSearch } from './list-search.js';
import type { Share, Tally } from './share.js';

/** A search for the message of one sample. It builds its lists as it needs them, and keeps them. */
export class Search {
  readonly #blocks: BlockSearch;
  readonly #lists: ListSearch;

  constructor(task: SolveTask) {
    const space = distinctSearchSpace(task);
    const chains = compileChains(space.chains);
    this.#blocks = new BlockSearch(space, chains);
    this.#lists = new ListSearch(space, chains);
  }

  /** Tries the candidates of a share until one fits. */
  run(share: Share): Tally {
    const tally: Tally = { tried: 0, hit: null };
    this.#blocks.run(share, tally);
    if (tally.hit === null) this.#lists.run(share, tally);
    return tally;
  }
}
