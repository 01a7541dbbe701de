import { FailureGroups } from '../../bulk/failure-groups.js';
import { AppendFile } from '../../bulk/files/append-file.js';
import { FailedFile } from '../../bulk/files/failed-file.js';
import { type ResultsSink, streamSink } from '../../bulk/files/recorder.js';
import { placeOutcome } from '../../bulk/files/result-line.js';
import { lockFiles, refuseSame, requireResults } from '../../bulk/files/run-files.js';
import { passbackRows, userOf } from '../../bulk/operations.js';
import { checkedInput, preflight } from '../../bulk/source/checked-input.js';
import { type FileRow, type RowSource, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows } from '../bulk/row-source.js';
import { describeOutcomes, FailedRowsError, formatRows, notOk } from '../bulk/summary.js';
import { type Io, printMessage } from '../io.js';
import { showData } from '../output/terminal-text.js';

export interface ResultsOptions {
  readonly from?: string;
  readonly results?: string;
  readonly failed?: string;
}

/**
 * Writes the results of a run, as a run over its file would: a line for each row that has an outcome, and to
 * `--failed` the rows to try again. The queue has the outcomes; the rows with their users come from the input file,
 * unless the queue has kept them.
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
  let [source, failedFile, sink]: [RowSource?, FailedFile?, ResultsSink?] = [];
  try {
    if (!run.keepsRows || from !== undefined) source = await openRunFile(io, run, from);
    if (results !== undefined) await requireResults(results);
    const isUtf8 = source === undefined || source.text.encoding === 'utf-8';
    if (failed !== undefined) failedFile = new FailedFile({ path: failed, ours: [] }, isUtf8);
    const show = io.stdout.isTTY ? showData : undefined;
    sink = results === undefined ? streamSink(io.stdout, show) : AppendFile.open(results);
    const batches = source === undefined ? queue.rows(run) : readRows(source);
    const failures = await writeRows(queue, run, batches, sink, failedFile);
    sink.syncWithName();
    failedFile?.finish();
    await refuseFailed(io, run, failures, failed);
  } finally {
    sink?.close();
    failedFile?.discard();
    await source?.input.close();
    release();
  }
}

async function writeRows(
  queue: Queue,
  { run, naming }: QueuedRun,
  batches: AsyncIterable<readonly FileRow[]>,
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
  const others = rows - counts.ok;
  if (others === 0) return;
  const summary = describeOutcomes({ counts, failures: failures.byRows() });
  for (const line of [`run ${run}: ${formatRows(rows)}`, ...summary]) await printMessage(io, line);
  const left = others - counts.failed - counts.invalid - counts.unknown;
  if (left > 0) {
    const hint = state === 'ready' ? 'Use --wait to wait for its end.' : undefined;
    throw new FailedRowsError(`run ${run} is ${state}: ${formatRows(left)} have no outcome`, { hint });
  }
  const hint =
    failed === undefined
      ? 'Add --failed <file> to get the rows to retry as a file.'
      : `Correct the cause, then pass the rows of ${quoteName(failed)} back.`;
  throw new FailedRowsError(notOk(others, rows), { hint });
}

/**
 * Opens the input file of a run: the one that is named, or the one that the run remembers.
 *
 * @throws InvalidInputError if it is not there, or has other contents
 */
async function openRunFile(io: Io, run: QueuedRun, named: string | undefined): Promise<RowSource> {
  const hint = 'The queue has outcomes without their users: name the input file of the run with --from.';
  const { hash, from, ...options } = run.source;
  const { columns } = passbackRows(run.naming);
  const given = { ...options, from: named ?? from, forceEncoding: true as const };
  const source = await openRows(io, given, columns).catch((error) => {
    const isMissing = named === undefined && error instanceof InvalidInputError;
    throw isMissing ? new InvalidInputError(error.message, { hint, cause: error }) : error;
  });
  const { input } = source;
  const checked = await preflight(source, null);
  if (checked.hash === hash) return { ...source, input: checkedInput(input, checked.digest) };
  await input.close();
  const what = `${quoteName(input.name)} is not the file that run ${run.run} was made of`;
  throw new InvalidInputError(what, { hint });
}
