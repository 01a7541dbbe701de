import { AppendFile, type ResultsSink, streamSink } from '../../bulk/files/append-file.js';
import { FailedFile } from '../../bulk/files/failed-file.js';
import { placeOutcome } from '../../bulk/files/result-line.js';
import { lockFiles, refuseSame, requireResults } from '../../bulk/files/run-files.js';
import { passbackRows, userOf } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { ndjsonFormat } from '../../bulk/source/ndjson.js';
import { preflight } from '../../bulk/source/preflight.js';
import { type FileRow, type RowFormat, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows } from '../bulk/row-source.js';
import { FailedRowsError, formatCount, formatRows } from '../bulk/summary.js';
import type { CliContext } from '../context.js';
import type { Io } from '../io.js';
import { showData } from '../output/terminal-text.js';

export interface ResultsOptions {
  readonly from?: string;
  readonly results?: string;
  readonly failed?: string;
}

/** The rows of a run: the queue has their outcomes, but not their users. */
interface ResultRows {
  readonly format: RowFormat<FileRow>;
  readonly isUtf8: boolean;
  read(): AsyncIterable<readonly FileRow[]>;
  close(): Promise<void>;
}

/**
 * Writes the results of a run, as a run over its file would: a line for each row that has an outcome, and to
 * `--failed` the rows to try again.
 *
 * @throws FailedRowsError if a row is not ok
 */
export async function writeResults(
  { io }: CliContext,
  queue: Queue,
  run: QueuedRun,
  { from, results, failed }: ResultsOptions,
): Promise<void> {
  refuseSame({ from, results, failed });
  const isInQueue = run.keepsRows && from === undefined;
  const rows = isInQueue ? keptRows(queue, run) : await openRunFile(io, run, from);
  const release = await lockFiles([results, failed]);
  let failedFile: FailedFile<FileRow> | null = null;
  let sink: ResultsSink | null = null;
  try {
    if (results !== undefined) await requireResults(results);
    if (failed !== undefined) {
      failedFile = new FailedFile({ path: failed, ours: [] }, rows.format, rows.isUtf8);
    }
    sink =
      results === undefined
        ? streamSink(io.stdout, io.stdout.isTTY ? showData : undefined)
        : AppendFile.open(results);
    refuseFailed(run, await writeRows(queue, run, rows, sink, failedFile));
  } finally {
    sink?.close();
    failedFile?.discard();
    release();
    await rows.close();
  }
}

/** Returns the number of rows that are ok, and of those that have an outcome. */
async function writeRows(
  queue: Queue,
  run: QueuedRun,
  { format, read }: ResultRows,
  results: ResultsSink,
  failed: FailedFile<FileRow> | null,
): Promise<{ ok: number; done: number }> {
  const operation = passbackRows(run.naming);
  const counts = { ok: 0, done: 0 };
  for await (const batch of read()) {
    const outcomes = await queue.outcomes(run.run, batch);
    let text = '';
    for (const row of batch) {
      const found = outcomes.get(row.line);
      if (found === undefined) continue;
      counts.done += 1;
      if (found.outcome === 'ok') counts.ok += 1;
      const user = userOf(row, format, operation);
      text += `${placeOutcome(row.line, operation.userKey, user, found.result)}\n`;
      if (found.outcome === 'failed' || found.outcome === 'unknown') failed?.add(row);
    }
    results.append(text);
    await new Promise<void>((resolve) => {
      if (!results.isFull(resolve)) resolve();
    });
  }
  results.syncWithName();
  failed?.finish();
  return counts;
}

/** @throws FailedRowsError if a row of the run is not ok */
function refuseFailed({ run, rows, state }: QueuedRun, { ok, done }: { ok: number; done: number }): void {
  if (ok === rows) return;
  if (done < rows) {
    throw new FailedRowsError(`run ${run} is ${state}: ${formatRows(rows - done)} have no outcome`, {
      ...(state === 'ready' ? { hint: 'Use --wait to wait for its end.' } : {}),
    });
  }
  throw new FailedRowsError(`${formatCount(rows - ok)} of ${formatRows(rows)} are not ok`, {
    hint: 'The results say why, row by row.',
  });
}

function keptRows(queue: Queue, run: QueuedRun): ResultRows {
  return {
    format: ndjsonFormat as RowFormat<FileRow>,
    isUtf8: true,
    async *read() {
      for await (const rows of queue.rows(run)) yield rows.map((row) => ({ ...row, size: row.json.length }));
    },
    async close() {},
  };
}

/**
 * Opens the source file of a run: the one that is named, or the one that the run remembers.
 *
 * @throws InvalidInputError if it is not there, or has other contents
 */
async function openRunFile(io: Io, run: QueuedRun, named: string | undefined): Promise<ResultRows> {
  const { format, delimiter, encoding, types, empty } = run.source;
  const options = {
    from: named ?? run.source.from,
    ...(format === null ? {} : { format: format === 'csv' ? ('csv' as const) : ('ndjson' as const) }),
    ...(delimiter === null ? {} : { delimiter }),
    ...(encoding === null ? {} : { encoding }),
    ...(types === null ? {} : { types }),
    ...(empty === null ? {} : { empty }),
    forceEncoding: true as const,
  };
  const source = await openRows(io, options, passbackRows(run.naming).columns).catch((error) => {
    if (named !== undefined || !(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(error.message, {
      hint: 'The queue has outcomes without their users: name the file of the run with --from.',
      cause: error,
    });
  });
  const { input, format: rowFormat } = source;
  const { hash, digest } = await preflight(source, null);
  if (hash !== run.source.hash) {
    await input.close();
    throw new InvalidInputError(`${quoteName(input.name)} is not the file that run ${run.run} was made of`, {
      hint: 'Results and failed rows are put together with that file: name it with --from.',
    });
  }
  return {
    format: rowFormat,
    isUtf8: source.text.encoding === 'utf-8',
    read: () => readRows({ ...source, input: checkedInput(input, digest) }),
    close: () => input.close(),
  };
}
