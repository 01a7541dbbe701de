import { FailureGroups } from '../../bulk/failure-groups.js';
import type { RunReport } from '../../bulk/file-run.js';
import { AppendFile } from '../../bulk/files/append-file.js';
import { FailedFile } from '../../bulk/files/failed-file.js';
import { type ResultsSink, streamSink } from '../../bulk/files/recorder.js';
import { placeOutcome } from '../../bulk/files/result-line.js';
import { lockFiles, refuseSame, requireResults } from '../../bulk/files/run-files.js';
import { passbackRows, userOf } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { NdjsonRow } from '../../bulk/source/ndjson.js';
import { preflight } from '../../bulk/source/preflight.js';
import { type FileRow, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows } from '../bulk/row-source.js';
import { describeOutcomes, FailedRowsError, formatCount, formatRows } from '../bulk/summary.js';
import type { CliContext } from '../context.js';
import { type Io, printMessage } from '../io.js';
import { showData } from '../output/terminal-text.js';

export interface ResultsOptions {
  readonly from?: string;
  readonly results?: string;
  readonly failed?: string;
}

/** The rows of a run: the queue has their outcomes, but not their users. */
interface ResultRows {
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
  let failedFile: FailedFile | null = null;
  let sink: ResultsSink | null = null;
  try {
    if (results !== undefined) await requireResults(results);
    if (failed !== undefined) {
      failedFile = new FailedFile({ path: failed, ours: [] }, rows.isUtf8);
    }
    sink =
      results === undefined
        ? streamSink(io.stdout, io.stdout.isTTY ? showData : undefined)
        : AppendFile.open(results);
    const report = await writeRows(queue, run, rows, sink, failedFile);
    await refuseFailed(io, run, report, failed);
  } finally {
    sink?.close();
    failedFile?.discard();
    release();
    await rows.close();
  }
}

type Report = Pick<RunReport, 'counts' | 'failures'>;

async function writeRows(
  queue: Queue,
  run: QueuedRun,
  { read }: ResultRows,
  results: ResultsSink,
  failed: FailedFile | null,
): Promise<Report> {
  const operation = passbackRows(run.naming);
  const counts = { ok: 0, failed: 0, invalid: 0, unknown: 0 };
  const failures = new FailureGroups();
  for await (const batch of read()) {
    const outcomes = await queue.outcomes(run.run, batch);
    let text = '';
    for (const row of batch) {
      const found = outcomes.get(row.line);
      if (found === undefined) continue;
      const { outcome, result } = found;
      counts[outcome] += 1;
      if (outcome !== 'ok') failures.add(outcome, row.line, reasonOf(result));
      const user = userOf(row, operation);
      text += `${placeOutcome(row.line, operation.userKey, user, result)}\n`;
      if (outcome === 'failed' || outcome === 'unknown') failed?.add(row);
    }
    results.append(text);
    await new Promise<void>((resolve) => {
      if (!results.isFull(resolve)) resolve();
    });
  }
  results.syncWithName();
  failed?.finish();
  return { counts, failures: failures.byRows() };
}

/** Why a row is not ok, from the part of its results line that `formatOutcome` wrote. */
function reasonOf(result: string): { code?: number; text: string } {
  const { code, msg, error } = JSON.parse(`{${result}}`);
  return error === undefined ? { code, text: msg } : { text: error };
}

/** @throws FailedRowsError if a row of the run is not ok, once stderr has the reasons */
async function refuseFailed(
  io: Io,
  { run, rows, state }: QueuedRun,
  report: Report,
  failed: string | undefined,
): Promise<void> {
  const { ok, ...others } = report.counts;
  if (ok === rows) return;
  await printMessage(io, `run ${run}: ${formatRows(rows)}`);
  for (const line of describeOutcomes(report)) await printMessage(io, line);
  const left = rows - ok - others.failed - others.invalid - others.unknown;
  if (left > 0) {
    throw new FailedRowsError(`run ${run} is ${state}: ${formatRows(left)} have no outcome`, {
      ...(state === 'ready' ? { hint: 'Use --wait to wait for its end.' } : {}),
    });
  }
  throw new FailedRowsError(
    `${formatCount(rows - ok)} of ${formatRows(rows)} ${rows - ok === 1 ? 'is' : 'are'} not ok`,
    {
      hint:
        failed === undefined
          ? 'Add --failed <file> to get the rows to retry as a file.'
          : `Correct the cause, then pass the rows of ${quoteName(failed)} back.`,
    },
  );
}

function keptRows(queue: Queue, run: QueuedRun): ResultRows {
  return {
    isUtf8: true,
    async *read() {
      for await (const rows of queue.rows(run)) yield rows.map(({ line, json }) => new NdjsonRow(line, json));
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
  const { hash, ...options } = run.source;
  const from = named ?? options.from;
  const source = await openRows(
    io,
    { ...options, from, forceEncoding: true },
    passbackRows(run.naming).columns,
  ).catch((error) => {
    if (named !== undefined || !(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(error.message, {
      hint: 'The queue has outcomes without their users: name the file of the run with --from.',
      cause: error,
    });
  });
  const { input } = source;
  const checked = await preflight(source, null);
  if (checked.hash !== hash) {
    await input.close();
    throw new InvalidInputError(`${quoteName(input.name)} is not the file that run ${run.run} was made of`, {
      hint: 'Results and failed rows are put together with that file: name it with --from.',
    });
  }
  return {
    isUtf8: source.text.encoding === 'utf-8',
    read: () => readRows({ ...source, input: checkedInput(input, checked.digest) }),
    close: () => input.close(),
  };
}
