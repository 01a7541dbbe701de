import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SolveTask } from '../../solve/candidates/search-space.js';
import { type Hit, maxBits, Search, type Share, ShareQueue, type Tally } from '../../solve/search/search.js';
import type { SearchEnd, Searcher } from '../../solve/solve.js';

interface SearchOptions extends SearchLimits {
  /** How many threads search; 1 searches in the calling thread. */
  readonly jobs: number;
}

/** Below this cost the calling thread searches alone: most rules are found before other threads have started. */
const soloBits = 18;

/** Searches on `jobs` threads. The searcher throws the signal's reason where it is aborted. */
export function searchOnThreads(options: SearchOptions): Searcher {
  return async (task) => {
    const run = new SearchRun(options);
    await searchHere(task, run, options.jobs === 1 ? Number.POSITIVE_INFINITY : soloBits);
    if (!run.isOver && options.jobs > 1) await searchTogether(task, run, options.jobs);
    options.signal.throwIfAborted();
    return run.end;
  };
}

/** Searches in the calling thread; between shares it yields to other work. */
async function searchHere(task: SolveTask, run: SearchRun, toBits: number): Promise<void> {
  const search = new Search(task);
  while (run.from < toBits) {
    const share = run.take();
    if (share === null) return;
    run.note(share, search.run(share));
    await yieldToOthers();
  }
}

async function searchTogether(task: SolveTask, run: SearchRun, jobs: number): Promise<void> {
  const workers = Array.from({ length: jobs }, () => startWorker(task));
  const stop = () => Promise.all(workers.map((worker) => worker.terminate()));
  const timer = setTimeout(stop, run.timeLeft);
  run.signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, run, stop)));
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', stop);
    await stop();
  }
}

function startWorker(task: SolveTask): Worker {
  return new Worker(new URL('./search-worker.cjs', import.meta.url), {
    workerData: { ...task, secret: task.secret.reveal() } satisfies PackedTask,
  });
}

/** Gives a worker one share after the other. A hit, an abort or a time-out ends the run for all workers. */
function drive(worker: Worker, run: SearchRun, stop: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let share: Share | null = null;
    const next = () => {
      share = run.take();
      if (share !== null) worker.postMessage(share);
      else if (run.isOver) stop();
      else resolve();
    };
    worker.on('message', (tally: Tally) => {
      if (share !== null) run.note(share, tally);
      next();
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve());
    next();
  });
}

/** What ends a search before a hit, and the progress callback. */
interface SearchLimits {
  readonly signal: AbortSignal;
  /** Milliseconds left. */
  timeLeft(): number;
  /** Called after every share with the number of candidates tried. */
  onProgress(tried: number): void;
}

/** The state of a search: the shares left, the candidates tried, and the hit. */
class SearchRun {
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

  /** Where the current band of costs begins. */
  get from(): number {
    return this.#queue.from;
  }

  /** Milliseconds. */
  get timeLeft(): number {
    return this.#limits.timeLeft();
  }

  /** Whether the run has ended, though shares may be left. */
  get isOver(): boolean {
    return this.#hit !== null || this.signal.aborted || this.timeLeft <= 0;
  }

  /** The next share; null where the run is over or no share is left. */
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
    const bits = isComplete ? maxBits : Math.min(this.#queue.from, ...open);
    return { tried: this.#tried, hit: this.#hit, bits, isComplete };
  }
}

/** A task as another thread of this process receives it: a `Secret` cannot be cloned. */
export interface PackedTask extends Omit<SolveTask, 'secret'> {
  readonly secret: string;
}
