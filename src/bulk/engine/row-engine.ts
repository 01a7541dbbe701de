import { NoAnswerError } from '../../client/errors.js';
import { pauseBefore } from '../../client/retry.js';
import type { AttemptResult } from '../../client/sender.js';
import type { RowOutcome } from '../outcome.js';
import type { EngineListener, EngineOptions } from './engine-options.js';
import type { Flight } from './flight.js';
import { InFlight } from './in-flight.js';
import { judge, missedService, type Verdict } from './judge.js';
import { RowFeed } from './row-feed.js';
import { errorOf, rowOutcome } from './row-outcome.js';
import { RowQueue } from './row-queue.js';
import { Traffic } from './traffic.js';
import { Turns } from './turns.js';

/**
 * Sends rows, many at a time, until each has its outcome. Lean on purpose: what happens to a row happens in
 * callbacks, without a promise, a timer or an abort signal of its own.
 */
export class RowEngine<Row> {
  readonly #options: EngineOptions<Row>;
  readonly #listener: EngineListener<Row>;
  readonly #queue: RowQueue<Row>;
  readonly #inFlight: InFlight<Row>;
  readonly #turns = new Turns(() => {
    if (this.#end !== null) this.#turn(this.#end);
  });
  /** What holds rows back. */
  readonly traffic: Traffic;
  /** How many envelopes came that served a row, or refused it. */
  #served = 0;
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
    this.#turns.close();
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
    this.#turns.soon();
  }

  #turn(end: () => void): void {
    try {
      this.#listener.onTurn?.();
      if (!this.#stopping) this.#send(this.#pick());
    } catch (error) {
      this.stop(error);
    }
    const isIdle = this.#inFlight.size === 0 && !this.#turns.isDue;
    if (isIdle && (this.#stopping || this.#queue.isOver)) end();
  }

  /** The rows that may be sent now, so many `at most`. */
  #pick(atMost = Number.POSITIVE_INFINITY): Flight<Row>[] {
    const now = this.#options.now();
    const mayCome = this.#listener.isFull?.() !== true;
    const picked: Flight<Row>[] = [];
    while (picked.length < atMost && this.#inFlight.size + picked.length < this.traffic.limit) {
      const waitMs = this.traffic.waitMs(now);
      const flight = waitMs > 0 ? undefined : this.#queue.next(now, mayCome);
      if (flight === undefined) {
        const { dueAt } = this.#queue;
        if (waitMs > 0 || dueAt !== null) this.#turns.later(waitMs || (dueAt ?? now) - now);
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
      const done = (result: AttemptResult) => this.#take(flight, result);
      try {
        const request = flight.takeSigned(sender.now()) ?? sender.sign(this.#queue.requestOf(flight));
        flight.pending = sender.send(request, flight.sent, done);
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
      case 'again':
        this.#countAttempt(flight, verdict, isLost);
        if (flight.attempts >= this.#options.attempts) {
          this.#settle(flight, rowOutcome(flight, outcome, 'unsettled'));
        } else this.#putBack(flight, now, verdict === 'throttled' ? 0 : retryAfterMs);
        if (this.traffic.isGivenUp(now)) this.stop(errorOf(outcome));
        return;
      default:
        this.#settle(flight, rowOutcome(flight, outcome, verdict));
        if (outcome instanceof NoAnswerError) return;
        this.#served += 1;
        this.#sendNext();
    }
  }

  /**
   * Hands over a row as an answer comes, while its connection is at hand. It goes out only once this turn of the event
   * loop is over, after `onTurn`; where something has to be told before, that is too soon. Only after an answer: where
   * sending fails at once, row after row would be sent from within the one before.
   */
  #sendNext(): void {
    if (this.#stopping || this.#listener.onSend !== undefined) return;
    try {
      this.#send(this.#pick(1));
    } catch (error) {
      this.stop(error);
    }
  }

  #countAttempt(
    flight: Flight<Row>,
    verdict: Extract<Verdict, 'again' | 'throttled'>,
    isLost: boolean,
  ): void {
    const areOthersServed = flight.waitsSince !== this.#served;
    // A row that is throttled while others are served is only waiting for its turn, and one that meets nobody, for a
    // service that none of them has.
    const isWaiting = verdict === 'throttled' ? areOthersServed : isLost && !areOthersServed;
    if (!isWaiting) flight.attempts += 1;
    if (verdict === 'throttled' || isLost) flight.waitsSince = this.#served;
  }

  #putBack(flight: Flight<Row>, now: number, retryAfterMs: number | undefined): void {
    this.#listener.onTakenBack?.(flight.row);
    flight.dueAt = now + pauseBefore(flight.attempts + 1, retryAfterMs, this.#options.random);
    this.#queue.putBack(flight);
  }

  #settle(flight: Flight<Row>, outcome: RowOutcome<Row>): void {
    this.#queue.settle(flight);
    this.#listener.onOutcome(outcome);
  }
}
