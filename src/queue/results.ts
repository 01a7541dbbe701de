import type { ResultsSink } from '../bulk/files/append-file.js';
import type { FailedFile } from '../bulk/files/failed-file.js';
import { placeOutcome } from '../bulk/files/result-line.js';
import { passbackRows, userOf } from '../bulk/operations.js';
import type { OutcomeCounts } from '../bulk/outcome.js';
import { ndjsonFormat } from '../bulk/source/ndjson.js';
import type { FileRow, RowFormat } from '../bulk/source/rows.js';
import { readOutcomes } from './outcomes.js';
import type { Queue } from './queue.js';
import type { QueuedRun } from './run.js';

/** The rows of a run: the queue has their outcomes, but not their users. */
export interface ResultRows<Row extends FileRow> {
  readonly format: RowFormat<Row>;
  read(): AsyncIterable<readonly Row[]>;
}

/** The rows of a run that keeps them in the queue. */
export function keptRows({ chunks }: Queue, { run }: QueuedRun): ResultRows<FileRow & { json: string }> {
  return {
    format: ndjsonFormat,
    async *read() {
      for await (const rows of chunks.kept(run)) yield rows.map((row) => ({ ...row, size: row.json.length }));
    },
  };
}

/** Maximum number of rows in one query. */
const lookedUpAtOnce = 1000;

/**
 * Writes the results of a run, as a run over its file would: a line for each row that has an outcome, and to
 * `failed` the rows that are worth another try.
 *
 * @returns the number of rows with each outcome
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
      const user = userOf(row, rows.format, operation);
      text += `${placeOutcome(row.line, operation.userKey, user, found.result)}\n`;
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

async function roomIn(results: ResultsSink): Promise<void> {
  await new Promise<void>((resolve) => {
    if (!results.isFull(resolve)) resolve();
  });
}
