import { endpointNamed, type OperationName } from '../../core/contract/endpoints.js';
import { InvalidInputError, UserInfoError } from '../../core/contract/errors.js';
import { checkMembers, mustBeCount, mustBeRate, type Shape } from '../../core/contract/members.js';
import { leadToCaller } from '../../core/support/errors.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { PassbackAnswer, ReadAnswer } from '../call/answer.js';
import type { CallClient, UnderWay } from '../call/call-client.js';
import { CancelledError, NoAnswerError } from '../call/errors.js';
import { callHeaders } from '../call/header-values.js';
import { type CallOptions, callMembers, clientDefaults } from '../call/options.js';
import {
  buildCheckedPassback,
  buildRead,
  type PassbackInput,
  type ReadInput,
} from '../call/request.js';
import type { Pacing } from './flow-control.js';
import type { RowOutcome } from './outcome.js';
import { RowEngine } from './row-engine.js';
import type { SourceRow } from './row-feed.js';
import type { PreparedRow } from './row-queue.js';

/** A row as it was read, with its request, or the reason why it has none. */
interface TakenRow<Row> extends SourceRow {
  readonly row: Row;
  /** Counted from 0. */
  readonly index: number;
  readonly prepared: PreparedRow | InvalidInputError;
}

/**
 * Reads the rows of a program's iterable one at a time. The request of each is built before the
 * next row is read.
 *
 * @throws InvalidInputError for rows that cannot be iterated
 */
