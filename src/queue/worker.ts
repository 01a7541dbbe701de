import { setTimeout as wait } from 'node:timers/promises';
import { type FlowControl, flowControl, type Pacing } from '../bulk/engine/flow-control.js';
import { rowEngine } from '../bulk/engine/row-engine.js';
import { formatOutcome } from '../bulk/files/result-line.js';
import { passbackOperation } from '../bulk/operations.js';
import type { OutcomeCounts, RowOutcome } from '../bulk/outcome.js';
import type { NdjsonRow } from '../bulk/source/ndjson.js';
import type { Sender } from '../client/sender.js';
import { StoreUnavailableError } from '../database/errors.js';
import { InvalidInputError } from '../protocol/errors.js';
import { backOffMs } from '../support/back-off.js';
import { elapsedMs } from '../support/elapsed.js';
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
  /** Time for which finished runs are kept, in milliseconds. Default: unlimited. */
  readonly keepResultsMs?: number | undefined;
  readonly log: (event: WorkerEvent) => void;
  /** Ends the worker, and returns its chunk to the queue. */
  readonly signal: AbortSignal;
}

/** A worker's log entry, named as in the JSON log. */
export type WorkerEvent =
  /** It begins to process a run, which may wait for others. */
  | {
      readonly event: 'run_started';
      readonly run: string;
      readonly rows: number;
      readonly waits_for: readonly string[];
    }
  /** It leaves a run to other workers: the named settings of its target are others. */
  | { readonly event: 'run_skipped'; readonly run: string; readonly differs: string }
  /** It has processed what was left of a chunk. */
  | ({
      readonly event: 'chunk';
      readonly run: string;
      readonly chunk: number;
      readonly ms: number;
    } & OutcomeCounts)
  /** The run has ended, or the worker ends: the number of rows that it has processed. */
  | { readonly event: 'run_ended'; readonly run: string; readonly rows: number }
  /** A finished run was kept for long enough. */
  | { readonly event: 'run_deleted'; readonly run: string; readonly outcomes: number }
  | { readonly event: 'queue_lost'; readonly problem: string }
  | { readonly event: 'queue_back' };

/** The interval at which an idle worker looks for a chunk, in milliseconds. */
const idleMs = 500;
/** The interval at which a worker looks for runs to delete, in milliseconds. */
const expiryMs = 60_000;
/** The interval at which a worker records outcomes and checks whether it has to stop, in milliseconds. */
const recordMs = 200;

/** The work of this worker for a run. */
interface Work {
  /** Is kept from chunk to chunk: it knows what the service can handle. */
  readonly flow: FlowControl;
  rows: number;
}

/**
 * Processes the runs of a queue that are for the worker's target, a chunk of each in turn. Resolves when the worker is
 * stopped, or has drained the queue, with the runs that have failed chunks.
 *
 * @throws RejectedError or NoAnswerError that concerns every row with this worker's profile, and an internal error
 * @throws InvalidInputError if it drains a queue of which it may process nothing
 */
