import { FailureGroups } from '../../bulk/failure-groups.js';
import { AppendFile } from '../../bulk/files/append-file.js';
import { FailedFile } from '../../bulk/files/failed-file.js';
import { type ResultsSink, streamSink } from '../../bulk/files/recorder.js';
import { placeOutcome } from '../../bulk/files/result-line.js';
import { lockFiles, refuseSame, requireResults } from '../../bulk/files/run-files.js';
import { passbackRows, userOf } from '../../bulk/operations.js';
import { checkedInput, preflight } from '../../bulk/source/checked-input.js';
import { type FileRow, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows } from '../bulk/row-source.js';
import { describeOutcomes, FailedRowsError, formatCount, formatRows } from '../bulk/summary.js';
import { type Io, printMessage } from '../io.js';
import { showData } from '../output/terminal-text.js';

export interface ResultsOptions {
  readonly from?: string;
  readonly results?: string;
  readonly failed?: string;
}

/** The rows of a run: the queue has their outcomes, but not their users. */
interface RunRows {
  readonly batches: AsyncIterable<readonly FileRow[]>;
  readonly isUtf8: boolean;
  close(): Promise<void>;
}

/**
 * Writes the results of a run, as a run over its file would: a line for each row that has an outcome, and to
 * `--failed` the rows to try again.
 *
 * @throws FailedRowsError if a row is not ok, once stderr has the reasons
 */
export async function writeResults(
  io: Io,
  queue: Queue,
  run: QueuedRun,
  { from, results, failed }: ResultsOptions,
): Promise<void> {
  refuseSame({ from, results, failed });
  const release = await lockFiles([results, failed]);
  let rows: RunRows | undefined;
  let failedFile: FailedFile | undefined;
  let sink: ResultsSink | undefined;
  try {
    const isInQueue = run.keepsRows && from === undefined;
    rows = isInQueue
      ? { batches: queue.rows(run), isUtf8: true, close: async () => {} }
      : await openRunFile(io, run, from);
    if (results !== undefined) await requireResults(results);
    if (failed !== undefined) failedFile = new FailedFile({ path: failed, ours: [] }, rows.isUtf8);
    const show = io.stdout.isTTY ? showData : undefined;
    sink = results === undefined ? streamSink(io.stdout, show) : AppendFile.open(results);
    const failures = await writeRows(queue, run, rows, sink, failedFile);
    sink.syncWithName();
    failedFile?.finish();
    await refuseFailed(io, run, failures, failed);
  } finally {
    sink?.close();
    failedFile?.discard();
    await rows?.close();
    release();
  }
}

async function writeRows(
  queue: Queue,
  { run, naming }: QueuedRun,
  { batches }: RunRows,
  results: ResultsSink,
  failed: FailedFile | undefined,
): Promise<FailureGroups> {
  const operation = passbackRows(naming);
  const failures = new FailureGroups();
  for await (const batch of batches) {
    const outcomes = await queue.outcomes(run, batch);
    let text = '';
    for (const row of batch) {
      const found = outcomes.get(row.line);
      if (found === undefined) continue;
      const { outcome, result } = found;
      if (outcome !== 'ok') failures.add(outcome, row.line, reasonOf(result));
      if (outcome === 'failed' || outcome === 'unknown') failed?.add(row);
      text += `${placeOutcome(row.line, operation.userKey, userOf(row, operation), result)}\n`;
    }
    results.append(text);
    await new Promise<void>((resolve) => {
      if (!results.isFull(resolve)) resolve();
    });
  }
  return failures;
}

/** Why a row is not ok, from the part of its results line that `formatOutcome` wrote. */
function reasonOf(result: string): { code?: number; text: string } {
  const { code, msg, error } = JSON.parse(`{${result}}`);
  return error === undefined ? { code, text: msg } : { text: error };
}

/** @throws FailedRowsError if a row of the run is not ok */
async function refuseFailed(
  io: Io,
  { run, rows, state, counts }: QueuedRun,
  failures: FailureGroups,
  failed: string | undefined,
): Promise<void> {
  const notOk = rows - counts.ok;
  if (notOk === 0) return;
  const summary = describeOutcomes({ counts, failures: failures.byRows() });
  for (const line of [`run ${run}: ${formatRows(rows)}`, ...summary]) await printMessage(io, line);
  const left = notOk - counts.failed - counts.invalid - counts.unknown;
  if (left > 0) {
    throw new FailedRowsError(`run ${run} is ${state}: ${formatRows(left)} have no outcome`, {
      ...(state === 'ready' ? { hint: 'Use --wait to wait for its end.' } : {}),
    });
  }
  throw new FailedRowsError(
    `${formatCount(notOk)} of ${formatRows(rows)} ${notOk === 1 ? 'is' : 'are'} not ok`,
    {
      hint:
        failed === undefined
          ? 'Add --failed <file> to get the rows to retry as a file.'
          : `Correct the cause, then pass the rows of ${quoteName(failed)} back.`,
    },
  );
}

/**
 * Opens the input file of a run: the one that is named, or the one that the run remembers.
 *
 * @throws InvalidInputError if it is not there, or has other contents
 */
async function openRunFile(io: Io, run: QueuedRun, named: string | undefined): Promise<RunRows> {
  const hint = 'The queue has outcomes without their users: name the input file of the run with --from.';
  const { hash, from, ...options } = run.source;
  const { columns } = passbackRows(run.naming);
  const given = { ...options, from: named ?? from, forceEncoding: true as const };
  const source = await openRows(io, given, columns).catch((error) => {
    const isMissing = named === undefined && error instanceof InvalidInputError;
    throw isMissing ? new InvalidInputError(error.message, { hint, cause: error }) : error;
  });
  const { input, text } = source;
  const checked = await preflight(source, null);
  if (checked.hash !== hash) {
    await input.close();
    const what = `${quoteName(input.name)} is not the file that run ${run.run} was made of`;
    throw new InvalidInputError(what, { hint });
  }
  const batches = readRows({ ...source, input: checkedInput(input, checked.digest) });
  return { batches, isUtf8: text.encoding === 'utf-8', close: () => input.close() };
}
