import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Search } from '../../solve/search/search.js';
import { type Share, ShareQueue, type Tally } from '../../solve/search/shares.js';
import type { Searcher } from '../../solve/solve.js';
import type { SolveTask } from '../../solve/tasks.js';

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
  const { jobs, signal } = options;
  return async (task) => {
    const queue = new ShareQueue();
    await searchHere(task, queue, options);
    if (jobs > 1 && !isOver(queue, options)) await searchTogether(task, queue, options);
    signal.throwIfAborted();
    return queue.end;
  };
}

/** Whether a search has ended, though shares may be left. */
function isOver({ total }: ShareQueue, { signal, timeLeft }: SearchOptions): boolean {
  return total.hit !== null || signal.aborted || timeLeft() <= 0;
}

/** Searches in the calling thread; between shares it yields to other work. */
async function searchHere(task: SolveTask, queue: ShareQueue, options: SearchOptions): Promise<void> {
  const search = new Search(task);
  const toBits = options.jobs === 1 ? Number.POSITIVE_INFINITY : soloBits;
  while (queue.from < toBits && !isOver(queue, options)) {
    const share = queue.take();
    if (share === null) return;
    queue.note(share, search.run(share));
    options.onProgress(queue.total.tried);
    await yieldToOthers();
  }
}

async function searchTogether(task: SolveTask, queue: ShareQueue, options: SearchOptions): Promise<void> {
  const { jobs, signal, timeLeft } = options;
  const workerData: PackedTask = { ...task, secret: task.secret.reveal() };
  const file = new URL('./search-worker.cjs', import.meta.url);
  const workers = Array.from({ length: jobs }, () => new Worker(file, { workerData }));
  const stop = () => Promise.all(workers.map((worker) => worker.terminate()));
  const timer = setTimeout(stop, timeLeft());
  signal.addEventListener('abort', stop);
  try {
    await Promise.all(workers.map((worker) => drive(worker, queue, options, stop)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await stop();
  }
}

/** Gives a worker one share after the other. A hit, an abort or a time-out ends the search for all workers. */
function drive(worker: Worker, queue: ShareQueue, options: SearchOptions, stop: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let share: Share | null = null;
    const next = () => {
      if (isOver(queue, options)) stop();
      else {
        share = queue.take();
        if (share === null) resolve();
        else worker.postMessage(share);
      }
    };
    worker.on('message', (tally: Tally) => {
      if (share !== null) queue.note(share, tally);
      options.onProgress(queue.total.tried);
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
