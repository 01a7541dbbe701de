import type { PassbackAnswer, ReadAnswer } from '../client/client.js';
import type { UserInfoClientOptions } from '../client/options.js';
import { givenPassback, givenRead, type PassbackInput, type ReadInput } from '../client/request.js';
import { Sender } from '../client/sender.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { PreparedRow } from './engine/open-row.js';
import { RowEngine } from './engine/row-engine.js';
import type { RowOutcome } from './outcome.js';
import { OutcomeQueue } from './outcome-queue.js';
import { toBatches } from './row-batches.js';

/** Where many rows go, as whom, and how fast. */
export interface AllRowsOptions extends UserInfoClientOptions {
  /** Requests under way at once, at the most; fewer where the service is slow or throttles. 32 unless given. */
  readonly concurrency?: number;
  /** Requests a second, at the most; as many as go unless given. */
  readonly ratePerSecond?: number;
  /** Takes no more rows once it is aborted; those under way are awaited, and the outcomes end without an error. */
  readonly signal?: AbortSignal;
}

/** What becomes of a row that is passed back. */
export type PassbackOutcome<Row> = RowOutcome<Row, PassbackAnswer['envelope']>;

/** What becomes of a row that is read. */
export type ReadOutcome<Row> = RowOutcome<Row, ReadAnswer['envelope']>;

const defaults = { concurrency: 32, attempts: 3, timeoutMs: 10_000 } as const;

/**
 * Passes many rows back (§4.2), and gives the outcome of each as it comes: `ok`, `failed` (the service said no),
 * `invalid` (never sent) or `unknown` (attempts used up without an answer that says so). `timeoutMs` is for one attempt.
 * Rows are taken as they can be sent, and rows of one user one after the other; outcomes that are not taken hold rows
 * back.
 *
 * Ends with a RejectedError or a NoAnswerError where all rows would fare the same: a refused signature, an unknown
 * app, a service that is not there. A row that has had no outcome by then was not written, or not certainly.
 */
export function passbackAll<Row extends PassbackInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: AllRowsOptions,
): AsyncGenerator<PassbackOutcome<Row>, void> {
  const prepare = (row: Row) => ({ request: givenPassback(row, true), user: userOf(row) });
  return sendAll('passback', rows, prepare, options) as AsyncGenerator<PassbackOutcome<Row>, void>;
}

/**
 * Reads with many codes (§4.1), as `passbackAll` passes back. A code is sent again only where it is certain that it
 * was not used.
 */
export function readAll<Row extends ReadInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: AllRowsOptions,
): AsyncGenerator<ReadOutcome<Row>, void> {
  const prepare = (row: Row) => ({ request: givenRead(row, true), user: null });
  return sendAll('read', rows, prepare, options) as AsyncGenerator<ReadOutcome<Row>, void>;
}

async function* sendAll<Row>(
  operation: 'read' | 'passback',
  rows: Iterable<Row> | AsyncIterable<Row>,
  prepare: (row: Row) => PreparedRow,
  options: AllRowsOptions,
): AsyncGenerator<RowOutcome<Row>, void> {
  const { concurrency = defaults.concurrency, ratePerSecond = null, signal, ...client } = options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new InvalidInputError(`a concurrency of ${concurrency} is not possible`);
  }
  const sender = new Sender({ connections: concurrency, ...client });
  const queue = new OutcomeQueue<Row>();
  const engine = new RowEngine(toBatches(rows), {
    operation,
    sender,
    prepare,
    sizeOf: () => 0,
    concurrency,
    ratePerSecond,
    attempts: options.attempts ?? defaults.attempts,
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
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
      for (const outcome of outcomes) yield outcome;
      engine.resume();
    }
    await end;
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
