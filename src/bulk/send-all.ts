import type { PassbackAnswer, ReadAnswer } from '../client/client.js';
import { CancelledError } from '../client/errors.js';
import {
  checkClientOptions,
  isCount,
  isRate,
  isSignal,
  type UserInfoClientOptions,
} from '../client/options.js';
import { checkedPassback, checkedRead, type PassbackInput, type ReadInput } from '../client/request.js';
import { Sender } from '../client/sender.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { EngineListener, Pacing } from './engine/engine-options.js';
import { RowEngine } from './engine/row-engine.js';
import type { PreparedRow } from './engine/row-queue.js';
import type { RowOutcome } from './outcome.js';

/** A row as it was read, with what is sent for it, or why nothing is. */
interface TakenRow<Row> {
  readonly row: Row;
  /** Counted from 0. */
  readonly index: number;
  readonly prepared: PreparedRow | InvalidInputError;
}

/** How many rows are read at once, and again while those wait to be sent. */
const rowsAhead = 32;

/**
 * The rows of a program's iterable. A request is made of each before the next one is read. Where a row has to be
 * awaited, each is a batch of its own.
 */
class RowReader<Row> implements AsyncIterableIterator<readonly TakenRow<Row>[]> {
  readonly #source: Iterator<Row> | AsyncIterator<Row>;
  readonly #isAsync: boolean;
  readonly #batchSize: number;
  readonly #prepare: (row: Row) => PreparedRow;
  #count = 0;
  #thrown: { readonly error: unknown } | null = null;

  /** Throws an InvalidInputError for rows that cannot be iterated over. */
  constructor(rows: Iterable<Row> | AsyncIterable<Row>, prepare: (row: Row) => PreparedRow) {
    if (!isIterable(rows)) throw new InvalidInputError('the rows are not an iterable or an async iterable');
    this.#isAsync = Symbol.asyncIterator in rows;
    this.#source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
    this.#batchSize = this.#isAsync ? 1 : rowsAhead;
    this.#prepare = prepare;
  }

