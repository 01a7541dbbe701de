import { setTimeout as wait } from 'node:timers/promises';
import type { Pacing } from '../../bulk/engine/flow-control.js';
import { RowEngine } from '../../bulk/engine/row-engine.js';
import { passbackRows, type RowOperation } from '../../bulk/operations.js';
import { ndjsonFormat } from '../../bulk/source/ndjson.js';
import type { Sender } from '../../client/sender.js';
import { InvalidInputError } from '../../protocol/errors.js';
import type { Holder } from '../chunks.js';
import type { Queue } from '../queue.js';
import { type QueuedRun, type RunState, type RunTarget, targetDifferences } from '../run.js';
import type { Outage } from './outage.js';
import { HeldChunk, type HeldRow, OutcomeLog } from './outcome-log.js';

/** What a worker needs to process rows. */
export interface WorkerResources {
  readonly queue: Queue;
  readonly holder: Holder;
  readonly sender: Sender;
  readonly pacing: Omit<Pacing, 'ratePerSecond'>;
  readonly outage: Outage;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** How often to look for a chunk after there was none; in milliseconds. */
const pollMs = 250;
/** How many times a lease is renewed within its duration. */
const beatsPerLease = 3;

/** Processes rows of a run, until the run ends or the worker is stopped. */
export class RunWork {
  readonly #resources: WorkerResources;
  readonly #run: QueuedRun;
  readonly #operation: RowOperation;
  readonly #engine: RowEngine<HeldRow>;
  readonly #log: OutcomeLog;
  readonly #stopped = new AbortController();
  /** Whether to take no more chunks. */
  #isOver = false;
  #taking: Promise<HeldChunk | null> = Promise.resolve(null);
  #wakeFeed = new AbortController();
  #rows = 0;
  /** Until when no other worker can take the rows of this one, by its own clock. */
  #leasedUntil: number;

