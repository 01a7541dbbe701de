import { setTimeout as sleep } from 'node:timers/promises';
import type { PassbackAnswer, ReadAnswer } from '../client/client.js';
import { CancelledError, NoAnswerError } from '../client/errors.js';
import { checkMembers, isCount, isRate, isSignal, type Shape } from '../client/members.js';
import { clientMembers, type UserInfoClientOptions } from '../client/options.js';
import { checkedPassback, checkedRead, type PassbackInput, type ReadInput } from '../client/request.js';
import { Sender } from '../client/sender.js';
import { InvalidInputError, UserInfoError } from '../protocol/errors.js';
import { backOffMs } from '../support/back-off.js';
import { leadToCaller } from '../support/errors.js';
import type { Pacing } from './engine/flow-control.js';
import { type EngineOptions, RowEngine } from './engine/row-engine.js';
import type { PreparedRow, SourceRow } from './engine/row-queue.js';
import type { RowOutcome } from './outcome.js';

/** A row as it was read, with its request, or the reason why it has none. */
interface TakenRow<Row> extends SourceRow {
  readonly row: Row;
  /** Counted from 0. */
  readonly index: number;
  readonly prepared: PreparedRow | InvalidInputError;
}

/** Maximum number of rows read at once. */
const batchRows = 32;

/**
 * Reads the rows of a program's iterable. The request of each is built before the next row is read. Rows that are
 * awaited come in batches of one.
 *
 * @throws InvalidInputError for rows that cannot be iterated
 */
