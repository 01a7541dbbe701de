import { setImmediate as letOthersIn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Search } from '../../signing/solve/search/search.js';
import type { Share, Tally } from '../../signing/solve/search/share.js';
import type { Searcher } from '../../signing/solve/solve.js';
import type { SolveTask } from '../../signing/solve/space/space.js';
import { packTask } from './packed-task.js';
import { type SearchLimits, SearchRun } from './search-run.js';

export interface SearchOptions extends SearchLimits {
  /** How many threads search: one is the thread that calls. */
  readonly jobs: number;
}

/** Up to this price the calling thread searches alone: most rules are found before other threads have started. */
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

/** Searches in the calling thread; between shares it lets other work in. */
async function searchHere(task: SolveTask, run: SearchRun, toBits: number): Promise<void> {
  const search = new Search(task);
  while (run.from < toBits) {
    const share = run.take();
    if (share === null) return;
    run.note(share, search.run(share));
    await letOthersIn();
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
    workerData: packTask(task),
  });
}

/** Gives a worker one share after the other. What ends the run for one, but that nothing is left, ends it for all. */
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
