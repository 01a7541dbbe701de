import { setTimeout as wait } from 'node:timers/promises';
import { InvalidInputError } from '../../protocol/errors.js';
import { type QueuedRun, type RunTarget, targetDifferences } from '../run.js';
import { RunWork, type WorkerMeans } from './run-work.js';

/** How often a worker that has nothing to do looks for a run, in milliseconds. */
const idleMs = 1_000;

/** Whom a worker tells what it does. */
export interface WorkerListener {
  onBegin(run: QueuedRun): void;
  /** `rows` is how many this worker did. */
  onEnd(run: QueuedRun, rows: number): void;
  /** The run is for another place: see `targetDifferences`. */
  onRefused(run: QueuedRun, differences: readonly string[]): void;
}

export interface WorkerOptions extends WorkerMeans {
  /** Where the worker's profile sends rows. */
  readonly target: RunTarget;
  /** Whether it ends when there is nothing left to do. */
  readonly drains: boolean;
  readonly listener: WorkerListener;
  /** Hands back what the worker holds, and ends it. */
  readonly signal: AbortSignal;
}

/**
 * Does the runs of a queue that are for the worker's target, the oldest first, until it is stopped. Throws what ends
 * a run for its worker (see `RunWork.run`), and an InvalidInputError where it should drain a queue of which it may do
 * nothing.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { signal, drains, outage } = options;
  const told = new Set<string>();
  let hasWorked = false;
  signal.addEventListener('abort', () => outage.stop(), { once: true });
  while (!signal.aborted) {
    const { next, refused } = await look(options, told);
    if (next !== undefined) {
      await work(options, next);
      hasWorked = true;
    } else if (drains) {
      if (refused !== undefined && !hasWorked) throw notForUs(refused);
      return;
    } else await wait(idleMs, undefined, { signal }).catch(() => {});
  }
}

async function look(
  { queue, outage, target, listener }: WorkerOptions,
  told: Set<string>,
): Promise<{ readonly next: QueuedRun | undefined; readonly refused: QueuedRun | undefined }> {
  const runs = await outage.survive(() => queue.runs.list());
  const ready = runs.filter(({ state }) => state === 'ready');
  const isOurs = (run: QueuedRun) => targetDifferences(run.target, target).length === 0;
  for (const run of ready) {
    if (isOurs(run) || told.has(run.run)) continue;
    told.add(run.run);
    listener.onRefused(run, targetDifferences(run.target, target));
  }
  return { next: ready.find(isOurs), refused: ready.find((run) => !isOurs(run)) };
}

async function work(options: WorkerOptions, run: QueuedRun): Promise<void> {
  const { listener, signal } = options;
  const runWork = new RunWork(options, run);
  const stop = () => runWork.stop();
  listener.onBegin(run);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    listener.onEnd(run, await runWork.run());
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function notForUs({ run, target }: QueuedRun): InvalidInputError {
  const { environment, base_url, tenant_code, channel } = target;
  return new InvalidInputError(`run ${run} is not for this profile: nothing was sent`, {
    hint: `It is for ${environment}, ${base_url}, tenant ${tenant_code}, channel ${channel}: choose such a profile with -p.`,
  });
}