function batchesOf<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  prepare: (row: Row) => PreparedRow,
): AsyncIterable<readonly TakenRow<Row>[]> {
  if (!isIterable(rows)) throw new InvalidInputError('the rows are not an iterable or an async iterable');
  const isAsync = Symbol.asyncIterator in rows;
  const source = isAsync ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const batchSize = isAsync ? 1 : batchRows;
  let count = 0;
  let thrown: { readonly error: unknown } | null = null;
  const take = (row: Row): TakenRow<Row> => {
    const index = count;
    count += 1;
    return { row, index, size: 0, prepared: preparedOrFault(row, prepare) };
  };
  // Not a generator: its `return` would wait for a source that is reading a row.
  const iterator: AsyncIterator<readonly TakenRow<Row>[], undefined> = {
    /** Throws what the source throws after the rows before it were returned. */
    async next() {
      const batch: TakenRow<Row>[] = [];
      while (batch.length < batchSize && thrown === null) {
        try {
          const next = source.next();
          const { done, value } = isAsync ? await next : (next as IteratorResult<Row>);
          if (done) break;
          batch.push(take(value));
        } catch (error) {
          thrown = { error };
        }
      }
      if (batch.length > 0) return { done: false, value: batch };
      if (thrown !== null) throw thrown.error;
      return { done: true, value: undefined };
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** An invalid row concerns that row alone. */
function preparedOrFault<Row>(row: Row, prepare: (row: Row) => PreparedRow): PreparedRow | InvalidInputError {
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
    typeof rows === 'object' && rows !== null && (Symbol.asyncIterator in rows || Symbol.iterator in rows)
  );
}

/**
 * Where many rows are sent, with which app, and how fast.
 *
 * @example
 * const allOptions: AllRowsOptions = { ...options, concurrency: 16, ratePerSecond: 200 };
 */
export interface AllRowsOptions extends UserInfoClientOptions {
  /** Maximum number of requests under way at once; fewer if the service is slow or throttles. Default: 32. */
  readonly concurrency?: number;
  /**
   * Maximum number of open connections. Default: `concurrency`. A service may close those past a limit of its own; what
   * was sent on them has the outcome `unknown`. `userinfo serve` accepts 1000.
   */
  readonly connections?: number;
  /** Maximum number of requests a second. Default: unlimited. */
  readonly ratePerSecond?: number;
  /** Time-out of one attempt, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** The app secret, or a function that returns it: it is called before the first row, then once a second. */
  readonly appSecret: UserInfoClientOptions['appSecret'];
  /** Any value, such as the ID of a job of your own: hooks receive it with each request of the run. */
  readonly context?: unknown;
  /**
   * Ends the run: no more rows are read, those under way are awaited and their outcomes yielded; then a
   * CancelledError is thrown, unless every row has its outcome.
   */
  readonly signal?: AbortSignal;
}

/** A row's outcome, and the index of the row in the source. */
type IndexedOutcome<Outcome> = Outcome & {
  /** Counted from 0. Distinguishes rows that are the same object, or equal. */
  readonly index: number;
};

/**
 * The outcome of a row that is passed back.
 *
 * @example
 * const isLost = ({ outcome }: PassbackOutcome<PassbackInput>) => outcome === 'unknown';
 */
export type PassbackOutcome<Row> = IndexedOutcome<RowOutcome<Row, PassbackAnswer['envelope']>>;

/**
 * The outcome of a row that is read.
 *
 * @example
 * const userOf = (row: ReadOutcome<ReadInput>) => (row.outcome === 'ok' ? row.answer.data.union_id : null);
 */
export type ReadOutcome<Row> = IndexedOutcome<RowOutcome<Row, ReadAnswer<NamesOf<Row>>['envelope']>>;

/** The names that a row requests; none for rows without `infoNames`. */
type NamesOf<Row> = Row extends { readonly infoNames: readonly (infer Name extends string)[] }
  ? Name
  : Row extends { readonly infoNames?: readonly (infer Name extends string)[] }
    ? Name
    : never;

const defaults = { concurrency: 32, attempts: 3, timeoutMs: 10_000 } as const;

/**
 * Passes back many rows (§4.2), and yields the outcome of each as it arrives: `ok`, `failed` (refused by the
 * service), `invalid` (never sent: the row breaks a rule of §4, or is not a row) or `unknown` (all attempts ended
 * without an answer that says whether it was written).
 *
 * Rows are read one at a time, and the request of each is built before the next one is read: a source may reuse
 * one object. At most 64 rows are read before they can be sent. Rows of one user are sent one after the other.
 * Outcomes that are not consumed hold back further rows. The source is closed when the loop over the outcomes is
 * left, or the run ends.
 *
 * @throws InvalidInputError at the call, for an option that is out of range
 * @throws RejectedError, NoAnswerError from the loop, for an error that concerns every row: a refused signature,
 * an unknown app, a service that cannot be reached. A row without an outcome was not written then, or it is not
 * certain.
 * @throws RetryLaterError from the loop, if `Retry-After` asks for a pause longer than the time-out of an attempt
 * and than 5 minutes
 * @throws CancelledError from the loop, if the signal ended the run; its `received` says whether a row without an
 * outcome may have been written
 * @example
 * const rows = [{ unionId: 'u1', userInfo: { acme_level: 'gold' } }];
 * for await (const { row, outcome } of passbackAll(rows, { ...options, ratePerSecond: 200 })) {
 *   if (outcome !== 'ok') console.warn(row.unionId, outcome);
 * }
 */
export function passbackAll<Row extends AnyRow>(
  rows: (Iterable<Row> | AsyncIterable<Row>) & OfPassbackRows<Row>,
  options: AllRowsOptions,
): AsyncGenerator<PassbackOutcome<Row>, void> {
  const prepare = (row: Row) => {
    const input = row as unknown as PassbackInput;
    return { request: checkedPassback(input, true), user: userOf(input) };
  };
  return sendAll(rows, prepare, options) as AsyncGenerator<PassbackOutcome<Row>, void>;
}

type AnyRow = { readonly userInfo: object };

/** Rows whose `userInfo` may be an interface; `never` if they are no input of a passback. */
type OfPassbackRows<Row extends AnyRow> = [Row] extends [PassbackInput<Row['userInfo']>] ? unknown : never;

/**
 * Reads with many codes (§4.1), in the same way as `passbackAll`. A code is sent again only if it is certain that
 * it was not used.
 *
 * @throws the same errors as `passbackAll`
 * @example
 * for await (const one of readAll([{ code, infoNames: ['mobile'] }], options)) {
 *   if (one.outcome === 'ok') console.log(one.answer.data.mobile);
 * }
 */
export function readAll<Row extends ReadInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: AllRowsOptions,
): AsyncGenerator<ReadOutcome<Row>, void> {
  const prepare = (row: Row) => ({ request: checkedRead(row, true), user: null });
  return sendAll(rows, prepare, options) as AsyncGenerator<ReadOutcome<Row>, void>;
}

const allRowsOptions: Shape<AllRowsOptions> = {
  ...clientMembers,
  what: 'the options of many rows',
  members: {
    ...clientMembers.members,
    concurrency: isCount,
    ratePerSecond: isRate,
    signal: isSignal,
    context: () => null,
  },
};

/** Checks the options now; reads rows once outcomes are requested. */
function sendAll<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  prepare: (row: Row) => PreparedRow,
  options: AllRowsOptions,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  checkMembers(allRowsOptions, options);
  const { concurrency, ratePerSecond, signal, context, ...client } = options;
  const pacing: Pacing = {
    concurrency: concurrency ?? defaults.concurrency,
    ratePerSecond: ratePerSecond ?? null,
    attempts: client.attempts ?? defaults.attempts,
    timeoutMs: client.timeoutMs ?? defaults.timeoutMs,
  };
  const sender = new Sender({ connections: pacing.concurrency, ...client });
  return outcomesOf(batchesOf(rows, prepare), { ...pacing, sender, context }, signal);
}

