import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Search } from '../../../lab/solve/search/search.js';
import { maxHinted, type Share, ShareQueue, type Tally } from '../../../lab/solve/search/shares.js';
import type { Searcher } from '../../../lab/solve/solve.js';
import { isHinted, type SolveTask } from '../../../lab/solve/tasks.js';

interface SearchOptions {
  /** Number of threads, the calling one included. */
  readonly jobs: number;
  readonly signal: AbortSignal;
  /** Milliseconds left, of the machine's time or of the clock. */
  timeLeft(): number;
  /** Called after every share with the number of candidates tried. */
  onProgress(tried: number): void;
}

/**
 * Below this cost the calling thread searches alone: most rules are found before other threads have
 * started.
 */
const soloBits = 18;

/** The time that is left is looked at this often while workers search, in milliseconds. */
const timerMs = 50;

/** Searches on `jobs` threads. The searcher throws the signal's reason where it is aborted. */
export function searchOnThreads(options: SearchOptions): Searcher {
  const { jobs, signal } = options;
  return async (task) => {
    const queue = new ShareQueue(isHinted(task) ? maxHinted : undefined);
    const search = new Search(task);
    await searchHere(search, queue, options, jobs === 1 ? Number.POSITIVE_INFINITY : soloBits);
    if (jobs > 1 && !isOver(queue, options)) await searchTogether(task, search, queue, options);
    signal.throwIfAborted();
    return queue.end;
  };
}

/** Whether a search has ended, though shares may be left. */
function isOver({ total }: ShareQueue, { signal, timeLeft }: SearchOptions): boolean {
  return total.hit !== null || signal.aborted || timeLeft() <= 0;
}

/**
 * Searches shares that begin below `toBits` in the calling thread. Before each it yields to other
 * work.
 */
async function searchHere(
  search: Search,
  queue: ShareQueue,
  options: SearchOptions,
  toBits: number,
): Promise<void> {
  // The first share takes milliseconds, and has the likeliest rules: it is searched however little
  // time there is.
  const isEnough = () =>
    (queue.total.tried > 0 || options.signal.aborted) && isOver(queue, options);
  while (queue.from < toBits && !isEnough()) {
    await yieldToOthers();
    if (isEnough()) return;
    const share = queue.take();
    if (share === null) return;
    queue.note(share, search.run(share, isEnough));
    options.onProgress(queue.total.tried);
  }
}

/**
 * Searches in `jobs - 1` workers and in the calling thread, whose code is compiled and whose lists
 * are built.
 */
async function searchTogether(
  task: SolveTask,
  search: Search,
  queue: ShareQueue,
  options: SearchOptions,
): Promise<void> {
  const { jobs, signal, timeLeft } = options;
  const workerData: PackedTask = { ...task, secret: task.secret.reveal() };
  const file = new URL('./search-worker.cjs', import.meta.url);
  const workers = Array.from({ length: jobs - 1 }, () => new Worker(file, { workerData }));
  const halt = new AbortController();
  let stopped: Promise<unknown> | undefined;
  const stop = () => {
    halt.abort();
    // Once: each call of a worker's would listen to its exit.
    stopped ??= Promise.all(workers.map((worker) => worker.terminate()));
    return stopped;
  };
  const timer = setInterval(() => timeLeft() <= 0 && stop(), timerMs);
  signal.addEventListener('abort', stop);
  const together = { ...options, signal: halt.signal };
  const here = async () => {
    await searchHere(search, queue, together, Number.POSITIVE_INFINITY);
    if (isOver(queue, together)) await stop();
  };
  try {
    await Promise.all([here(), ...workers.map((worker) => drive(worker, queue, together, stop))]);
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    await stop();
  }
}

/**
 * Gives a worker one share after the other, and one ahead: the calling thread may be in the middle
 * of its own. A hit, an abort or a time-out ends the search for all threads.
 */
function drive(
  worker: Worker,
  queue: ShareQueue,
  options: SearchOptions,
  stop: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const given: Share[] = [];
    const give = () => {
      const share = queue.take();
      if (share === null) return;
      given.push(share);
      worker.postMessage(share);
    };
    worker.on('message', (tally: Tally) => {
      const share = given.shift();
      if (share !== undefined) queue.note(share, tally);
      options.onProgress(queue.total.tried);
      if (isOver(queue, options)) stop();
      else give();
      if (given.length === 0) resolve();
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve());
    give();
    give();
    if (given.length === 0) resolve();
  });
}

/** A task as another thread of this process receives it: a `Secret` cannot be cloned. */
export interface PackedTask extends Omit<SolveTask, 'secret'> {
  readonly secret: string;
}
