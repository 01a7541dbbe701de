import type { PassbackInput, ReadInput, UserInfoClientOptions } from '../../src/index.js';
import { type BulkRunOptions, UserInfoClient } from '../../src/index.js';

/** The options of a run, and of the client that makes it. */
export type RunOptions = UserInfoClientOptions & Omit<BulkRunOptions, 'headers'>;

/** Passes rows back with a client of their own. */
export function passbackAll<Row extends PassbackInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: RunOptions,
) {
  const { client, pace } = clientOf(options);
  return closing(client, client.passbackAll<PassbackInput>(rows, pace));
}

/** Reads codes with a client of their own. */
export function readAll<Row extends ReadInput>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: RunOptions,
) {
  const { client, pace } = clientOf(options);
  return closing(client, client.readAll(rows, pace));
}

function clientOf(options: RunOptions) {
  const { concurrency, ratePerSecond, attempts, attemptTimeoutMs, signal, context, ...others } =
    options;
  const given = { concurrency, ratePerSecond, attempts, attemptTimeoutMs, signal, context };
  const pace = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { client: new UserInfoClient(others), pace: pace as BulkRunOptions };
}

async function* closing<Outcome>(client: UserInfoClient, outcomes: AsyncGenerator<Outcome, void>) {
  try {
    yield* outcomes;
  } finally {
    await client.close();
  }
}