/** While this many outcomes wait for the caller, no more rows are sent. */
const maxWaiting = 1024;

/** Minimum and maximum time between two calls of a function that returns the app secret, in milliseconds. */
const secretMs = { least: 1_000, most: 30_000 } as const;

/**
 * Has the app secret fetched until the run ends; `onSecret` is called when it is there. A function that fails, or takes
 * longer than an attempt may, is called again after longer and longer pauses: meanwhile the run goes on with the secret
 * that it has.
 *
 * @throws NoAnswerError if the first secret cannot be fetched in as many calls as a row has attempts
 */
async function keepSecret(
  sender: Sender,
  { attempts, timeoutMs }: Pick<Pacing, 'attempts' | 'timeoutMs'>,
  ended: AbortSignal,
  onSecret: () => void,
): Promise<void> {
  let failures = 0;
  while (!ended.aborted) {
    const fetched = sender.prepare(timeoutMs);
    try {
      await fetched;
      failures = 0;
      onSecret();
    } catch (error) {
      failures += 1;
      if (!(error instanceof NoAnswerError)) throw error;
      if (!sender.hasSecret && failures >= attempts) throw error;
      if (sender.hasSecret) sender.hooks.warnOfSecret(error.message);
    }
    if (fetched === undefined) return;
    const pauseMs = sender.hasSecret
      ? Math.min(secretMs.most, secretMs.least * 2 ** failures)
      : backOffMs(failures - 1, Math.random);
    await sleep(pauseMs, undefined, { signal: ended }).catch(() => {});
  }
}

async function* outcomesOf<Row>(
  rows: AsyncIterable<readonly TakenRow<Row>[]>,
  options: Pacing & Pick<EngineOptions<Row>, 'sender' | 'context'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<IndexedOutcome<RowOutcome<Row>>, void> {
  let waiting: RowOutcome<TakenRow<Row>>[] = [];
  let isOver = false;
  let wake = () => {};
  const { sender } = options;
  const engine = new RowEngine(rows, {
    ...options,
    prepare: ({ prepared }) => {
      if (prepared instanceof InvalidInputError) throw prepared;
      return prepared;
    },
    listener: {
      onOutcome(outcome) {
        waiting.push(outcome);
        wake();
      },
      isFull: () => !sender.hasSecret || waiting.length >= maxWaiting,
    },
  });
  const ended = new AbortController();
  const stop = () => engine.stop();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  else keepSecret(sender, options, ended.signal, () => engine.resume()).catch((error) => engine.stop(error));
  const end = engine.run().finally(() => {
    isOver = true;
    wake();
  });
  end.catch(() => {}); // thrown below, after the outcomes
  try {
    for (;;) {
      const outcomes = waiting;
      waiting = [];
      // `yield*` would create several promises for each.
      for (const outcome of outcomes) {
        const { row, index } = outcome.row;
        if (outcome.outcome !== 'ok') leadToCaller(outcome.error, outcomesOf);
        yield { ...outcome, row, index };
      }
      if (outcomes.length > 0) engine.resume();
      else if (isOver) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    const isComplete = await end.catch((error: unknown) => {
      if (error instanceof UserInfoError) leadToCaller(error, outcomesOf);
      throw error;
    });
    if (!isComplete) {
      const hint = `Rows without an outcome were not carried out${engine.isInDoubt ? ', or not certainly' : ''}.`;
      throw new CancelledError(signal?.reason, engine.isInDoubt, hint);
    }
  } finally {
    // A caller that leaves the loop wants no more rows sent.
    stop();
    ended.abort();
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
