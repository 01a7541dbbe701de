import { maxTimerMs } from '../../core/contract/limits.js';
import { backOffMs } from '../../core/support/back-off.js';
import { Attempt, type AttemptResult } from '../call/attempt.js';
import { NoAnswerError, type RejectedError, RetryLaterError } from '../call/errors.js';
import { type AttemptOutcome, isSuccess, mayHaveActed, pauseBefore } from '../call/retry.js';
import type { Sender } from '../call/sender.js';
import { type AttemptReport, FlowControl, type Pacing } from './flow-control.js';
import { classify, isMiss, type RowOutcome, rowOutcome } from './outcome.js';
import { RowFeed, type SourceRow } from './row-feed.js';
import { type OpenRow, type PreparedRow, RowQueue } from './row-queue.js';

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

/** An attempt that did not settle its row: the row may be sent again. */
interface FailedAttempt extends AttemptReport {
  readonly verdict: 'retry' | 'throttled';
  readonly failure: RejectedError | NoAnswerError;
  /** Whether it was refused with a value of a header or a secret that a function renews. */
  readonly isOutdated: boolean;
}

/** Number of times that time-outs are checked within one time-out. */
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
export class RowEngine<Row extends SourceRow> {
  /** When rows may be sent, and how many. */
  readonly flow: FlowControl;
  readonly #options: EngineOptions<Row>;
  readonly #sender: Sender;
  readonly #listener: EngineListener<Row>;
  readonly #feed: RowFeed<Row>;
  readonly #queue: RowQueue<Row>;
  /** The longest pause that the service may ask for, in milliseconds. */
  readonly #maxPauseMs: number;
  /** Number of rows that await an answer. */
  #inFlight = 0;
  /** Number of rows that the service has served or refused. */
  #served = 0;
  #isStopping = false;
  /** What stopped the run. */
  #error: unknown;
  /** Ends the run; `null` before it starts, and after its end. */
  #endRun: (() => void) | null = null;
  /** Whether a secret, or the value of a header, is being fetched. */
  #isFetching = false;
  /** How often in succession the function that returns it failed. */
  #failedFetches = 0;
  /** Whether a turn is due at the end of this turn of the event loop. */
  #isTurnDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** `resume` as the one function that a full listener calls when it has room. */
  readonly #onRoom = () => this.resume();

