import { setTimeout as wait } from 'node:timers/promises';
import { backOffMs, FlowControl, type Pacing } from '../bulk/engine/flow-control.js';
import { RowEngine } from '../bulk/engine/row-engine.js';
import { formatOutcome } from '../bulk/files/result-line.js';
import { passbackRows } from '../bulk/operations.js';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { Sender } from '../client/sender.js';
import { StoreUnavailableError } from '../database/errors.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { Queue } from './queue.js';
import {
  type QueuedOutcome,
  type QueuedRun,
  type RunTarget,
  type TakenChunk,
  targetDifferences,
} from './run.js';

export interface WorkerOptions {
  readonly queue: Queue;
  readonly sender: Sender;
  readonly pacing: Omit<Pacing, 'ratePerSecond'>;
  /** Where the worker's profile sends rows. */
  readonly target: RunTarget;
  /** Whether to end when nothing is left to do. */
  readonly drains: boolean;
  /** Receives what the worker does. */
  readonly log: (words: string) => void;
  /** Ends the worker, and returns its chunk to the queue. */
  readonly signal: AbortSignal;
}

/** How often an idle worker looks for a chunk, in milliseconds. */
const idleMs = 500;
/** How long outcomes wait to be written together, in milliseconds. */
const gatherMs = 200;
/** How long a stopped worker still tries to store outcomes in a database that does not answer, in milliseconds. */
const lastTriesMs = 5_000;
/** How often a worker reports that the database does not answer, in milliseconds. */
const lostReportMs = 60_000;

/** A run that this worker has begun. */
interface BegunRun {
  readonly run: QueuedRun;
  /** Is kept from chunk to chunk: it knows what the service can handle. */
  readonly flow: FlowControl;
  rows: number;
}