function rowsOf<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  prepare: (row: Row) => PreparedRow,
): AsyncIterator<readonly TakenRow<Row>[], undefined> {
  if (!isIterable(rows))
    throw new InvalidInputError('the rows are not an iterable or an async iterable');
  let index = 0;
  const source =
    Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  // Not a generator: its `return` would wait for a source that is reading a row.
  return {
    async next() {
      const { done, value: row } = await source.next();
      if (done) return { done, value: undefined };
      const prepared = preparedOrFault(row, prepare);
      // The size is not known: only the number of rows limits how many are read ahead.
      return { value: [{ row, index: index++, size: 0, prepared }] };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** An invalid row concerns that row alone. */
function preparedOrFault<Row>(
  row: Row,
  prepare: (row: Row) => PreparedRow,
): PreparedRow | InvalidInputError {
  try {
    return prepare(row);
  } catch (cause) {
    if (cause instanceof InvalidInputError) return cause;
    return new InvalidInputError('the row cannot be read', { cause });
  }
}

function isIterable(rows: unknown): boolean {
  return (
    typeof rows === 'object' &&
    rows !== null &&
    (Symbol.asyncIterator in rows || Symbol.iterator in rows)
  );
}

/**
 * Options of `passbackAll` and `readAll`: how fast they send, and how they end. The options that a
 * call has too apply to each row.
 */
export interface BulkRunOptions
  extends Pick<CallOptions, 'attempts' | 'attemptTimeoutMs' | 'headers' | 'context'> {
  /**
   * Maximum number of requests under way at once; fewer if the service is slow or throttles. Not
   * more than `connections` of the client.
   *
   * @default 32
   */
  readonly concurrency?: number;
  /**
   * Maximum number of requests a second.
   *
   * @default unlimited
   */
  readonly ratePerSecond?: number;
  /**
   * Ends the run: no more rows are read, those under way are awaited and their outcomes yielded;
   * then a CancelledError is thrown, unless every row has its outcome.
   *
   * @default none
   */
  readonly signal?: AbortSignal;
}

/** A row's outcome, and the index of the row in the source. */
type IndexedOutcome<Outcome> = Outcome & {
  /** Counted from 0. Distinguishes rows that are the same object, or equal. */
  readonly index: number;
};

/** The outcome of a row that is passed back. */
export type PassbackOutcome<Row> = IndexedOutcome<RowOutcome<Row, PassbackAnswer>>;

/** The outcome of a row that is read. */
export type ReadOutcome<Row> = IndexedOutcome<RowOutcome<Row, ReadAnswer<NamesOf<Row>>>>;

/** The names that a row requests; none for rows without `infoNames`. */
type NamesOf<Row> = Row extends { readonly infoNames: readonly (infer Name extends string)[] }
  ? Name
  : Row extends { readonly infoNames?: readonly (infer Name extends string)[] }
    ? Name
    : never;

/** Rows of a passback; the types of `userInfo` may be interfaces. */
export type PassbackRow = { readonly userInfo: object };

/**
 * What the rows of `passbackAll` have to be besides; where they are not an input of a passback, the
 * compiler says why.
 */
export type OfPassbackRows<Row extends PassbackRow> = [Row] extends [PassbackInput<Row['userInfo']>]
  ? unknown
  : Iterable<PassbackInput<Row['userInfo']>> | AsyncIterable<PassbackInput<Row['userInfo']>>;

/** The requests of rows, by operation. */
const prepareRow: Readonly<Record<OperationName, (row: unknown) => PreparedRow>> = {
  passback(row) {
    const input = row as PassbackInput;
    return { request: buildCheckedPassback(input, true), user: userOf(input) };
  },
  read(row) {
    return { request: buildRead(row as ReadInput, true), user: null };
  },
};

/** A run takes as long as its rows: of the options of a call it has all but `timeoutMs`. */
const { timeoutMs: _, ...memberChecks } = callMembers.members;

const bulkMembers: Shape<BulkRunOptions> = {
  what: 'the options of many rows',
  members: { concurrency: mustBeCount, ratePerSecond: mustBeRate, ...memberChecks },
};

/** While this many outcomes wait for the caller, no more rows are sent. */
const maxWaiting = 1024;

const defaultConcurrency = 32;

/**
 * Sends many rows over the connections of a client. Checks the options now; reads rows once
 * outcomes are requested.
 *
 * @throws InvalidInputError for an invalid option, for rows that cannot be iterated, or if the
 * client is closed
 */
export function sendAll<Row>(
  operation: OperationName,
  rows: Iterable<Row> | AsyncIterable<Row>,
  client: CallClient,
  options: BulkRunOptions,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  checkMembers(bulkMembers, options);
  client.refuseIfClosed();
  const source = rowsOf(rows, prepareRow[operation]);
  const headers = callHeaders(options.headers);
  return outcomesOf({ operation, source, client, options, headers });
}

/** What a run of many rows is made of. */
interface RunInput<Row> {
  readonly operation: OperationName;
  readonly source: AsyncIterator<readonly TakenRow<Row>[], undefined>;
  readonly client: CallClient;
  readonly options: BulkRunOptions;
  /** The headers of each request, by their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** The outcomes of a run, which begins when the caller asks for the first of them. */
async function* outcomesOf<Row>(
  input: RunInput<Row>,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  input.client.refuseIfClosed();
  const run = new BulkRun(input);
  run.start();
  try {
    for (;;) {
      const outcomes = run.takeOutcomes();
      // `yield*` would create several promises for each.
      for (const outcome of outcomes) {
        const { row, index } = outcome.row;
        if (outcome.outcome !== 'ok') leadToCaller(outcome.error, outcomesOf);
        yield { ...outcome, row, index };
      }
      if (outcomes.length > 0) run.resume();
      else if (run.isOver) break;
      else await run.nextOutcome();
    }
    await run.complete();
  } catch (error) {
    if (error instanceof UserInfoError) leadToCaller(error, outcomesOf);
    throw error;
  } finally {
    // A caller that leaves the loop wants no more rows sent.
    await run.leave();
  }
}

/** A run of many rows, whose outcomes wait until they are taken. */
class BulkRun<Row> {
  readonly #operation: OperationName;
  readonly #client: CallClient;
  readonly #signal: AbortSignal | undefined;
  readonly #engine: RowEngine<TakenRow<Row>>;
  /** The outcomes that the caller has not taken yet. */
  #waiting: RowOutcome<TakenRow<Row>>[] = [];
  #isOver = false;
  /** Resolves the promise of `nextOutcome`. */
  #wake = () => {};
  readonly #stop = () => this.#engine.stop();
  /** Resolves to whether each row has its outcome. */
  #ended: Promise<boolean> = Promise.resolve(false);

  constructor({ operation, source, client, options, headers }: RunInput<Row>) {
    this.#operation = operation;
    this.#client = client;
    this.#signal = options.signal;
    this.#engine = new RowEngine(source, {
      ...pacingOf(client.options, options),
      sender: client,
      context: options.context,
      headers,
      prepare: ({ prepared }) => {
        if (prepared instanceof InvalidInputError) throw prepared;
        return prepared;
      },
      listener: {
        onOutcome: (outcome) => {
          this.#waiting.push(outcome);
          this.#wake();
        },
        isFull: () => this.#waiting.length >= maxWaiting,
      },
    });
  }

  /** Begins to read and send rows. */
  start(): void {
    this.#signal?.addEventListener('abort', this.#stop, { once: true });
    if (this.#signal?.aborted) this.#stop();
    const work: UnderWay = { end: new AbortController(), stop: this.#stop };
    work.end.signal.addEventListener('abort', () => this.#engine.cancel(), { once: true });
    this.#ended = this.#engine.run().finally(() => {
      this.#isOver = true;
      this.#client.untrack(work);
      this.#wake();
    });
    this.#client.track(work, this.#ended);
    this.#ended.catch(() => {}); // `complete` throws it, after the outcomes
  }

  /** Whether no more outcomes come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The outcomes that came since the last call. */
  takeOutcomes(): readonly RowOutcome<TakenRow<Row>>[] {
    const outcomes = this.#waiting;
    this.#waiting = [];
    return outcomes;
  }

  /** Sends further rows, now that there is room for their outcomes. */
  resume(): void {
    this.#engine.resume();
  }

  /** Resolves when an outcome has come, or the run is over. */
  nextOutcome(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Awaits the end of the run.
   *
   * @throws RejectedError, NoAnswerError, RetryLaterError, or what the source of rows threw: what
   * ended the run
   * @throws CancelledError if the signal or `close` of the client ended it
   */
  async complete(): Promise<void> {
    const isComplete = await this.#ended.catch((error: unknown) => {
      if (error instanceof NoAnswerError) error.setDetails({ operation: this.#operation });
      throw error;
    });
    if (!isComplete) throw this.#cancelled();
  }

  /** Sends no more rows, and awaits those under way. */
  async leave(): Promise<void> {
    this.#stop();
    this.#signal?.removeEventListener('abort', this.#stop);
    await this.#ended.catch(() => {});
  }

  #cancelled(): CancelledError {
    const { isInDoubt, openRequests } = this.#engine;
    const hint = isInDoubt
      ? 'Rows without an outcome were not carried out, or not certainly.'
      : 'Rows without an outcome were not carried out.';
    const isAborted = this.#signal?.aborted === true;
    const reason = isAborted ? this.#signal?.reason : new Error('the client was closed');
    const { repeatable } = endpointNamed[this.#operation];
    return new CancelledError(reason, isInDoubt, hint).setDetails({
      operation: this.#operation,
      attempts: openRequests,
      retryable: !isInDoubt || repeatable,
    });
  }
}

/** The limits of a run: its own options, else those of the client, else the defaults. */
function pacingOf(client: CallClient['options'], run: BulkRunOptions): Pacing {
  const { timeoutMs, attempts, connections } = { ...clientDefaults, ...withoutUndefined(client) };
  const maxConnections = client.dispatcher === undefined ? connections : Number.POSITIVE_INFINITY;
  return {
    concurrency: Math.min(run.concurrency ?? defaultConcurrency, maxConnections),
    ratePerSecond: run.ratePerSecond ?? null,
    attempts: run.attempts ?? attempts,
    timeoutMs: run.attemptTimeoutMs ?? client.attemptTimeoutMs ?? timeoutMs,
  };
}

/** The user that a row names, so that rows of one user are sent in order; `null` if unnamed. */
function userOf({ unionId, primaryKey, userInfo }: PassbackInput): string | null {
  if (unionId) return unionId;
  if (!primaryKey || !Object.hasOwn(userInfo, primaryKey)) return null;
  const value = userInfo[primaryKey];
  return value === undefined ? null : String(value);
}
