import { setTimeout as wait } from 'node:timers/promises';
import type { Pacing } from '../../bulk/engine/engine-options.js';
import type { PreparedRow } from '../../bulk/engine/open-row.js';
import { RowEngine } from '../../bulk/engine/row-engine.js';
import { passbackRows } from '../../bulk/operations/passback-rows.js';
import type { RowOperation } from '../../bulk/operations/row-operation.js';
import { NdjsonFormat } from '../../bulk/source/ndjson-format.js';
import type { Sender } from '../../client/sender.js';
import type { Holder } from '../chunks.js';
import type { Queue } from '../queue.js';
import type { QueuedRun, RunState } from '../run.js';
import { HeldChunk, type HeldRow } from './held-chunk.js';
import type { Outage } from './outage.js';
import { OutcomeLog } from './outcome-log.js';

/** What a worker does rows with. */
export interface WorkerMeans {
  readonly queue: Queue;
  readonly holder: Holder;
  readonly sender: Sender;
  readonly pacing: Omit<Pacing, 'ratePerSecond'>;
  readonly outage: Outage;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** How often it is looked whether there is a chunk to take, where there was none; in milliseconds. */
const pollMs = 250;
/** How often in the time of a lease a worker says that it is there. */
const beatsPerLease = 3;

/** What one worker does of a run, until the run is over or the worker is stopped. */
export class RunWork {
  readonly #means: WorkerMeans;
  readonly #run: QueuedRun;
  readonly #operation: RowOperation;
  readonly #format = new NdjsonFormat();
  readonly #engine: RowEngine<HeldRow>;
  readonly #log: OutcomeLog;
  readonly #stopped = new AbortController();
  /** Whether there is anything left to take. */
  #isOver = false;
  #taking: Promise<HeldChunk | null> = Promise.resolve(null);
  #wakeFeed = new AbortController();
  #rows = 0;
  /** Until when no other worker can have the rows of this one, by its own clock. */
  #leasedUntil: number;

  constructor(means: WorkerMeans, run: QueuedRun) {
    const { queue, sender, pacing, now, random, outage } = means;
    this.#means = means;
    this.#run = run;
    this.#leasedUntil = now() + means.holder.leaseMs;
    this.#operation = passbackRows(run.naming);
    this.#log = new OutcomeLog(queue.chunks, run, outage, (state) => {
      this.#wakeFeed.abort(); // the next chunk of a lane may be there
      this.#onState(state);
    });
    this.#engine = new RowEngine(this.#batches(), {
      ...pacing,
      ratePerSecond: run.rate,
      operation: 'passback',
      sender,
      prepare: (row) => this.#prepare(row),
      sizeOf: ({ size }) => size,
      listener: {
        onOutcome: (outcome) => {
          this.#rows += 1;
          this.#log.onOutcome(outcome);
        },
        // A process that was stopped for a while wakes up here: others have its rows, and may be ahead of them.
        onTurn: () => {
          if (now() > this.#leasedUntil) this.stop();
        },
        isFull: () => this.#log.isFull,
      },
      now,
      random,
    });
  }

  /** Takes no more rows; those under way are awaited, and the rest is handed back. */
  stop(error?: unknown): void {
    this.#isOver = true;
    this.#stopped.abort();
    this.#engine.stop(error);
  }

  /**
   * Resolves with how many rows it did. Throws a RejectedError or a NoAnswerError where all rows would fare the same
   * with this worker's profile, and what nobody meant; what it held is handed back.
   */
  async run(): Promise<number> {
    const { queue, holder, outage } = this.#means;
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
      await outage.survive(() => queue.chunks.handBack(this.#run.run, holder));
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
    const { queue, holder, outage } = this.#means;
    const taken = await outage.survive(() => queue.chunks.take(this.#run, holder));
    if (taken === null) {
      await this.#renew();
      return null;
    }
    const chunk = new HeldChunk(taken);
    this.#log.hold(chunk);
    return chunk;
  }

  #prepare(row: HeldRow): PreparedRow {
    const fields = this.#format.fields(row);
    return { user: this.#operation.user(fields), request: this.#operation.request(fields) };
  }

  /** Whatever it still holds of a run that is over, another has done. */
  #onState(state: RunState): void {
    if (state !== 'ready') this.stop();
  }

  /** Renews the leases, and gives the rows up where one was lost. */
  async #renew(): Promise<void> {
    const { queue, holder, outage, now } = this.#means;
    const held = this.#log.openChunks;
    const { jobs, state } = await outage.survive(async () => {
      const askedAt = now();
      const renewed = await queue.chunks.renew(this.#run.run, holder);
      this.#leasedUntil = askedAt + holder.leaseMs;
      return renewed;
    });
    this.#onState(state);
    if (held.some((chunk) => !chunk.isOver && !jobs.has(chunk.taken.job))) this.stop();
  }

  /** Says again and again that this worker is there, and takes their chunks from those that are not. */
  async #beat(ended: AbortSignal): Promise<void> {
    const { queue, holder, outage } = this.#means;
    const { run } = this.#run;
    while (!ended.aborted) {
      await this.#renew();
      // After an outage the others need the time to say that they are there.
      if (!outage.wasWithin(holder.leaseMs)) await outage.survive(() => queue.chunks.reclaim(run));
      await wait(holder.leaseMs / beatsPerLease, undefined, { signal: ended }).catch(() => {});
    }
  }

  async #pause(ms: number, woken?: AbortSignal): Promise<void> {
    const signals = [this.#stopped.signal, ...(woken === undefined ? [] : [woken])];
    if (ms > 0) await wait(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
  }
}