  constructor(resources: WorkerResources, run: QueuedRun) {
    const { queue, sender, pacing, now, outage } = resources;
    this.#resources = resources;
    this.#run = run;
    this.#leasedUntil = now() + resources.holder.leaseMs;
    this.#operation = passbackRows(run.naming);
    this.#log = new OutcomeLog(queue.chunks, run, outage, (state) => {
      this.#wakeFeed.abort(); // the next chunk of a lane may be available
      this.#onState(state);
    });
    this.#engine = new RowEngine(this.#batches(), {
      ...pacing,
      ratePerSecond: run.rate,
      sender,
      prepare: (row) => this.#operation.prepare(ndjsonFormat.fields(row)),
      listener: {
        onOutcome: (outcome) => {
          this.#rows += 1;
          this.#log.onOutcome(outcome);
        },
        // A process that was suspended continues here: others may have taken its rows meanwhile, and later
        // ones of their users.
        onTurn: () => {
          if (now() > this.#leasedUntil) this.stop();
        },
        isFull: () => this.#log.isFull,
      },
    });
  }

  /** Takes no more rows; awaits those under way, and returns the rest to the queue. */
  stop(error?: unknown): void {
    this.#isOver = true;
    this.#stopped.abort();
    this.#engine.stop(error);
  }

  /**
   * Resolves with the number of rows that it processed. The chunks that it held are returned to the queue.
   *
   * @throws RejectedError or NoAnswerError that concerns every row with this worker's profile, and what is a fault
   * of the program
   */
  async run(): Promise<number> {
    const { queue, holder, outage } = this.#resources;
    const orStop = (work: Promise<void>) => work.catch((error) => this.stop(error));
    const written = orStop(this.#log.write(() => this.#engine.resume()));
    const beating = new AbortController();
    const beaten = orStop(this.#beat(beating.signal));
    try {
      await this.#engine.run();
    } finally {
      this.stop();
      await this.#taking.catch(() => null);
      this.#log.close();
      await written;
      beating.abort();
      await beaten;
      await outage.retry(() => queue.chunks.handBack(this.#run.run, holder));
    }
    return this.#rows;
  }

  async *#batches(): AsyncGenerator<readonly HeldRow[]> {
    while (!this.#isOver) {
      this.#wakeFeed = new AbortController();
      this.#taking = this.#take();
      const chunk = await this.#taking;
      if (chunk === null) {
        await this.#pause(pollMs, this.#wakeFeed.signal);
      } else {
        await this.#pause(chunk.taken.startsInMs);
        yield chunk.rows;
      }
    }
  }

  async #take(): Promise<HeldChunk | null> {
    const { queue, holder, outage } = this.#resources;
    const taken = await outage.retry(() => queue.chunks.take(this.#run, holder));
    if (taken === null) {
      await this.#renew();
      return null;
    }
    const chunk = new HeldChunk(taken);
    this.#log.hold(chunk);
    return chunk;
  }

  /** If the run has ended, others have done what this worker still holds. */
  #onState(state: RunState): void {
    if (state !== 'ready') this.stop();
  }

  /** Renews the leases, and stops if one was lost. */
  async #renew(): Promise<void> {
    const { queue, holder, outage, now } = this.#resources;
    const held = this.#log.openChunks;
    const { jobs, state } = await outage.retry(async () => {
      const askedAt = now();
      const renewed = await queue.chunks.renew(this.#run.run, holder);
      this.#leasedUntil = askedAt + holder.leaseMs;
      return renewed;
    });
    this.#onState(state);
    if (held.some((chunk) => !chunk.isOver && !jobs.has(chunk.taken.job))) this.stop();
  }

  /** Renews the leases regularly, and reclaims the chunks of workers that do not. */
  async #beat(ended: AbortSignal): Promise<void> {
    const { queue, holder, outage } = this.#resources;
    const { run } = this.#run;
    while (!ended.aborted) {
      await this.#renew();
      // After an outage the other workers need time to renew their leases.
      if (!outage.wasWithin(holder.leaseMs)) await outage.retry(() => queue.chunks.reclaim(run));
      await wait(holder.leaseMs / beatsPerLease, undefined, { signal: ended }).catch(() => {});
    }
  }

  async #pause(ms: number, woken?: AbortSignal): Promise<void> {
    const signals = [this.#stopped.signal, ...(woken === undefined ? [] : [woken])];
    if (ms > 0) await wait(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  }
}

/** How often an idle worker looks for a run, in milliseconds. */
const idleMs = 1_000;

/** Receives what a worker does. */
export interface WorkerListener {
  onBegin(run: QueuedRun): void;
  /** `rows` is how many rows this worker processed. */
  onEnd(run: QueuedRun, rows: number): void;
  /** The run is for another target: see `targetDifferences`. */
  onRefused(run: QueuedRun, differences: readonly string[]): void;
}

export interface WorkerOptions extends WorkerResources {
  /** Where the worker's profile sends rows. */
  readonly target: RunTarget;
  /** Whether to end when nothing is left to do. */
  readonly drains: boolean;
  readonly listener: WorkerListener;
  /** Ends the worker, and returns its chunks to the queue. */
  readonly signal: AbortSignal;
}

/**
 * Processes the runs of a queue that are for the worker's target, the oldest first, until it is stopped.
 *
 * @throws what ends a run for its worker (see `RunWork.run`)
 * @throws InvalidInputError if it drains a queue of which it may process nothing
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { signal, drains, outage } = options;
  const reported = new Set<string>();
  let hasWorked = false;
  signal.addEventListener('abort', () => outage.stop(), { once: true });
  while (!signal.aborted) {
    const { next, refused } = await findRuns(options, reported);
    if (next !== undefined) {
      await work(options, next);
      hasWorked = true;
    } else if (drains) {
      if (refused !== undefined && !hasWorked) throw notForUs(refused);
      return;
    } else await wait(idleMs, undefined, { signal }).catch(() => {});
  }
}

async function findRuns(
  { queue, outage, target, listener }: WorkerOptions,
  reported: Set<string>,
): Promise<{ readonly next: QueuedRun | undefined; readonly refused: QueuedRun | undefined }> {
  const runs = await outage.retry(() => queue.runs.list());
  const ready = runs.filter(({ state }) => state === 'ready');
  const isOurs = (run: QueuedRun) => targetDifferences(run.target, target).length === 0;
  for (const run of ready) {
    if (isOurs(run) || reported.has(run.run)) continue;
    reported.add(run.run);
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
