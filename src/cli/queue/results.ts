import { FailureGroups } from '../../bulk/failure-groups.js';
import { type FailedFile, failedFile } from '../../bulk/files/failed-file.js';
import { openResults, type ResultsSink } from '../../bulk/files/recorder.js';
import { formatResult } from '../../bulk/files/result-line.js';
import { refuseUnusable } from '../../bulk/files/run-files.js';
import { lockFiles } from '../../bulk/files/run-locks.js';
import { passbackOperation, userOf } from '../../bulk/operations.js';
import { checkedInput, preflight } from '../../bulk/source/checked-input.js';
import { type RowSource, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import type { BulkOptions } from '../bulk/bulk-options.js';
import { openRows, type RowOptions } from '../bulk/row-source.js';
import { FailedRowsError, formatNotOk, formatOutcomes, formatRows } from '../bulk/run-report.js';
import { type Io, printMessage } from '../io.js';
import { showData } from '../output/terminal-text.js';
import { queueFlag } from '../service/database.js';

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
  { from, results, failed: failedPath, takeOver, queue: url }: ResultsOptions,
): Promise<void> {
  refuseUnusable({ from, results, failed: failedPath });
  const release = await lockFiles([results, failedPath], takeOver);
  let [source, failed, sink]: [RowSource?, FailedFile?, ResultsSink?] = [];
  try {
    if (!run.keepsRows || from !== undefined) source = await openRunFile(io, run, from);
    const isUtf8 = source === undefined || source.text.encoding === 'utf-8';
    if (failedPath !== undefined) failed = failedFile({ path: failedPath, ours: [] }, isUtf8);
    sink = openResults(results, io.stdout, io.stdout.isTTY ? showData : undefined);
    const operation = passbackOperation(run.naming);
    const failures = new FailureGroups();
    for await (const batch of source === undefined ? queue.rows(run) : readRows(source)) {
      const outcomes = await queue.outcomes(run.run, batch);
      let text = '';
      for (const row of batch) {
        const { outcome, result } = outcomes.get(row.line) ?? {};
        if (outcome === undefined || result === undefined) continue;
        if (outcome !== 'ok') {
          const { code, msg, error } = JSON.parse(`{${result}}`);
          failures.add(outcome, row.line, { code, text: error ?? msg });
          if (outcome !== 'invalid') failed?.add(row);
        }
        text += `${formatResult(row.line, operation.userKey, userOf(row, operation), result)}\n`;
      }
      sink.append(text);
      await new Promise<void>((resolve) => sink?.isFull(resolve) || resolve());
    }
    sink.syncWithName?.();
    failed?.finish();
    if (run.done === run.rows && run.not_ok === 0) return;
    const summary = formatOutcomes({ counts: run, failures: failures.byRows() });
    for (const line of [`run ${run.run}: ${formatRows(run.rows)}`, ...summary]) await printMessage(io, line);
    throw failedRows(run, queueFlag(url, io.env), failedPath);
  } finally {
    sink?.close?.();
    failed?.close();
    await source?.input.close();
    release();
  }
}

/** The error of a run whose rows are not all ok, with the next step. */
function failedRows(
  { run, state, rows, done, not_ok, chunks_left }: QueuedRun,
  flag: string,
  failed?: string,
): Error {
  if (done < rows) {
    const message = `run ${run} is ${state}: ${formatRows(rows - done)} without an outcome`;
    if (state !== 'ready') return new FailedRowsError(message);
    if (chunks_left > 0) return new FailedRowsError(message, { hint: 'Use --wait to wait for its end.' });
    const hint = 'They are in its failed chunks. Let workers retry these:';
    return new FailedRowsError(message, { hint, commands: [`userinfo runs retry ${run}${flag}`] });
  }
  const hint =
    failed === undefined
      ? 'Add --failed <file> to get the rows to retry as a file.'
      : `Correct the cause, then pass the rows of ${quoteName(failed)} back.`;
  return new FailedRowsError(formatNotOk(not_ok, rows), { hint });
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
  const name = quoteName(input.name);
  throw new InvalidInputError(`${name} is not the file that run ${run} was made of`, { hint });
}
