import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SolveTask } from '../../solve/candidates/search-space.js';
import { Search, type Share, ShareQueue, type Tally } from '../../solve/search/search.js';
import type { Searcher } from '../../solve/solve.js';

interface SearchOptions {
  /** How many threads search; 1 searches in the calling thread. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  /** Milliseconds left. */
  timeLeft(): number;
  /** Called after every share with the number of candidates tried. */
  onProgress(tried: number): void;
}

/** Below this cost the calling thread searches alone: most rules are found before other threads have started. */
const soloBits = 18;

/** Searches on `jobs` threads. The searcher throws the signal's reason where it is aborted. */
export function searchOnThreads(options: SearchOptions): Searcher {
  return async (task) => {
    const run = new SearchRun(options);
    await searchHere(task, run, options.jobs === 1 ? Number.POSITIVE_INFINITY : soloBits);
    if (!run.isOver && options.jobs > 1) await searchTogether(task, run, options);
    options.signal.throwIfAborted();
    return run.end;
  };
}

/** The shares of a search until it has a hit, is aborted or runs out of time. */
class SearchRun extends ShareQueue {
  readonly #options: SearchOptions;

  constructor(options: SearchOptions) {
    super();
    this.#options = options;
  }

  /** Whether the run has ended, though shares may be left. */
  get isOver(): boolean {
    return this.total.hit !== null || this.#options.signal.aborted || this.#options.timeLeft() <= 0;
  }

  override take(): Share | null {
    return this.isOver ? null : super.take();
  }

  override note(share: Share, tally: Tally): void {
    super.note(share, tally);
    this.#options.onProgress(this.total.tried);
  }
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

async function searchTogether(
  task: SolveTask,
  run: SearchRun,
  { jobs, signal, timeLeft }: SearchOptions,
): Promise<void> {
  const workerData: PackedTask = { ...task, secret: task.secret.reveal() };
  const file = new URL('./search-worker.cjs', import.meta.url);
  const workers = Array.from({ length: jobs }, () => new Worker(file, { workerData }));
  const stop = () => Promise.all(workers.map((worker) => worker.terminate()));
  const timer = setTimeout(stop, timeLeft());
  signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, run, stop)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await stop();
  }
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

/** A task as another thread of this process receives it: a `Secret` cannot be cloned. */
export interface PackedTask extends Omit<SolveTask, 'secret'> {
  readonly secret: string;
}
