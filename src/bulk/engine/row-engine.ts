import { Attempt, type AttemptResult } from '../../client/attempt.js';
import { NoAnswerError, type RejectedError, RetryLaterError } from '../../client/errors.js';
import { isSuccess, mayHaveActed, pauseBefore } from '../../client/retry.js';
import type { Sender } from '../../client/sender.js';
import { maxTimerMs } from '../../protocol/limits.js';
import { backOffMs } from '../../support/back-off.js';
import { classify, missedService, type RowOutcome, rowOutcome, type Verdict } from '../outcome.js';
import { controlFlow, type FlowControl, type Pacing } from './flow-control.js';
import { type OpenRow, type PreparedRow, RowFeed, RowQueue, type SourceRow } from './row-queue.js';

/** A run over rows: how they become requests, and who sends them. */
export interface EngineOptions<Row> extends Pacing {
  readonly sender: Sender;
  /** @throws InvalidInputError for a row that cannot be sent */
  readonly prepare: (row: Row) => PreparedRow;
  readonly listener: EngineListener<Row>;
  /** The flow control of an earlier engine, to continue with what it learned about the service. */
  readonly flow?: FlowControl;
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

/** The longest `Retry-After` that a run waits for, in milliseconds, unless its time-out is longer. */
const maxRetryAfterMs = 5 * 60_000;

/**
 * Sends many rows at a time until each has its outcome. Costs little a row: everything happens in callbacks,
 * without a promise, a timer or an abort signal for each row.
 */
export class RowEngine<Row extends SourceRow> {
  readonly #options: EngineOptions<Row>;
  readonly #listener: EngineListener<Row>;
  readonly #feed: RowFeed<Row>;
  readonly #queue: RowQueue<Row>;
  /** Number of rows that await an answer. */
  #inFlight = 0;
  /** When rows may be sent, and how many. */
  readonly flow: FlowControl;
  readonly #maxPauseMs: number;
  /** Number of rows that the service has served or refused. */
  #served = 0;
  #stopping = false;
  #error: unknown;
  /** Ends the run; `null` before it starts, and after its end. */
  #end: (() => void) | null = null;
  /** Whether a secret, or the value of a header, is being fetched, and how often that failed in a row. */
  #isPreparing = false;
  #unprepared = 0;
  /** Whether a turn is due at the end of this turn of the event loop. */
  #isTurnDue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(batches: AsyncIterator<readonly Row[]>, options: EngineOptions<Row>) {
    this.#options = options;
    this.#listener = options.listener;
    this.#maxPauseMs = Math.max(options.timeoutMs, maxRetryAfterMs);
    this.flow = options.flow ?? controlFlow(options, performance.now());
    this.#feed = new RowFeed(batches, this.resume);
    this.#queue = new RowQueue(this.#feed, options.concurrency, options.prepare, (row, error) =>
      this.#listener.onOutcome({ outcome: 'invalid', row, attempts: 0, error }, null),
    );
  }

  /**
   * Resolves when each row has its outcome, or after `stop` when none is under way; the source of rows is closed
   * then.
   *
   * @returns whether each row has its outcome
   * @throws what stopped the run: a RejectedError or NoAnswerError that concerns every row, a RetryLaterError,
   * what the listener threw, or what the source of rows threw, once all rows before it have their outcomes
   */
  async run(): Promise<boolean> {
    const checkMs = Math.max(minCheckMs, this.#options.timeoutMs / checksPerTimeout);
    const timeOuts = setInterval(() => this.#expire(performance.now()), checkMs);
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      this.resume();
    });
    this.#end = null;
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

  /** Whether the service may have acted on a row that has no outcome yet. */
  get isInDoubt(): boolean {
    return this.#queue.open.some(({ mayHaveActed }) => mayHaveActed);
  }

  /** Number of requests that were sent for the rows that have no outcome yet. */
  get openRequests(): number {
    return this.#queue.open.reduce((sum, { sent }) => sum + sent, 0);
  }

  /** Reads no more rows and retries none; awaits those under way. `run` then throws `error`. */
  stop(error?: unknown): void {
    this.#error ??= error;
    if (this.#stopping) return; // a listener may call this on every turn
    this.#stopping = true;
    this.resume();
  }

  /** Stops at once: what is under way is abandoned. */
  cancel(): void {
    for (const row of this.#queue.open) {
      if (row.pending === null) continue;
      row.mayHaveActed ||= row.pending.hasStarted;
      row.pending.cancel();
      row.pending = null;
      this.#inFlight -= 1;
    }
    this.stop();
    this.resume();
  }

  /** Sends the rows that may be sent, at the end of this turn of the event loop. */
  readonly resume = (): void => {
    if (this.#isTurnDue || this.#end === null) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      if (this.#end !== null) this.#turn(this.#end);
    });
  };

  #resumeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.resume(), Math.min(maxTimerMs, Math.max(1, ms)));
  }

  /** One timer serves all rows. */
  #expire(now: number): void {
    const { timeoutMs } = this.#options;
    const late = this.#queue.open.filter(({ pending, startedAt }) => pending && now - startedAt >= timeoutMs);
    for (const { pending } of late) pending?.timeOut(timeoutMs);
  }

  #turn(end: () => void): void {
    this.#orStop(() => {
      this.#listener.onTurn?.();
      if (!this.#stopping) this.#send(this.#pick());
    });
    const isIdle = this.#inFlight === 0 && !this.#isTurnDue;
    if (isIdle && (this.#stopping || this.#queue.isOver)) end();
  }

  /** An error ends the run; in a callback of undici it would be lost. */
  #orStop(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.stop(error);
    }
  }

  /** The rows that may be sent now. */
  #pick(): OpenRow<Row>[] {
    if (!this.#isPrepared()) return [];
    const now = performance.now();
    const mayCome = this.#listener.isFull?.(this.resume) !== true;
    const picked: OpenRow<Row>[] = [];
    while (this.#inFlight + picked.length < this.flow.limit) {
      const waitMs = this.flow.waitMs(now);
      const row = waitMs > 0 ? undefined : this.#queue.next(now, mayCome);
      if (row === undefined) {
        const { dueAt } = this.#queue;
        if (waitMs > 0 || dueAt !== null) this.#resumeIn(waitMs || (dueAt ?? now) - now);
        break;
      }
      this.flow.onSend(now);
      picked.push(row);
    }
    return picked;
  }

  /**
   * Whether the app secret and the values of headers are there. A function that fails to return one is called as many
   * times as a row has attempts.
   */
  #isPrepared(): boolean {
    if (this.#isPreparing) return false;
    const prepared = this.#options.sender.prepare();
    if (prepared === undefined) return true;
    this.#isPreparing = true;
    const goOn = () => {
      this.#isPreparing = false;
      this.resume();
    };
    prepared.then(
      () => {
        this.#unprepared = 0;
        goOn();
      },
      (error) => {
        this.#unprepared += 1;
        if (!(error instanceof NoAnswerError) || this.#unprepared >= this.#options.attempts) this.stop(error);
        setTimeout(goOn, backOffMs(this.#unprepared - 1, Math.random));
      },
    );
    return false;
  }

  #send(rows: readonly OpenRow<Row>[]): void {
    if (rows.length === 0) return;
    const { sender, headers, context } = this.#options;
    this.#listener.onSend?.(rows.map(({ row }) => row));
    const now = performance.now();
    for (const [index, row] of rows.entries()) {
      row.sent += 1;
      row.startedAt = now;
      this.#inFlight += 1;
      const done = (result: AttemptResult) => this.#orStop(() => this.#take(row, result));
      try {
        row.pending = Attempt.send({
          sender,
          request: row.request,
          headers,
          number: row.sent,
          done,
          context,
        });
      } catch (error) {
        this.#inFlight -= 1;
        for (const { row } of rows.slice(index)) this.#listener.onTakenBack?.(row);
        throw error;
      }
    }
  }

  #take(row: OpenRow<Row>, { outcome, retryAfterMs, isOutdated }: AttemptResult): void {
    const now = performance.now();
    this.#inFlight -= 1;
    row.pending = null;
    const verdict = isOutdated ? 'retry' : classify(row.request.endpoint, outcome);
    const error = isSuccess(outcome) ? undefined : outcome;
    const isLost = !isOutdated && missedService(outcome);
    this.flow.onOutcome({ verdict, isLost, startedAt: row.startedAt, retryAfterMs }, now);
    this.resume();
    switch (verdict) {
      case 'fatal':
        this.#listener.onTakenBack?.(row.row);
        this.stop(error);
        return;
      case 'throttled':
      case 'retry':
        if (retryAfterMs !== undefined && retryAfterMs > this.#maxPauseMs) {
          this.#listener.onTakenBack?.(row.row);
          this.stop(new RetryLaterError(this.#options.sender.host, retryAfterMs, error));
          return;
        }
        if (!isOutdated) this.#countAttempt(row, verdict, isLost);
        if (row.attempts >= this.#options.attempts) {
          this.#settle(row, rowOutcome(row, outcome, 'unsettled'));
        } else {
          row.mayHaveActed ||= !isOutdated && mayHaveActed(outcome);
          if (error !== undefined)
            this.#putBack(row, now, verdict === 'throttled' || isOutdated ? 0 : retryAfterMs, error);
        }
        if (this.flow.isGivenUp(now)) this.stop(error);
        return;
      default:
        this.#settle(row, rowOutcome(row, outcome, verdict));
        if (!(outcome instanceof NoAnswerError)) this.#served += 1;
    }
  }

  #countAttempt(row: OpenRow<Row>, verdict: Extract<Verdict, 'retry' | 'throttled'>, isLost: boolean): void {
    const areOthersServed = row.servedBefore !== this.#served;
    // A row that is throttled while others are served waits for its turn. A row that does not reach the
    // service, while no other does, waits for the service.
    const isWaiting = verdict === 'throttled' ? areOthersServed : isLost && !areOthersServed;
    if (!isWaiting) row.attempts += 1;
    if (verdict === 'throttled' || isLost) row.servedBefore = this.#served;
  }

  #putBack(
    row: OpenRow<Row>,
    now: number,
    retryAfterMs: number | undefined,
    error: RejectedError | NoAnswerError,
  ): void {
    this.#listener.onTakenBack?.(row.row);
    const { sender, context } = this.#options;
    const delayMs = pauseBefore(row.attempts + 1, retryAfterMs);
    row.dueAt = now + delayMs;
    const { operation, requestId } = error;
    sender.hooks.call('onRetry', () => ({
      operation,
      attempt: row.sent,
      requestId,
      context,
      delayMs,
      error,
    }));
    this.#queue.putBack(row);
  }

  #settle(row: OpenRow<Row>, outcome: RowOutcome<Row>): void {
    this.#queue.settle(row);
    this.#listener.onOutcome(outcome, row.user);
  }
}
