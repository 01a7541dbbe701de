import type { RowOperation } from '../bulk/operations.js';
import type { FileRow, RowFormat } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { type FilledChunk, formatQueuedRow, Lanes } from './lanes.js';
import type { Queue } from './queue.js';
import type { NewRun } from './run.js';

/** Approximate size of one write, in characters. */
const writtenAtOnce = 256 * 1024;

/** Rows that were checked, and are read again. */
export interface RowsToLoad {
  readonly format: RowFormat<FileRow>;
  read(): AsyncIterable<readonly FileRow[]>;
  /** Called with the number of rows so far. */
  onRows(count: number): void;
}

/**
 * Adds rows to a queue as one run, and returns its name: all of them, or none.
 *
 * @throws what reading the rows throws, and an AbortError on `signal`
 */
export async function loadRun(
  queue: Queue,
  given: NewRun,
  operation: RowOperation,
  rows: RowsToLoad,
  signal: AbortSignal,
): Promise<string> {
  const run = await queue.runs.add(given);
  try {
    const lanes = new Lanes(given.rows);
    const count = await addChunks(queue, run, chunksOf(operation, rows, lanes, signal));
    const isReleased = await queue.chunks.release(run, count, lanes.used);
    if (!isReleased) throw new InvalidInputError(`run ${run} was cancelled while it was loaded`);
    return run;
  } catch (error) {
    // If the database is lost as well, the rest can be purged.
    await queue.runs.remove(run).catch(() => {});
    throw error;
  }
}

async function* chunksOf(
  operation: RowOperation,
  { format, read, onRows }: RowsToLoad,
  lanes: Lanes,
  signal: AbortSignal,
): AsyncGenerator<FilledChunk> {
  let count = 0;
  for await (const batch of read()) {
    signal.throwIfAborted();
    for (const row of batch) {
      const fields = format.fields(row);
      const user = operation.user(fields) ?? '';
      const full = lanes.add(user, formatQueuedRow(row.line, fields));
      if (full !== null) yield full;
    }
    count += batch.length;
    onRows(count);
  }
  yield* lanes.rest();
}

async function addChunks(queue: Queue, run: string, chunks: AsyncIterable<FilledChunk>): Promise<number> {
  let waiting: FilledChunk[] = [];
  let length = 0;
  let count = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.body.length;
    count += 1;
    if (length < writtenAtOnce) continue;
    await queue.chunks.add(run, waiting);
    waiting = [];
    length = 0;
  }
  if (waiting.length > 0) await queue.chunks.add(run, waiting);
  return count;
}
