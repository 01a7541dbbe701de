import { dearest, type Hit, type Share, ShareQueue, type Tally } from '../../signing/solve/search/share.js';
import type { SearchEnd } from '../../signing/solve/solve.js';

/** What ends a search before it has found anything, and who hears how it goes. */
export interface SearchLimits {
  readonly signal: AbortSignal;
  /** Milliseconds that are left. */
  timeLeft(): number;
  /** Hears how many candidates were tried, after every share. */
  onProgress(tried: number): void;
}

/** The state of a search: what is still to be done, what was, and what came of it. */
export class SearchRun {
  readonly signal: AbortSignal;
  readonly #limits: SearchLimits;
  readonly #queue = new ShareQueue();
  readonly #open = new Set<Share>();
  #tried = 0;
  #hit: Hit | null = null;

  constructor(limits: SearchLimits) {
    this.#limits = limits;
    this.signal = limits.signal;
  }

  /** Where the band begins whose shares are being done. */
  get from(): number {
    return this.#queue.from;
  }

  /** Milliseconds. */
  get timeLeft(): number {
    return this.#limits.timeLeft();
  }

  /** Whether there is no reason to go on, though something may be left. */
  get isOver(): boolean {
    return this.#hit !== null || this.signal.aborted || this.timeLeft <= 0;
  }

  /** The next share to be done; null where the run is over, or nothing is left. */
  take(): Share | null {
    if (this.isOver) return null;
    const share = this.#queue.take();
    if (share !== null) this.#open.add(share);
    return share;
  }

  note(share: Share, { tried, hit }: Tally): void {
    this.#open.delete(share);
    this.#queue.note(share, tried);
    this.#tried += tried;
    this.#hit ??= hit;
    this.#limits.onProgress(this.#tried);
  }

  get end(): SearchEnd {
    const isComplete = this.#hit === null && this.#queue.isEmpty && this.#open.size === 0;
    const open = [...this.#open].map(({ from }) => from);
    const bits = isComplete ? dearest : Math.min(this.#queue.from, ...open);
    return { tried: this.#tried, hit: this.#hit, bits, isComplete };
  }
}
