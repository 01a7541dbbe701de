import { NoAnswerError } from '../../client/errors.js';
import { pauseBefore } from '../../client/retry.js';
import type { AttemptResult, Sender } from '../../client/sender.js';
import type { RowOutcome } from '../outcome.js';
import type { Flight } from './flight.js';
import { InFlight } from './in-flight.js';
import { judge, missedService } from './judge.js';
import { RowFeed } from './row-feed.js';
import { errorOf, rowOutcome } from './row-outcome.js';
import { RowQueue, type RowQueueOptions } from './row-queue.js';
import { Traffic } from './traffic.js';

/** How a run sends its rows. */
export interface Pacing {
  /** Requests under way at once, at the most. */
  readonly concurrency: number;
  /** Requests a second; `null` for as many as go. */
  readonly ratePerSecond: number | null;
  /** How often a row is sent at the most; being throttled does not count where others are served. */
  readonly attempts: number;
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs: number;
}

export interface EngineOptions<Row> extends Pacing, RowQueueOptions<Row> {
  readonly operation: 'read' | 'passback';
  readonly sender: Sender;
  readonly listener: EngineListener<Row>;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** Whom the engine tells. What `onTurn` and `onSend` throw ends the run; the others must not throw. */
export interface EngineListener<Row> {
  onOutcome(outcome: RowOutcome<Row>): void;
  /** The outcomes of a turn of the event loop have been told; more rows are sent next. */
  onTurn?(): void;
  /** These are about to be sent. */
  onSend?(rows: readonly Row[]): void;
  /** A row of those has no outcome, and will be sent again or not at all. */
  onTakenBack?(row: Row): void;
  /** Whether no new rows should be taken; after `resume` it is asked again. */
  isFull?(): boolean;
}

/**
 * Sends rows, many at a time, until each has its outcome. Lean on purpose: what happens to a row happens in
 * callbacks, without a promise, a timer or an abort signal of its own.
 */
export class RowEngine<Row> {
  readonly #options: EngineOptions<Row>;
  readonly #listener: EngineListener<Row>;
  readonly #queue: RowQueue<Row>;
  readonly #inFlight: InFlight<Row>;
  /** What holds rows back. */
  readonly traffic: Traffic;
  /** How many envelopes came that served a row, or refused it. */
  #served = 0;
  #turnIsDue = false;
  #wakeUp: NodeJS.Timeout | undefined;
  #stopping = false;
  #error: unknown;
  #end: (() => void) | null = null;

  constructor(batches: AsyncIterable<readonly Row[]>, options: EngineOptions<Row>) {
    this.#options = options;
    this.#listener = options.listener;
    this.traffic = new Traffic(options);
    this.#inFlight = new InFlight(options.timeoutMs, options.now);
    const feed = new RowFeed(
      batches,
      () => this.resume(),
      (error) => this.stop(error),
    );
    this.#queue = new RowQueue(feed, options, (row, error) =>
      this.#listener.onOutcome({ outcome: 'invalid', row, attempts: 0, error }),
    );
  }

  /**
   * Resolves when each row has its outcome, or after `stop`, when none is under way. Throws what stopped the run: a
   * RejectedError or NoAnswerError where all rows would fare the same, and what the source of rows or the listener
   * threw.
   */
  async run(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      this.resume();
    });
    this.#end = null;
    clearTimeout(this.#wakeUp);
    this.#inFlight.close();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Takes no more rows and sends none again; those under way are awaited. `error` is what `run` then throws. */
  stop(error?: unknown): void {
    this.#error ??= error;
    this.#stopping = true;
    this.resume();
  }

  /** Looks for something to do, once what happens in this turn of the event loop is known. */
  resume(): void {
    if (this.#turnIsDue) return;
    this.#turnIsDue = true;
    setImmediate(() => {
      this.#turnIsDue = false;
      if (this.#end !== null) this.#turn(this.#end);
    });
  }

  #turn(end: () => void): void {
    try {
      this.#listener.onTurn?.();
      if (!this.#stopping) this.#send(this.#pick());
    } catch (error) {
      this.stop(error);
    }
    const isIdle = this.#inFlight.size === 0 && !this.#turnIsDue;
    if (isIdle && (this.#stopping || this.#queue.isOver)) end();
  }

  /** The rows that may be sent now. */
  #pick(): Flight<Row>[] {
    const now = this.#options.now();
    const mayCome = this.#listener.isFull?.() !== true;
    const picked: Flight<Row>[] = [];
    while (this.#inFlight.size + picked.length < this.traffic.limit) {
      const waitMs = this.traffic.waitMs(now);
      const flight = waitMs > 0 ? undefined : this.#queue.next(now, mayCome);
      if (flight === undefined) {
        const { dueAt } = this.#queue;
        if (waitMs > 0 || dueAt !== null) this.#wakeUpIn(waitMs || (dueAt ?? now) - now);
        break;
      }
      this.traffic.onSend(now);
      picked.push(flight);
    }
    return picked;
  }

  #send(flights: readonly Flight<Row>[]): void {
    if (flights.length === 0) return;
    const { sender, now } = this.#options;
    this.#listener.onSend?.(flights.map(({ row }) => row));
    for (const [index, flight] of flights.entries()) {
      flight.sent += 1;
      flight.startedAt = now();
      this.#inFlight.add(flight);
      try {
        flight.pending = sender.send(flight.request, flight.sent, (result) => this.#take(flight, result));
      } catch (error) {
        this.#inFlight.delete(flight);
        for (const { row } of flights.slice(index)) this.#listener.onTakenBack?.(row);
        throw error;
      }
    }
  }

  #take(flight: Flight<Row>, { outcome, retryAfterMs }: AttemptResult): void {
    const now = this.#options.now();
    this.#inFlight.delete(flight);
    const verdict = judge(this.#options.operation, outcome);
    const isLost = missedService(outcome);
    this.traffic.onOutcome({ verdict, isLost, startedAt: flight.startedAt, retryAfterMs }, now);
    this.resume();
    switch (verdict) {
      case 'fatal':
        this.#listener.onTakenBack?.(flight.row);
        this.stop(errorOf(outcome));
        return;
      case 'throttled':
        // Where others are served meanwhile, the row is only waiting for its turn.
        if (flight.throttledAfter === this.#served) flight.attempts += 1;
        flight.throttledAfter = this.#served;
        break;
      case 'again':
        flight.attempts += 1;
        break;
      default:
        this.#served += outcome instanceof NoAnswerError ? 0 : 1;
        this.#settle(flight, rowOutcome(flight, outcome, verdict));
        return;
    }
    if (flight.attempts >= this.#options.attempts) {
      this.#settle(flight, rowOutcome(flight, outcome, 'unsettled'));
    } else {
      this.#listener.onTakenBack?.(flight.row);
      const waitMs = verdict === 'throttled' ? 0 : retryAfterMs;
      flight.dueAt = now + pauseBefore(flight.attempts + 1, waitMs, this.#options.random);
      this.#queue.putBack(flight);
    }
    if (this.traffic.isGivenUp(now)) this.stop(errorOf(outcome));
  }

  #settle(flight: Flight<Row>, outcome: RowOutcome<Row>): void {
    this.#queue.settle(flight);
    this.#listener.onOutcome(outcome);
  }

  #wakeUpIn(ms: number): void {
    clearTimeout(this.#wakeUp);
    this.#wakeUp = setTimeout(() => this.resume(), Math.max(1, ms));
  }
}