export async function processRuns(options: WorkerOptions): Promise<readonly QueuedRun[]> {
  const { queue, sender, pacing, drains, keepResultsMs, signal, log } = options;
  /** The runs that were reported; `null` for one that is for other workers. */
  const allWork = new Map<string, Work | null>();
  /** Whether the database does not answer. */
  let isLost = false;

  /** Removes a part of what was kept for long enough at each step, and yields whether there may be more. */
  async function* removeExpired(keptMs: number): AsyncGenerator<boolean, never> {
    for (;;) {
      const lookedAt = elapsedMs();
      try {
        for (;;) {
          const run = await queue.findExpired(keptMs);
          if (run === undefined) break;
          let outcomes = 0;
          for await (const removed of queue.remove(run)) {
            outcomes = removed;
            yield true;
          }
          log({ event: 'run_deleted', run, outcomes });
        }
      } catch (error) {
        // The database is away, or another worker has removed the run.
        if (!(error instanceof StoreUnavailableError || error instanceof InvalidInputError)) throw error;
      }
      while (elapsedMs() - lookedAt < expiryMs) yield false;
    }
  }

  function reportEnded(ready: readonly QueuedRun[]): void {
    for (const [name, work] of allWork) {
      if (ready.some(({ run }) => run === name)) continue;
      allWork.delete(name);
      if (work !== null) log({ event: 'run_ended', run: name, rows: work.rows });
    }
  }

  /** The work for a run, which is reported first; `null` if it is for other workers. */
  function workFor({ run, target, rows, rate, waits_for }: QueuedRun): Work | null {
    const known = allWork.get(run);
    if (known !== undefined) return known;
    const differences = targetDifferences(target, options.target);
    const flow = flowControl({ ...pacing, ratePerSecond: rate }, performance.now());
    const work = differences === '' ? { flow, rows: 0 } : null;
    allWork.set(run, work);
    if (work === null) log({ event: 'run_skipped', run, differs: differences });
    else log({ event: 'run_started', run, rows, waits_for });
    return work;
  }

  /** Sends the rows of a chunk, and ends so early that all requests end before its lease. */
  async function processChunk(taken: TakenChunk, work: Work): Promise<void> {
    const { run, chunk, leasedUntil } = taken;
    const startedAt = elapsedMs();
    const counts = { ok: 0, failed: 0, invalid: 0, unknown: 0 };
    const done = await untilAnswered(() => queue.outcomes(run.run, taken.rows));
    const timeoutMs = Math.min(pacing.timeoutMs, (leasedUntil - elapsedMs()) / 2);
    const endsAt = leasedUntil - timeoutMs - recordMs;
    const operation = passbackOperation(run.naming, run.source.types);
    // A process that was suspended continues here: others may have taken its rows meanwhile.
    const onTurn = () => {
      if (signal.aborted || elapsedMs() > endsAt) engine.stop();
    };
    const unwritten: QueuedOutcome[] = [];
    const onOutcome = (found: RowOutcome<NdjsonRow>) => {
      unwritten.push({ line: found.row.line, outcome: found.outcome, result: formatOutcome(found, false) });
      work.rows += 1;
      counts[found.outcome] += 1;
    };
    const engine = rowEngine(oneBatch(taken.rows.filter(({ line }) => !done.has(line))), {
      ...{ ...pacing, timeoutMs, ratePerSecond: run.rate, flow: work.flow, sender },
      prepare: (row) => operation.prepare(row.fields()),
      listener: { onOutcome, onTurn },
    });
    const ended = new AbortController();
    const record = async () => {
      for (let isLast = false; !isLast; ) {
        await wait(recordMs, undefined, { signal: ended.signal }).catch(() => {});
        isLast = ended.signal.aborted; // not later: an outcome may come while others are recorded
        onTurn();
        const given = unwritten.splice(0);
        if (!(await untilAnswered(() => queue.record(taken, given)))) engine.stop();
      }
    };
    try {
      const both = [engine.run().finally(() => ended.abort()), record().finally(() => engine.stop())];
      await Promise.allSettled(both);
      await Promise.all(both);
    } finally {
      // The next chunk may go to another worker: together they keep to the rate.
      if (run.rate !== null) await wait(1000 / run.rate, undefined, { signal }).catch(() => {});
      await untilAnswered(() => queue.finish(taken));
      log({ event: 'chunk', run: run.run, chunk, ms: Math.round(elapsedMs() - startedAt), ...counts });
    }
  }

  /**
   * Repeats work while the database does not answer.
   *
   * @throws AbortError once the worker is stopped
   */
  async function untilAnswered<T>(work: () => Promise<T>): Promise<T> {
    for (let pauses = 0; ; pauses += 1) {
      try {
        const result = await work();
        if (isLost) log({ event: 'queue_back' });
        isLost = false;
        return result;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        signal.throwIfAborted();
        if (!isLost) log({ event: 'queue_lost', problem: error.message });
        isLost = true;
      }
      await wait(backOffMs(pauses, Math.random), undefined, { signal });
    }
  }

  const removal = keepResultsMs === undefined ? undefined : removeExpired(keepResultsMs);
  let isForUs = false;
  try {
    for (;;) {
      const ready = await untilAnswered(() => queue.list('ready'));
      reportEnded(ready);
      const ours: QueuedRun[] = [];
      let isIdle = true;
      for (const run of ready) {
        const work = workFor(run);
        if (work === null) continue;
        ours.push(run);
        signal.throwIfAborted();
        const taken = await untilAnswered(() => queue.take(run));
        if (taken !== null) await processChunk(taken, work);
        isIdle &&= taken === null;
      }
      if ((await removal?.next())?.value === true) isIdle = false;
      isForUs ||= ours.length > 0;
      if (drains && isIdle && ours.every((run) => hasNothingLeft(run, ours))) {
        if (isForUs || ready.length === 0) return ours.filter((run) => run.failed_chunks > 0);
        throw new InvalidInputError('no run of the queue is for this profile: nothing was sent');
      }
      if (isIdle) await wait(idleMs, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted && error instanceof Error && error.name === 'AbortError') return [];
    throw error;
  } finally {
    reportEnded([]);
  }
}

/** Whether workers have no more to do for a run, as it is done or as those of `runs` that it waits for have failed. */
function hasNothingLeft({ chunks_left, waits_for }: QueuedRun, runs: readonly QueuedRun[]): boolean {
  if (waits_for.length === 0) return chunks_left === 0;
  const isStuck = (run: QueuedRun) => run.failed_chunks > 0 || run.waits_for.length > 0;
  return runs.some((run) => waits_for.includes(run.run) && isStuck(run));
}

async function* oneBatch<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
