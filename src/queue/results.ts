import type { ResultsSink } from '../bulk/files/append-file.js';
import type { FailedFile } from '../bulk/files/failed-file.js';
import { placeOutcome } from '../bulk/files/result-line.js';
import { passbackRows, type RowOperation } from '../bulk/operations.js';
import type { OutcomeCounts } from '../bulk/outcome.js';
import { NdjsonFormat } from '../bulk/source/ndjson.js';
import type { FileRow, RowFormat } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { readOutcomes } from './outcomes.js';
import type { Queue } from './queue.js';
import type { QueuedRun } from './run.js';

/** The rows of a run: the queue knows their outcomes, not what they are called. */
export interface ResultRows<Row extends FileRow> {
  readonly format: RowFormat<Row>;
  read(): AsyncIterable<readonly Row[]>;
}

/** The rows of a run that was made to keep them. */
export function keptRows({ chunks }: Queue, { run }: QueuedRun): ResultRows<FileRow & { json: string }> {
  return {
    format: new NdjsonFormat(),
    async *read() {
      for await (const rows of chunks.kept(run)) yield rows.map((row) => ({ ...row, size: row.json.length }));
    },
  };
}

/** How many rows are looked up at once. */
const lookedUpAtOnce = 1000;

/**
 * Writes the results of a run, as a run over its file alone would have: a line for each row that has an outcome, and
 * `failed` with those that are worth trying again. Gives how many have come to each outcome.
 */
export async function writeResults<Row extends FileRow>(
  queue: Queue,
  run: QueuedRun,
  rows: ResultRows<Row>,
  results: ResultsSink,
  failed: FailedFile<Row> | null,
): Promise<OutcomeCounts> {
  const counts = { ok: 0, failed: 0, invalid: 0, unknown: 0 };
  const operation = passbackRows(run.naming);
  for await (const batch of inBatches(rows.read())) {
    const lines = batch.map(({ line }) => line);
    const outcomes = await readOutcomes(queue.driver, run.run, lines);
    let text = '';
    for (const row of batch) {
      const found = outcomes.get(row.line);
      if (found === undefined) continue;
      counts[found.outcome] += 1;
      text += `${placeOutcome(withUser(row, rows.format, operation), operation.userKey, found.result)}\n`;
      if (found.outcome === 'failed' || found.outcome === 'unknown') failed?.add(row);
    }
    results.append(text);
    await roomIn(results);
  }
  results.syncWithName();
  failed?.finish();
  return counts;
}

async function* inBatches<Row>(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  for await (const rows of batches) {
    for (let at = 0; at < rows.length; at += lookedUpAtOnce) yield rows.slice(at, at + lookedUpAtOnce);
  }
}

function withUser<Row extends FileRow>(row: Row, format: RowFormat<Row>, operation: RowOperation): FileRow {
  const { line, size } = row;
  const user = userOf(row, format, operation);
  return { line, size, ...(user === null ? {} : { user }) };
}

/** `null` for a row that cannot be read, whose user is not known in a run over its file either. */
function userOf<Row extends FileRow>(
  row: Row,
  format: RowFormat<Row>,
  operation: RowOperation,
): string | null {
  try {
    return operation.user(format.fields(row));
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}

async function roomIn(results: ResultsSink): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!results.isFull(resolve)) resolve();
  });
}
