import { endpointNamed, type OperationName } from '../../core/contract/endpoints.js';
import { InvalidInputError, UserInfoError } from '../../core/contract/errors.js';
import { checkMembers, isCount, isRate, type Shape } from '../../core/contract/members.js';
import { leadToCaller } from '../../core/support/errors.js';
import type { PassbackAnswer, ReadAnswer } from '../call/answer.js';
import type { CallClient } from '../call/client.js';
import { CancelledError, NoAnswerError } from '../call/errors.js';
import { callHeaders } from '../call/header-values.js';
import { type CallOptions, callMembers, clientDefaults } from '../call/options.js';
import {
  checkedPassback,
  type PassbackInput,
  type ReadInput,
  readRequest,
} from '../call/request.js';
import type { RowOutcome } from './outcome.js';
import { rowEngine } from './row-engine.js';
import type { PreparedRow, SourceRow } from './row-queue.js';

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
      return { value: [{ row, index: index++, size: 0, prepared: preparedOrFault(row, prepare) }] };
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
    return cause instanceof InvalidInputError
      ? cause
      : new InvalidInputError('the row cannot be read', { cause });
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
 * How fast `passbackAll` and `readAll` send, and how they end; what a call has too is that of each
 * row.
 */
export interface BulkRunOptions
  extends Pick<CallOptions, 'attempts' | 'attemptTimeoutMs' | 'headers' | 'context'> {
  /**
   * Maximum number of requests under way at once; fewer if the service is slow or throttles. Not
   * more than `connections` of the client. Default: 32.
   */
  readonly concurrency?: number;
  /** Maximum number of requests a second. Default: unlimited. */
  readonly ratePerSecond?: number;
  /**
   * Ends the run: no more rows are read, those under way are awaited and their outcomes yielded;
   * then a CancelledError is thrown, unless every row has its outcome.
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

/** The requests of rows, by the operations that are for many rows. */
const prepareRow = {
  passback(row: unknown): PreparedRow {
    const input = row as PassbackInput;
    return { request: checkedPassback(input, true), user: userOf(input) };
  },
  read(row: unknown): PreparedRow {
    return { request: readRequest(row as ReadInput, true), user: null };
  },
} satisfies Partial<Record<OperationName, unknown>>;

type BulkOperation = keyof typeof prepareRow;

const { timeoutMs: _, ...ofCalls } = callMembers.members;

const bulkMembers: Shape<BulkRunOptions> = {
  what: 'the options of many rows',
  members: { concurrency: isCount, ratePerSecond: isRate, ...ofCalls },
};

/** While this many outcomes wait for the caller, no more rows are sent. */
const maxWaiting = 1024;

/**
 * Sends many rows over the connections of a client. Checks the options now; reads rows once
 * outcomes are requested.
 *
 * @throws InvalidInputError for an invalid option, for rows that cannot be iterated, or if the
 * client is closed
 */
export function sendAll<Row>(
  operation: BulkOperation,
  rows: Iterable<Row> | AsyncIterable<Row>,
  client: CallClient,
  given: BulkRunOptions,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  checkMembers(bulkMembers, given);
  client.refuseIfClosed();
  const { options } = client;
  const { timeoutMs = clientDefaults.timeoutMs, connections = clientDefaults.connections } =
    options;
  const maxConnections = options.dispatcher === undefined ? connections : Number.POSITIVE_INFINITY;
  const { context, signal } = given;
  const taken = rowsOf(rows, prepareRow[operation]);
  const headers = callHeaders(given.headers);
  return outcomes();

  async function* outcomes(): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
    client.refuseIfClosed();
    let isOver = false;
    let waiting: RowOutcome<TakenRow<Row>>[] = [];
    let wake = () => {};
    const engine = rowEngine(taken, {
      concurrency: Math.min(given.concurrency ?? 32, maxConnections),
      ratePerSecond: given.ratePerSecond ?? null,
      attempts: given.attempts ?? options.attempts ?? clientDefaults.attempts,
      timeoutMs: given.attemptTimeoutMs ?? options.attemptTimeoutMs ?? timeoutMs,
      sender: client,
      context,
      headers,
      prepare: ({ prepared }) => {
        if (prepared instanceof InvalidInputError) throw prepared;
        return prepared;
      },
      listener: {
        onOutcome(outcome) {
          waiting.push(outcome);
          wake();
        },
        isFull: () => waiting.length >= maxWaiting,
      },
    });
    const stop = () => engine.stop();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    const run = { end: new AbortController(), stop };
    run.end.signal.addEventListener('abort', () => engine.cancel(), { once: true });
    const end = engine.run().finally(() => {
      isOver = true;
      client.track(run, null);
      wake();
    });
    client.track(run, end);
    end.catch(() => {}); // thrown below, after the outcomes
    try {
      for (;;) {
        const found = waiting;
        waiting = [];
        // `yield*` would create several promises for each.
        for (const outcome of found) {
          const { row, index } = outcome.row;
          if (outcome.outcome !== 'ok') leadToCaller(outcome.error, outcomes);
          yield { ...outcome, row, index };
        }
        if (found.length > 0) engine.resume();
        else if (isOver) break;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      const isComplete = await end.catch((error: unknown) => {
        if (error instanceof UserInfoError) leadToCaller(error, outcomes);
        if (error instanceof NoAnswerError) error.withDetails({ operation });
        throw error;
      });
      if (!isComplete) {
        const isInDoubt = engine.isInDoubt();
        const hint = `Rows without an outcome were not carried out${isInDoubt ? ', or not certainly' : ''}.`;
        const reason = signal?.aborted ? signal.reason : new Error('the client was closed');
        const retryable = !isInDoubt || endpointNamed[operation].repeatable;
        const details = { operation, attempts: engine.openRequests(), retryable };
        throw new CancelledError(reason, isInDoubt, hint).withDetails(details);
      }
    } finally {
      // A caller that leaves the loop wants no more rows sent.
      stop();
      signal?.removeEventListener('abort', stop);
      await end.catch(() => {});
    }
  }
}

function userOf({ unionId, primaryKey, userInfo }: PassbackInput): string | null {
  if (unionId) return unionId;
  if (!primaryKey) return null;
  const value = Object.hasOwn(userInfo, primaryKey) ? userInfo[primaryKey] : undefined;
  return value === undefined ? null : String(value);
}