  get batchesAhead(): number {
    return rowsAhead / this.#batchSize;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Throws what the source throws, once the rows before that were given. */
  async next(): Promise<IteratorResult<readonly TakenRow<Row>[], undefined>> {
    const batch: TakenRow<Row>[] = [];
    while (batch.length < this.#batchSize && this.#thrown === null) {
      try {
        const next = this.#source.next();
        const { done, value } = this.#isAsync ? await next : (next as IteratorResult<Row>);
        if (done) break;
        batch.push(this.#take(value));
      } catch (error) {
        this.#thrown = { error };
      }
    }
    if (batch.length > 0) return { done: false, value: batch };
    if (this.#thrown !== null) throw this.#thrown.error;
    return { done: true, value: undefined };
  }

  /** Closes the source. */
  async return(): Promise<IteratorResult<readonly TakenRow<Row>[], undefined>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  /** Whatever is wrong with a row is a matter of that row alone. */
  #take(row: Row): TakenRow<Row> {
    const index = this.#count;
    this.#count += 1;
    try {
      return { row, index, prepared: this.#prepare(row) };
    } catch (cause) {
      const error =
        cause instanceof InvalidInputError
          ? cause
          : new InvalidInputError('the row cannot be read', { cause });
      return { row, index, prepared: error };
    }
  }
}

function isIterable(rows: unknown): boolean {
  return (
    typeof rows === 'object' && rows !== null && (Symbol.asyncIterator in rows || Symbol.iterator in rows)
  );
}

/** Where many rows go, as whom, and how fast. */
export interface AllRowsOptions extends UserInfoClientOptions {
  /** Requests under way at once, at most; fewer where the service is slow or throttles. 32 unless given. */
  readonly concurrency?: number;
  /**
   * How many connections may be open at once; `concurrency` unless given. A service may close those past a limit of its
   * own, and what was sent on them has the outcome `unknown`: `userinfo serve` takes 1000.
   */
  readonly connections?: number;
  /** Requests a second, at most. There is no limit unless given. */
  readonly ratePerSecond?: number;
  /** How long one attempt may take, in milliseconds. 10 seconds unless given. */
  readonly timeoutMs?: number;
  /**
   * Ends the run: no more rows are taken, those under way are awaited and their outcomes given, and then a
   * CancelledError is thrown, unless every row has its outcome.
   */
  readonly signal?: AbortSignal;
}

/** A row's outcome, and the place of the row among those that the source gave. */
type IndexedOutcome<Outcome> = Outcome & {
  /** Counted from 0. It tells rows apart that are the same object, or equal. */
  readonly index: number;
};

/** The outcome of a row that is passed back. */
export type PassbackOutcome<Row> = IndexedOutcome<RowOutcome<Row, PassbackAnswer['envelope']>>;

/** The outcome of a row that is read. */
export type ReadOutcome<Row> = IndexedOutcome<RowOutcome<Row, ReadAnswer['envelope']>>;

const defaults = { concurrency: 32, attempts: 3, timeoutMs: 10_000 } as const;

/**
 * Passes many rows back (§4.2), and gives the outcome of each as it comes: `ok`, `failed` (the service said no),
 * `invalid` (never sent: the row breaks a rule of §4, or is no row) or `unknown` (attempts used up without an answer
 * that says so).
 *
 * Rows are read one at a time, and a request is made of each before the next one is read: a source may fill the same
 * object again. At most 64 rows are read before they can be sent. Rows of one user are sent one after the other.
 * Outcomes that are not taken hold rows back. The source is closed when the loop over the outcomes is left, or the run
 * ends.
 *
 * @throws InvalidInputError at the call, for an option that is out of range
 * @throws RejectedError, NoAnswerError from the loop, where all rows would fare the same: a refused signature, an
 * unknown app, a service that is not there. A row without an outcome was not written then, or not certainly.
 * @throws RetryLaterError from the loop, where the service asks by `Retry-After` for a longer pause than the time-out of
 * an attempt and 5 minutes
 * @throws CancelledError from the loop, where the signal ended the run; its `received` says whether a row without an
 * outcome may have been written
 */
export function passbackAll<Row extends PassbackInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: AllRowsOptions,
): AsyncGenerator<PassbackOutcome<Row>, void> {
  const prepare = (row: Row) => ({ request: checkedPassback(row, true), user: userOf(row) });
  return sendAll('passback', rows, prepare, options) as AsyncGenerator<PassbackOutcome<Row>, void>;
}

/**
 * Reads with many codes (§4.1), as `passbackAll` passes back. A code is sent again only where it is certain that it
 * was not used.
 *
 * @throws the same errors as `passbackAll`
 */
export function readAll<Row extends ReadInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: AllRowsOptions,
): AsyncGenerator<ReadOutcome<Row>, void> {
  const prepare = (row: Row) => ({ request: checkedRead(row, true), user: null });
  return sendAll('read', rows, prepare, options) as AsyncGenerator<ReadOutcome<Row>, void>;
}

/** Checks the options now; the rows are read once the outcomes are asked for. */
function sendAll<Row>(
  operation: 'read' | 'passback',
  rows: Iterable<Row> | AsyncIterable<Row>,
  prepare: (row: Row) => PreparedRow,
  options: AllRowsOptions,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  checkClientOptions(options, 'the options of many rows', {
    concurrency: isCount,
    ratePerSecond: isRate,
    signal: isSignal,
  });
  const { concurrency, ratePerSecond, signal, ...client } = options;
  const pacing: Pacing = {
    concurrency: concurrency ?? defaults.concurrency,
    ratePerSecond: ratePerSecond ?? null,
    attempts: client.attempts ?? defaults.attempts,
    timeoutMs: client.timeoutMs ?? defaults.timeoutMs,
  };
  const sender = new Sender({ connections: pacing.concurrency, ...client });
  return outcomesOf(operation, new RowReader(rows, prepare), sender, pacing, signal);
}

async function* outcomesOf<Row>(
  operation: 'read' | 'passback',
  rows: RowReader<Row>,
  sender: Sender,
  pacing: Pacing,
  signal: AbortSignal | undefined,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  const queue = new OutcomeQueue<TakenRow<Row>>();
  const engine = new RowEngine(rows, {
    ...pacing,
    operation,
    sender,
    batchesAhead: rows.batchesAhead,
    prepare: ({ prepared }) => {
      if (prepared instanceof InvalidInputError) throw prepared;
      return prepared;
    },
    sizeOf: () => 0,
    listener: queue,
    now: () => performance.now(),
    random: Math.random,
  });
  const stop = () => engine.stop();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  const end = engine.run().finally(() => queue.end());
  end.catch(() => {}); // it is thrown below, once the outcomes are taken
  try {
    for (let outcomes = await queue.takeAll(); outcomes !== null; outcomes = await queue.takeAll()) {
      // Not by `yield*`, which makes several promises for each.
      for (const outcome of outcomes) {
        const { row, index } = outcome.row;
        yield { ...outcome, row, index };
      }
      engine.resume();
    }
    const isComplete = await end;
    if (!isComplete) {
      const hint = `Rows without an outcome were not carried out${engine.isInDoubt ? ', or not certainly' : ''}.`;
      throw new CancelledError(signal?.reason, engine.isInDoubt, hint);
    }
  } finally {
    // Whoever takes no more outcomes wants no more rows sent.
    stop();
    signal?.removeEventListener('abort', stop);
    await end.catch(() => {});
    await sender.drop();
  }
}

function userOf({ unionId, primaryKey, userInfo }: PassbackInput): string | null {
  if (unionId) return unionId;
  if (!primaryKey) return null;
  const value = Object.hasOwn(userInfo, primaryKey) ? userInfo[primaryKey] : undefined;
  return value === undefined ? null : String(value);
}

/** While so many outcomes wait to be taken, no more rows are sent. */
const maxWaiting = 1024;

/** The outcomes of a run that wait to be taken, in the order in which they came. */
class OutcomeQueue<Row> implements EngineListener<Row> {
  #outcomes: RowOutcome<Row>[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  onOutcome(outcome: RowOutcome<Row>): void {
    this.#outcomes.push(outcome);
    this.#wake();
  }

  isFull(): boolean {
    return this.#outcomes.length >= maxWaiting;
  }

  /** No more will come. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Waits until there are outcomes, and takes them all; `null` once no more will come. */
  async takeAll(): Promise<readonly RowOutcome<Row>[] | null> {
    while (this.#outcomes.length === 0) {
      if (this.#isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }
}