/** Processes the runs of a queue that are for the worker's target, a chunk of each in turn. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #begun = new Map<string, BegunRun>();
  /** The runs for other targets that were reported. */
  readonly #reported = new Set<string>();
  /** When it last reported that the database does not answer; `null` while it does. */
  #lostAt: number | null = null;
  #stoppedAt = Number.POSITIVE_INFINITY;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the worker is stopped, or has drained the queue, with the runs of which only failed chunks are
   * left.
   *
   * @throws RejectedError or NoAnswerError that concerns every row with this worker's profile, and an internal error
   * @throws InvalidInputError if it drains a queue of which it may process nothing
   */
  async run(): Promise<readonly QueuedRun[]> {
    const { queue, signal, drains, target } = this.#options;
    const onAbort = () => {
      this.#stoppedAt = performance.now();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      let hasWorked = false;
      while (!signal.aborted) {
        const ready = await this.#ask(() => queue.list('ready'));
        this.#report(ready);
        const ours = ready.filter((run) => targetDifferences(run.target, target) === '');
        if (await this.#workOn(ours)) hasWorked = true;
        else if (drains && !(await this.#hasOpen(ours))) {
          const [refused] = ready;
          if (refused !== undefined && ours.length === 0 && !hasWorked) throw notForUs(refused);
          return ours;
        } else await wait(idleMs, undefined, { signal });
      }
      return [];
    } catch (error) {
      if (signal.aborted && error instanceof Error && error.name === 'AbortError') return [];
      throw error;
    } finally {
      this.#report([]);
    }
  }

  /** Reports runs that have ended, and runs for others. */
  #report(ready: readonly QueuedRun[]): void {
    const { log, target } = this.#options;
    for (const [name, { rows }] of this.#begun) {
      if (ready.some(({ run }) => run === name)) continue;
      this.#begun.delete(name);
      log(`run ${name}: ${formatCount(rows)} done here`);
    }
    for (const run of ready) {
      const differences = targetDifferences(run.target, target);
      if (differences === '' || this.#reported.has(run.run)) continue;
      this.#reported.add(run.run);
      log(`run ${run.run} is for another ${differences} than this profile: left to other workers`);
    }
  }

  /** Processes a chunk of each run, so that a slow run delays no other; returns whether there was one. */
  async #workOn(runs: readonly QueuedRun[]): Promise<boolean> {
    const { queue, signal } = this.#options;
    let hasWorked = false;
    for (const run of runs) {
      if (signal.aborted) break;
      const taken = await this.#ask(() => queue.take(run));
      if (taken === null) continue;
      await this.#process(this.#begin(run), taken);
      hasWorked = true;
    }
    return hasWorked;
  }

  /** Whether chunks of these runs wait or are under way. */
  async #hasOpen(runs: readonly QueuedRun[]): Promise<boolean> {
    const { queue } = this.#options;
    const counts = await Promise.all(runs.map((run) => this.#ask(() => queue.countChunks(run))));
    return counts.some(({ open }) => open > 0);
  }

  #begin(run: QueuedRun): BegunRun {
    const { pacing, log } = this.#options;
    const found = this.#begun.get(run.run);
    if (found !== undefined) return found;
    const flow = new FlowControl({ ...pacing, ratePerSecond: run.rate }, performance.now());
    const begun = { run, flow, rows: 0 };
    this.#begun.set(run.run, begun);
    log(`run ${run.run}: ${formatCount(run.rows)} ${run.rows === 1 ? 'row' : 'rows'}`);
    return begun;
  }

  /** Sends the rows of a chunk, and ends so early that all requests end before its lease. */
  async #process(begun: BegunRun, taken: TakenChunk): Promise<void> {
    const { queue, sender, pacing, signal } = this.#options;
    const { run, flow } = begun;
    const done = await this.#ask(() => queue.outcomes(run.run, taken.rows));
    const rows = taken.rows.filter(({ line }) => !done.has(line));
    const startedAt = performance.now();
    const timeoutMs = Math.min(pacing.timeoutMs, (taken.leasedUntil - startedAt) / 2);
    const endsAt = taken.leasedUntil - timeoutMs;
    const operation = passbackRows(run.naming);
    let outcomes = 0;
    let unwritten: QueuedOutcome[] = [];
    const engine = new RowEngine(oneBatch(rows.map(({ line, json }) => new NdjsonRow(line, json))), {
      ...pacing,
      timeoutMs,
      ratePerSecond: run.rate,
      flow,
      sender,
      prepare: (row) => operation.prepare(row.fields()),
      listener: {
        onOutcome: (outcome) => {
          outcomes += 1;
          unwritten.push({
            line: outcome.row.line,
            outcome: outcome.outcome,
            result: formatOutcome(outcome, false),
          });
        },
        // A process that was suspended continues here: others may have taken its rows meanwhile.
        onTurn: () => {
          if (performance.now() > endsAt) engine.stop();
        },
      },
    });
    const write = async () => {
      if (unwritten.length === 0) return;
      const given = unwritten;
      unwritten = [];
      const state = await this.#store(() => queue.record(run.run, given));
      if (state !== 'ready') engine.stop();
    };
    const ended = new AbortController();
    const writing = untilEnded(write, ended.signal).catch((error) => engine.stop(error));
    const stop = () => engine.stop();
    const expiry = setTimeout(stop, endsAt - startedAt);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    let isComplete = false;
    try {
      isComplete = await engine.run();
    } finally {
      clearTimeout(expiry);
      signal.removeEventListener('abort', stop);
      ended.abort();
      await writing;
      begun.rows += outcomes;
      // The next chunk may go to another worker: together they keep to the rate.
      const earlyMs = run.rate === null ? 0 : startedAt + (outcomes * 1000) / run.rate - performance.now();
      if (earlyMs > 0) await wait(earlyMs, undefined, { signal }).catch(() => {});
      const isStuck = outcomes === 0 && performance.now() > endsAt;
      await this.#store(() =>
        isComplete ? queue.finish(run, taken) : queue.handBack(run.run, taken, !isStuck),
      );
    }
  }

  /** Repeats work while the database does not answer. A worker that is stopped asks no more. */
  #ask<T>(work: () => Promise<T>): Promise<T> {
    return this.#store(work, this.#options.signal);
  }

  /**
   * Repeats work while the database does not answer.
   *
   * @throws StoreUnavailableError some time after the worker was stopped, or an AbortError on `signal`
   */
  async #store<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { log } = this.#options;
    for (let pauses = 0; ; pauses += 1) {
      try {
        const result = await work();
        if (this.#lostAt !== null) log('the queue is back');
        this.#lostAt = null;
        return result;
      } catch (error) {
        const now = performance.now();
        if (!(error instanceof StoreUnavailableError) || now - this.#stoppedAt > lastTriesMs) throw error;
        if (this.#lostAt === null || now - this.#lostAt >= lostReportMs) {
          log(`waiting for the queue: ${error.message}`);
          this.#lostAt = now;
        }
      }
      await wait(backOffMs(pauses, Math.random), undefined, signal && { signal });
    }
  }
}

async function* oneBatch<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}

/** Repeats `write`, and calls it once more at the end. */
async function untilEnded(write: () => Promise<void>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await wait(gatherMs, undefined, { signal: ended }).catch(() => {});
    await write();
  }
  await write(); // outcomes that came during the last write
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}

function notForUs({ run, target }: QueuedRun): InvalidInputError {
  const { environment, base_url, tenant_code, channel } = target;
  return new InvalidInputError(`run ${run} is not for this profile: nothing was sent`, {
    hint: `It is for ${environment}, ${base_url}, tenant ${tenant_code}, channel ${channel}: choose such a profile with -p.`,
  });
}
