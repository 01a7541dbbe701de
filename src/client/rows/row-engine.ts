import { maxTimerMs } from '../../core/contract/limits.js';
import { backOffMs } from '../../core/support/back-off.js';
import { Attempt, type AttemptResult } from '../call/attempt.js';
import { NoAnswerError, type RejectedError, RetryLaterError } from '../call/errors.js';
import { isSuccess, mayHaveActed, pauseBefore } from '../call/retry.js';
import type { Sender } from '../call/sender.js';
import { flowControl, type Pacing } from './flow-control.js';
import { classify, missedService, type RowOutcome, rowOutcome, type Verdict } from './outcome.js';
import { type OpenRow, type PreparedRow, rowFeed, rowQueue, type SourceRow } from './row-queue.js';

/** A run over rows: how they become requests, and who sends them. */
export interface EngineOptions<Row> extends Pacing {
  readonly sender: Sender;
  /** @throws InvalidInputError for a row that cannot be sent */
  readonly prepare: (row: Row) => PreparedRow;
  readonly listener: EngineListener<Row>;
  /** The headers of each request besides those of the sender, by their names in lower case. */
  readonly headers?: ReadonlyMap<string, string>;
  /** The value that hooks receive with each request. */
  readonly context?: unknown;
}

/** Functions that the engine calls. An error that one of them throws ends the run. */
export interface EngineListener<Row> {
  /** `user` is the one that `prepare` returned; `null` for an invalid row. */
  onOutcome(outcome: RowOutcome<Row>, user: string | null): void;
  /** All outcomes of this turn of the event loop were reported; more rows are sent next. */
  onTurn?(): void;
  /** These rows are about to be sent. */
  onSend?(rows: readonly Row[]): void;
  /** A row that was sent has no outcome: it is sent again, or not at all. */
  onTakenBack?(row: Row): void;
  /** Whether to read no new rows for now; `onRoom`, the same function each time, asks again. */
  isFull?(onRoom: () => void): boolean;
}

/** Number of checks within one time-out. */
const checksPerTimeout = 20;
const minCheckMs = 10;

/**
 * The longest `Retry-After` that a run waits for, in milliseconds, unless its time-out is longer.
 */
const maxRetryAfterMs = 5 * 60_000;

/**
 * Sends many rows at a time until each has its outcome. Costs little a row: everything happens in
 * callbacks, without a promise, a timer or an abort signal for each row.
 */