  constructor(batches: AsyncIterator<readonly Row[]>, options: EngineOptions<Row>) {
    this.#options = options;
    this.#sender = options.sender;
    this.#listener = options.listener;
    this.#feed = new RowFeed(batches, this.#onRoom);
    this.#queue = new RowQueue(this.#feed, {
      concurrency: options.concurrency,
      prepare: options.prepare,
      onInvalid: (row, error) =>
        options.listener.onOutcome({ outcome: 'invalid', row, attempts: 0, error }, null),
    });
    this.flow = new FlowControl(options, performance.now());
    this.#maxPauseMs = Math.max(options.timeoutMs, maxRetryAfterMs);
  }

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
    const checkMs = Math.max(minCheckMs, this.#options.timeoutMs / checksPerTimeout);
    const timeOuts = setInterval(() => this.#expire(performance.now()), checkMs);
    await new Promise<void>((resolve) => {
      this.#endRun = resolve;
      this.resume();
    });
    this.#endRun = null;
    clearTimeout(this.#timer);
    clearInterval(timeOuts);
    const isComplete = this.#queue.isOver;
    this.#error ??= this.#feed.error;
    await this.#feed.close().catch((error) => {
      this.#error ??= error;
    });
    if (this.#error !== undefined) throw this.#error;
    return isComplete;
  }

  /** Sends the rows that may be sent, at the end of this turn of the event loop. */
  resume(): void {
    if (this.#isTurnDue || this.#endRun === null) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      if (this.#endRun !== null) this.#turn(this.#endRun);
    });
  }

  /** Reads no more rows and retries none; awaits those under way. `run` then throws `cause`. */
  stop(cause?: unknown): void {
    this.#error ??= cause;
    if (this.#isStopping) return; // a listener may call this on every turn
    this.#isStopping = true;
    this.resume();
  }

  /** Stops at once: what is under way is abandoned. */
  cancel(): void {
    for (const row of this.#queue.openRows) {
      if (row.pending === null) continue;
      row.mayHaveActed ||= row.pending.hasStarted;
      row.pending.cancel();
      row.pending = null;
      this.#inFlight -= 1;
    }
    this.stop();
    this.resume(); // `stop` does so only the first time
  }

  /** Whether the service may have acted on a row that has no outcome yet. */
  get isInDoubt(): boolean {
    return this.#queue.openRows.some(({ mayHaveActed }) => mayHaveActed);
  }

  /** Number of requests that were sent for the rows that have no outcome yet. */
  get openRequests(): number {
    return this.#queue.openRows.reduce((sum, { sent }) => sum + sent, 0);
  }

  /** Sends what may be sent now, and ends the run if nothing is left to do. */
  #turn(endRun: () => void): void {
    this.#stopOnError(() => {
      this.#listener.onTurn?.();
      if (!this.#isStopping) this.#send(this.#pick());
    });
    const isIdle = this.#inFlight === 0 && !this.#isTurnDue;
    if (isIdle && (this.#isStopping || this.#queue.isOver)) endRun();
  }

  /** An error ends the run; in a callback of undici it would be lost. */
  #stopOnError(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.stop(error);
    }
  }

  #resumeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onRoom, Math.min(maxTimerMs, Math.max(1, ms)));
  }

  /** Times out the attempts that have taken too long: one timer serves all rows. */
  #expire(now: number): void {
    const { timeoutMs } = this.#options;
    // A time-out may settle its row, which changes the open rows.
    const late = this.#queue.openRows.filter(
      ({ pending, startedAt }) => pending && now - startedAt >= timeoutMs,
    );
    for (const { pending } of late) pending?.timeOut(timeoutMs);
  }

  /** The rows that may be sent now. If there are more for later, a turn follows then. */
  #pick(): OpenRow<Row>[] {
    if (!this.#isPrepared()) return [];
    const now = performance.now();
    const takesNew = this.#listener.isFull?.(this.#onRoom) !== true;
    const picked: OpenRow<Row>[] = [];
    while (this.#inFlight + picked.length < this.flow.limit) {
      const waitMs = this.flow.waitMs(now);
      if (waitMs > 0) {
        this.#resumeIn(waitMs);
        break;
      }
      const row = this.#queue.next(now, takesNew);
      if (row === undefined) {
        const { dueAt } = this.#queue;
        if (dueAt !== null) this.#resumeIn(dueAt - now);
        break;
      }
      this.flow.onSend(now);
      picked.push(row);
    }
    return picked;
  }

  /**
   * Whether the app secret and the values of headers are there. A function that fails to return one
   * is called as many times as a row has attempts.
   */
  #isPrepared(): boolean {
    if (this.#isFetching) return false;
    const fetched = this.#sender.prepare();
    if (fetched === undefined) return true;
    this.#isFetching = true;
    fetched.then(
      () => this.#onFetched(),
      (error) => this.#onFailedFetch(error),
    );
    return false;
  }

  #onFetched(): void {
    this.#failedFetches = 0;
    this.#isFetching = false;
    this.resume();
  }

  #onFailedFetch(error: unknown): void {
    this.#failedFetches += 1;
    const mayTryAgain = this.#failedFetches < this.#options.attempts;
    if (!(error instanceof NoAnswerError && mayTryAgain)) {
      this.stop(error);
      return;
    }
    setTimeout(
      () => {
        this.#isFetching = false;
        this.resume();
      },
      backOffMs(this.#failedFetches - 1, Math.random),
    );
  }

  #send(rows: readonly OpenRow<Row>[]): void {
    if (rows.length === 0) return;
    this.#listener.onSend?.(rows.map(({ row }) => row));
    const now = performance.now();
    for (const [index, row] of rows.entries()) {
      try {
        this.#sendRow(row, now);
      } catch (error) {
        this.#inFlight -= 1;
        for (const unsent of rows.slice(index)) this.#listener.onTakenBack?.(unsent.row);
        throw error;
      }
    }
  }

  /** @throws InvalidInputError as `Attempt.send` */
  #sendRow(row: OpenRow<Row>, now: number): void {
    row.sent += 1;
    row.startedAt = now;
    this.#inFlight += 1;
    row.pending = Attempt.send({
      sender: this.#sender,
      request: row.request,
      headers: this.#options.headers,
      number: row.sent,
      done: (result) => this.#stopOnError(() => this.#take(row, result)),
      context: this.#options.context,
    });
  }

  /** Takes the result of an attempt. */
  #take(row: OpenRow<Row>, { outcome, retryAfterMs, isOutdated }: AttemptResult): void {
    const now = performance.now();
    this.#inFlight -= 1;
    row.pending = null;
    const verdict = isOutdated ? 'retry' : classify(row.request.endpoint, outcome);
    const report = {
      verdict,
      isMiss: !isOutdated && isMiss(outcome),
      startedAt: row.startedAt,
      retryAfterMs,
    };
    this.flow.onOutcome(report, now);
    this.resume();
    if (isSuccess(outcome) || verdict === 'final') {
      this.#settle(row, outcome);
      if (!(outcome instanceof NoAnswerError)) this.#served += 1;
      return;
    }
    if (verdict === 'fatal') {
      this.#stopWith(row, outcome);
      return;
    }
    this.#settleOrRetry(row, { ...report, verdict, failure: outcome, isOutdated }, now);
    if (this.flow.isGivenUp(now)) this.stop(outcome);
  }

  /** Ends the run because of an attempt of this row, which has no outcome. */
  #stopWith(row: OpenRow<Row>, error: RejectedError | NoAnswerError | RetryLaterError): void {
    this.#listener.onTakenBack?.(row.row);
    this.stop(error);
  }

  #settleOrRetry(row: OpenRow<Row>, attempt: FailedAttempt, now: number): void {
    const { failure, isOutdated, retryAfterMs } = attempt;
    if (retryAfterMs !== undefined && retryAfterMs > this.#maxPauseMs) {
      this.#stopWith(row, new RetryLaterError(this.#sender.host, retryAfterMs, failure));
      return;
    }
    if (!isOutdated) this.#countAttempt(row, attempt);
    if (row.attempts >= this.#options.attempts) {
      this.#settle(row, failure);
      return;
    }
    row.mayHaveActed ||= !isOutdated && mayHaveActed(failure);
    this.#putBack(row, attempt, now);
  }

  #countAttempt(row: OpenRow<Row>, { verdict, isMiss }: FailedAttempt): void {
    const areOthersServed = row.servedBefore !== this.#served;
    const isThrottled = verdict === 'throttled';
    // A row that is throttled while others are served waits for its turn. A row that does not reach
    // the service, while no other does, waits for the service.
    const isWaiting = isThrottled ? areOthersServed : isMiss && !areOthersServed;
    if (!isWaiting) row.attempts += 1;
    if (isThrottled || isMiss) row.servedBefore = this.#served;
  }

  #putBack(row: OpenRow<Row>, attempt: FailedAttempt, now: number): void {
    this.#listener.onTakenBack?.(row.row);
    const { verdict, failure, isOutdated, retryAfterMs } = attempt;
    // Flow control has the pause of a throttled row, and a new value needs none.
    const needsNoPause = verdict === 'throttled' || isOutdated;
    const delayMs = pauseBefore(row.attempts + 1, needsNoPause ? 0 : retryAfterMs);
    row.dueAt = now + delayMs;
    this.#sender.hooks.emit('onRetry', () => ({
      operation: failure.operation,
      attempt: row.sent,
      requestId: failure.requestId,
      context: this.#options.context,
      delayMs,
      error: failure,
    }));
    this.#queue.putBack(row);
  }

  #settle(row: OpenRow<Row>, outcome: AttemptOutcome): void {
    const settled = rowOutcome(row, outcome);
    this.#queue.settle(row);
    this.#listener.onOutcome(settled, row.user);
  }
}
