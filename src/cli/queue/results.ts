import { FailureGroups } from '../../bulk/failure-groups.js';
import { FailedFile } from '../../bulk/files/failed-file.js';
import { type ResultsSink, streamSink } from '../../bulk/files/recorder.js';
import { placeOutcome } from '../../bulk/files/result-line.js';
import { openResults, requireResults } from '../../bulk/files/results-file.js';
import { lockFiles, refuseSame } from '../../bulk/files/run-files.js';
import { passbackOperation, userOf } from '../../bulk/operations.js';
import { checkedInput, preflight } from '../../bulk/source/checked-input.js';
import { type FileRow, type RowSource, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import type { BulkOptions } from '../bulk/bulk-options.js';
import { openRows, type RowOptions } from '../bulk/row-source.js';
import { describeOutcomes, FailedRowsError, formatRows, notOk } from '../bulk/summary.js';
import { type Io, printMessage } from '../io.js';
import { showData } from '../output/terminal-text.js';
import { queueFlag } from './queue-option.js';

export type ResultsOptions = Partial<Pick<BulkOptions, 'from' | 'results' | 'failed' | 'takeOver' | 'queue'>>;

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
  { from, results, failed, takeOver, queue: url }: ResultsOptions,
): Promise<void> {
  refuseSame({ from, results, failed });
  const release = await lockFiles([results, failed], takeOver);
  let [source, failedFile, sink]: [RowSource?, FailedFile?, ResultsSink?] = [];
  try {
    if (!run.keepsRows || from !== undefined) source = await openRunFile(io, run, from);
    if (results !== undefined) await requireResults(results);
    const isUtf8 = source === undefined || source.text.encoding === 'utf-8';
    if (failed !== undefined) failedFile = new FailedFile({ path: failed, ours: [] }, isUtf8);
    const show = io.stdout.isTTY ? showData : undefined;
    sink = results === undefined ? streamSink(io.stdout, show) : await openResults(results);
    const batches = source === undefined ? queue.rows(run) : readRows(source);
    const failures = await writeRows(queue, run, batches, sink, failedFile);
    sink.syncWithName();
    failedFile?.finish();
    if (run.done === run.rows && run.not_ok === 0) return;
    const summary = describeOutcomes({ counts: run, failures: failures.byRows() });
    for (const line of [`run ${run.run}: ${formatRows(run.rows)}`, ...summary]) await printMessage(io, line);
    throw failedRows(run, queueFlag(url, io.env), failed);
  } finally {
    sink?.close();
    failedFile?.close();
    await source?.input.close();
    release();
  }
}

/** Writes the results lines of rows, and those to retry to `failed`; returns why they are not ok. */
async function writeRows(
  queue: Queue,
  { run, naming }: QueuedRun,
  batches: AsyncIterable<readonly FileRow[]>,
  results: ResultsSink,
  failed: FailedFile | undefined,
): Promise<FailureGroups> {
  const operation = passbackOperation(naming);
  const failures = new FailureGroups();
  for await (const batch of batches) {
    const outcomes = await queue.outcomes(run, batch);
    let text = '';
    for (const row of batch) {
      const found = outcomes.get(row.line);
      if (found === undefined) continue;
      const { outcome, result } = found;
      if (outcome !== 'ok') {
        const { code, msg, error } = JSON.parse(`{${result}}`);
        failures.add(outcome, row.line, { code, text: error ?? msg });
      }
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

/** What is wrong with a run whose rows are not all ok, and what to do about it. */
function failedRows(
  { run, state, rows, done, not_ok, chunks_left }: QueuedRun,
  flag: string,
  failed?: string,
): Error {
  if (done < rows) {
    const advice =
      chunks_left > 0
        ? { hint: 'Use --wait to wait for its end.' }
        : {
            hint: 'Its failed chunks have them. Let workers take those again:',
            commands: [`userinfo runs retry ${run}${flag}`],
          };
    const message = `run ${run} is ${state}: ${formatRows(rows - done)} without an outcome`;
    return new FailedRowsError(message, state === 'ready' ? advice : {});
  }
  const hint =
    failed === undefined
      ? 'Add --failed <file> to get the rows to retry as a file.'
      : `Correct the cause, then pass the rows of ${quoteName(failed)} back.`;
  return new FailedRowsError(notOk(not_ok, rows), { hint });
}

/**
 * Opens the input file of a run: the one that is named, or the one that the run remembers.
 *
 * @throws InvalidInputError if it is not there, or has other contents
 */
async function openRunFile(io: Io, { run, naming, source }: QueuedRun, named?: string): Promise<RowSource> {
  const hint = 'The queue has outcomes without their users: name the input file of the run with --from.';
  const options = { ...source, from: named ?? source.from, forceEncoding: true } as RowOptions;
  const opened = await openRows(io, options, passbackOperation(naming).columns).catch((error) => {
    const isMissing = named === undefined && error instanceof InvalidInputError;
    throw isMissing ? new InvalidInputError(error.message, { hint, cause: error }) : error;
  });
  const { input } = opened;
  const { hash, digest } = await preflight(opened, null);
  if (hash === source.hash) return { ...opened, input: checkedInput(input, digest) };
  await input.close();
  throw new InvalidInputError(`${quoteName(input.name)} is not the file that run ${run} was made of`, {
    hint,
  });
}
