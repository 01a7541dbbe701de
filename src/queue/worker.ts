import { setTimeout as wait } from 'node:timers/promises';
import { backOffMs, FlowControl, type Pacing } from '../bulk/engine/flow-control.js';
import { RowEngine } from '../bulk/engine/row-engine.js';
import { formatOutcome } from '../bulk/files/result-line.js';
import { passbackRows } from '../bulk/operations.js';
import type { Sender } from '../client/sender.js';
import { StoreUnavailableError } from '../database/errors.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { Queue, TakenChunk } from './queue.js';
import { type QueuedOutcome, type QueuedRun, type RunTarget, targetDifferences } from './run.js';

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
/** How often a worker records outcomes, and checks whether it has to stop, in milliseconds. */
const recordMs = 200;
/** After so many attempts, about five seconds, a stopped worker waits no longer for a database that does not answer. */
const lastAttempts = 6;

/** A run that workers may process. */
interface FoundRun {
  /** As it was last. */
  run: QueuedRun;
  readonly isForUs: boolean;
  /** Is kept from chunk to chunk: it knows what the service can handle. */
  readonly flow: FlowControl;
  rows: number;
}

/** Processes the runs of a queue that are for the worker's target, a chunk of each in turn. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #found = new Map<string, FoundRun>();
  /** Whether the database does not answer. */
  #isLost = false;

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
    const { queue, signal, drains } = this.#options;
    let hasWorked = false;
    try {
      while (!signal.aborted) {
        const ready = await this.#orWait(() => queue.list('ready'), signal);
        const ours = this.#find(ready);
        let [isIdle, open] = [true, 0];
        for (const found of ours) {
          if (signal.aborted) return [];
          const taken = await this.#orWait(() => queue.take(found.run), signal);
          if (taken === null) continue;
          await this.#process(found, taken);
          isIdle = false;
        }
        hasWorked ||= !isIdle;
        if (!isIdle) continue;
        for (const { run } of ours) open += (await this.#orWait(() => queue.countChunks(run), signal)).open;
        if (drains && open === 0) {
          if (ready.length === 0 || ours.length > 0 || hasWorked) return ours.map(({ run }) => run);
          throw new InvalidInputError('no run of the queue is for this profile: nothing was sent', {
            hint: '"userinfo runs show" has the deployment of a run: choose its profile with -p.',
          });
        }
        await wait(idleMs, undefined, { signal });
      }
      return [];
    } catch (error) {
      if (signal.aborted && error instanceof Error && error.name === 'AbortError') return [];
      throw error;
    } finally {
      this.#find([]);
    }
  }

  /** Reports the runs that are new, and those that have ended, and returns the ones for this worker. */
  #find(ready: readonly QueuedRun[]): readonly FoundRun[] {
    const { log, target, pacing } = this.#options;
    for (const [name, { isForUs, rows }] of this.#found) {
      if (ready.some(({ run }) => run === name)) continue;
      this.#found.delete(name);
      if (isForUs) log(`run ${name}: ${rows.toLocaleString('en')} done here`);
    }
    for (const run of ready) {
      const found = this.#found.get(run.run);
      if (found !== undefined) {
        found.run = run;
        continue;
      }
      const differences = targetDifferences(run.target, target);
      const isForUs = differences === '';
      const words = isForUs
        ? `: ${run.rows.toLocaleString('en')} ${run.rows === 1 ? 'row' : 'rows'}`
        : ` is for another ${differences} than this profile: left to other workers`;
      log(`run ${run.run}${words}`);
      const flow = new FlowControl({ ...pacing, ratePerSecond: run.rate }, performance.now());
      this.#found.set(run.run, { run, isForUs, flow, rows: 0 });
    }
    return [...this.#found.values()].filter(({ isForUs }) => isForUs);
  }

  /** Sends the rows of a chunk, and ends so early that all requests end before its lease. */
  async #process(found: FoundRun, taken: TakenChunk): Promise<void> {
    const { queue, sender, pacing, signal } = this.#options;
    const { run, flow } = found;
    const done = await this.#orWait(() => queue.outcomes(run.run, taken.rows));
    const rows = taken.rows.filter(({ line }) => !done.has(line));
    const startedAt = performance.now();
    const timeoutMs = Math.min(pacing.timeoutMs, (taken.leasedUntil - startedAt) / 2);
    const endsAt = taken.leasedUntil - timeoutMs - recordMs;
    const operation = passbackRows(run.naming);
    let outcomes = 0;
    let unwritten: QueuedOutcome[] = [];
    let recording = Promise.resolve();
    // A process that was suspended continues here: others may have taken its rows meanwhile.
    const check = () => {
      if (signal.aborted || performance.now() > endsAt) engine.stop();
    };
    const engine = new RowEngine(oneBatch(rows), {
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
        onTurn: check,
      },
    });
    const record = () => {
      const given = unwritten;
      unwritten = [];
      if (given.length === 0) return recording;
      recording = recording
        .then(async () => {
          const state = await this.#orWait(() => queue.record(run.run, given));
          if (state !== 'ready') engine.stop();
        })
        .catch((error) => engine.stop(error));
      return recording;
    };
    const timer = setInterval(() => {
      check();
      void record();
    }, recordMs);
    let isComplete = false;
    try {
      isComplete = await engine.run();
    } finally {
      clearInterval(timer);
      await record();
      found.rows += outcomes;
      // The next chunk may go to another worker: together they keep to the rate.
      const earlyMs = run.rate === null ? 0 : startedAt + (outcomes * 1000) / run.rate - performance.now();
      if (earlyMs > 0) await wait(earlyMs, undefined, { signal }).catch(() => {});
      const hasProgress = outcomes > 0 || performance.now() <= endsAt;
      await this.#orWait(() =>
        isComplete ? queue.finish(run, taken) : queue.handBack(run.run, taken, hasProgress),
      );
    }
  }

  /**
   * Repeats work while the database does not answer.
   *
   * @throws StoreUnavailableError some time after the worker was stopped, or at once an AbortError on `signal`
   */
  async #orWait<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const result = await work();
        if (this.#isLost) this.#options.log('the queue is back');
        this.#isLost = false;
        return result;
      } catch (error) {
        const isLast = this.#options.signal.aborted && attempts >= lastAttempts;
        if (!(error instanceof StoreUnavailableError) || isLast) throw error;
        if (!this.#isLost) this.#options.log(`waiting for the queue: ${error.message}`);
        this.#isLost = true;
      }
      await wait(backOffMs(attempts - 1, Math.random), undefined, signal && { signal });
    }
  }
}

async function* oneBatch<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