export function rowEngine<Row extends SourceRow>(
  batches: AsyncIterator<readonly Row[]>,
  options: EngineOptions<Row>,
) {
  const { sender, listener, context, timeoutMs } = options;
  const feed = rowFeed(batches, resume);
  const queue = rowQueue(feed, options.concurrency, options.prepare, (row, fault) =>
    listener.onOutcome({ outcome: 'invalid', row, attempts: 0, error: fault }, null),
  );
  /** Number of rows that await an answer. */
  let inFlight = 0;
  /** When rows may be sent, and how many. */
  const flow = flowControl(options, performance.now());
  const maxPauseMs = Math.max(timeoutMs, maxRetryAfterMs);
  /** Number of rows that the service has served or refused. */
  let served = 0;
  let stopping = false;
  let error: unknown;
  /** Ends the run; `null` before it starts, and after its end. */
  let end: (() => void) | null = null;
  /**
   * Whether a secret, or the value of a header, is being fetched, and how often that failed in a
   * row.
   */
  let isPreparing = false;
  let unprepared = 0;
  /** Whether a turn is due at the end of this turn of the event loop. */
  let isTurnDue = false;
  let timer: NodeJS.Timeout | undefined;

  /** Sends the rows that may be sent, at the end of this turn of the event loop. */
  function resume(): void {
    if (isTurnDue || end === null) return;
    isTurnDue = true;
    setImmediate(() => {
      isTurnDue = false;
      if (end !== null) turn(end);
    });
  }

  function resumeIn(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(resume, Math.min(maxTimerMs, Math.max(1, ms)));
  }

  /** Reads no more rows and retries none; awaits those under way. `run` then throws `cause`. */
  function stop(cause?: unknown): void {
    error ??= cause;
    if (stopping) return; // a listener may call this on every turn
    stopping = true;
    resume();
  }

  /** One timer serves all rows. */
  function expire(now: number): void {
    const late = queue.open.filter(
      ({ pending, startedAt }) => pending && now - startedAt >= timeoutMs,
    );
    for (const { pending } of late) pending?.timeOut(timeoutMs);
  }

  function turn(endRun: () => void): void {
    orStop(() => {
      listener.onTurn?.();
      if (!stopping) send(pick());
    });
    const isIdle = inFlight === 0 && !isTurnDue;
    if (isIdle && (stopping || queue.isOver())) endRun();
  }

  /** An error ends the run; in a callback of undici it would be lost. */
  function orStop(work: () => void): void {
    try {
      work();
    } catch (fault) {
      stop(fault);
    }
  }

  /** The rows that may be sent now. */
  function pick(): OpenRow<Row>[] {
    if (!isPrepared()) return [];
    const now = performance.now();
    const mayCome = listener.isFull?.(resume) !== true;
    const picked: OpenRow<Row>[] = [];
    while (inFlight + picked.length < flow.limit()) {
      const waitMs = flow.waitMs(now);
      const row = waitMs > 0 ? undefined : queue.next(now, mayCome);
      if (row === undefined) {
        const dueAt = queue.dueAt();
        if (waitMs > 0 || dueAt !== null) resumeIn(waitMs || (dueAt ?? now) - now);
        break;
      }
      flow.onSend(now);
      picked.push(row);
    }
    return picked;
  }

  /**
   * Whether the app secret and the values of headers are there. A function that fails to return one
   * is called as many times as a row has attempts.
   */
  function isPrepared(): boolean {
    if (isPreparing) return false;
    const prepared = sender.prepare();
    if (prepared === undefined) return true;
    isPreparing = true;
    const goOn = () => {
      isPreparing = false;
      resume();
    };
    prepared.then(
      () => {
        unprepared = 0;
        goOn();
      },
      (fault) => {
        unprepared += 1;
        if (!(fault instanceof NoAnswerError) || unprepared >= options.attempts) stop(fault);
        setTimeout(goOn, backOffMs(unprepared - 1, Math.random));
      },
    );
    return false;
  }

  function send(rows: readonly OpenRow<Row>[]): void {
    if (rows.length === 0) return;
    const { headers } = options;
    listener.onSend?.(rows.map(({ row }) => row));
    const now = performance.now();
    for (const [index, row] of rows.entries()) {
      row.sent += 1;
      row.startedAt = now;
      inFlight += 1;
      const done = (result: AttemptResult) => orStop(() => take(row, result));
      try {
        const { request, sent: number } = row;
        row.pending = Attempt.send({ sender, request, headers, number, done, context });
      } catch (fault) {
        inFlight -= 1;
        for (const { row } of rows.slice(index)) listener.onTakenBack?.(row);
        throw fault;
      }
    }
  }

  function take(row: OpenRow<Row>, { outcome, retryAfterMs, isOutdated }: AttemptResult) {
    const now = performance.now();
    inFlight -= 1;
    row.pending = null;
    const verdict = isOutdated ? 'retry' : classify(row.request.endpoint, outcome);
    const failure = isSuccess(outcome) ? undefined : outcome;
    const isLost = !isOutdated && missedService(outcome);
    flow.onOutcome({ verdict, isLost, startedAt: row.startedAt, retryAfterMs }, now);
    resume();
    switch (verdict) {
      case 'fatal':
        listener.onTakenBack?.(row.row);
        return stop(failure);
      case 'throttled':
      case 'retry':
        if (retryAfterMs !== undefined && retryAfterMs > maxPauseMs) {
          listener.onTakenBack?.(row.row);
          return stop(new RetryLaterError(sender.host, retryAfterMs, failure));
        }
        if (!isOutdated) countAttempt(row, verdict, isLost);
        if (row.attempts >= options.attempts) {
          settle(row, rowOutcome(row, outcome));
        } else {
          row.mayHaveActed ||= !isOutdated && mayHaveActed(outcome);
          if (failure !== undefined)
            putBack(row, now, verdict === 'throttled' || isOutdated ? 0 : retryAfterMs, failure);
        }
        if (flow.isGivenUp(now)) stop(failure);
        return;
      default:
        settle(row, rowOutcome(row, outcome));
        if (!(outcome instanceof NoAnswerError)) served += 1;
    }
  }

  function countAttempt(
    row: OpenRow<Row>,
    verdict: Extract<Verdict, 'retry' | 'throttled'>,
    isLost: boolean,
  ): void {
    const areOthersServed = row.servedBefore !== served;
    // A row that is throttled while others are served waits for its turn. A row that does not reach
    // the service, while no other does, waits for the service.
    const isWaiting = verdict === 'throttled' ? areOthersServed : isLost && !areOthersServed;
    if (!isWaiting) row.attempts += 1;
    if (verdict === 'throttled' || isLost) row.servedBefore = served;
  }

  function putBack(
    row: OpenRow<Row>,
    now: number,
    retryAfterMs: number | undefined,
    error: RejectedError | NoAnswerError,
  ): void {
    listener.onTakenBack?.(row.row);
    const delayMs = pauseBefore(row.attempts + 1, retryAfterMs);
    row.dueAt = now + delayMs;
    const { operation, requestId } = error;
    const event = { operation, attempt: row.sent, requestId, context, delayMs, error };
    sender.hooks.call('onRetry', () => event);
    queue.putBack(row);
  }

  function settle(row: OpenRow<Row>, outcome: RowOutcome<Row>): void {
    queue.settle(row);
    listener.onOutcome(outcome, row.user);
  }

  return {
    /**
     * Resolves when each row has its outcome, or after `stop` when none is under way; the source of
     * rows is closed then.
     *
     * @returns whether each row has its outcome
     * @throws what stopped the run: a RejectedError or NoAnswerError that concerns every row, a
     * RetryLaterError, what the listener threw, or what the source of rows threw, once all rows
     * before it have their outcomes
     */
    async run(): Promise<boolean> {
      const checkMs = Math.max(minCheckMs, timeoutMs / checksPerTimeout);
      const timeOuts = setInterval(() => expire(performance.now()), checkMs);
      await new Promise<void>((resolve) => {
        end = resolve;
        resume();
      });
      end = null;
      clearTimeout(timer);
      clearInterval(timeOuts);
      const isComplete = queue.isOver();
      error ??= feed.error();
      await feed.close().catch((fault) => {
        error ??= fault;
      });
      if (error !== undefined) throw error;
      return isComplete;
    },
    /** Whether the service may have acted on a row that has no outcome yet. */
    isInDoubt: () => queue.open.some(({ mayHaveActed }) => mayHaveActed),
    /** Number of requests that were sent for the rows that have no outcome yet. */
    openRequests: () => queue.open.reduce((sum, { sent }) => sum + sent, 0),
    stop,
    resume,
    flow,
    /** Stops at once: what is under way is abandoned. */
    cancel(): void {
      for (const row of queue.open) {
        if (row.pending === null) continue;
        row.mayHaveActed ||= row.pending.hasStarted;
        row.pending.cancel();
        row.pending = null;
        inFlight -= 1;
      }
      stop();
      resume();
    },
  };
}
