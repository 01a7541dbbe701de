import { FileRun, type FileRunOptions, type RunReport } from '../../bulk/file-run.js';
import type { RunPaths } from '../../bulk/files/run-files.js';
import type { RowOperation } from '../../bulk/operations.js';
import { outcomes } from '../../bulk/outcome.js';
import { InputChangedError } from '../../bulk/source/checked-input.js';
import type { FileRow } from '../../bulk/source/rows.js';
import type { Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { clientOptions } from '../connect.js';
import type { CliContext } from '../context.js';
import { say } from '../io.js';
import { printData } from '../output/print.js';
import { isPlainTable, outputStyle } from '../output/style.js';
import { hintOf } from '../report-error.js';
import type { BulkOptions } from './bulk-options.js';
import { noRows } from './preflight.js';
import { withProgress } from './progress.js';
import type { RowSource } from './row-source.js';
import { FailedRowsError, formatCount, formatRows, formatSummary, reportData } from './summary.js';

/** A run over many rows: the command, what it does with each row, and where the rows come from and go. */
export interface BulkRun {
  readonly context: CliContext;
  readonly options: BulkOptions;
  readonly plan: { readonly operation: RowOperation };
  readonly settings: Settings;
  readonly source: RowSource;
}

/** A run that is ready to begin. */
interface ReadyRun extends BulkRun {
  /** The files of the run; `paths` is `null` if the results go to standard output. */
  readonly record: Pick<FileRunOptions<FileRow>, 'results' | 'journal' | 'failed' | 'state'> & {
    readonly paths: RunPaths | null;
  };
  /** Number of rows; `null` if it is not known. */
  readonly total: number | null;
  /** The command that resumes the run; `null` if none can. */
  readonly resume: string | null;
}

/**
 * Executes a run, shows its progress and its summary.
 *
 * @throws FailedRowsError if a row is not ok at the end, and what stopped the run
 */
export async function executeRun(ready: ReadyRun): Promise<void> {
  const { context, options, plan, settings, source, record, resume } = ready;
  const { io } = context;
  const style = await outputStyle(options, io);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: options.concurrency });
  const format = source.newFormat();
  const report = await runWith(ready, { format, sender }).finally(() => sender.drop());
  const end = { operation: plan.operation.name, paths: record.paths, failed: options.failed, resume };
  if (!options.quiet) for (const line of formatSummary(report, end)) await say(io, line);
  if (!isPlainTable(style) && record.paths !== null) await printData(reportData(report, end), io, style);
  const error = errorOf(report, ready);
  if (error !== null) throw error;
}

async function runWith(
  { context, options, plan, source, record, total }: ReadyRun,
  { format, sender }: Pick<FileRunOptions<FileRow>, 'format' | 'sender'>,
): Promise<RunReport> {
  const { io, signal, steadyNow } = context;
  const { input, encoding } = source;
  const run = new FileRun({
    input,
    // The preflight checked a file.
    text: { encoding, suspectUtf8: input.size === null && !options.forceEncoding ? 'at once' : 'never' },
    format,
    operation: plan.operation,
    sender,
    pacing: {
      concurrency: options.concurrency,
      ratePerSecond: options.rate ?? null,
      attempts: options.attempts,
      timeoutMs: options.timeout,
    },
    ...record,
    maxFailures: options.maxFailures ?? null,
    now: steadyNow,
    random: Math.random,
  });
  const stop = () => {
    io.stderr.write('stopping: waiting for the answers to what was sent; Ctrl-C once more stops at once\n');
    run.stop();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const progressNow = () => {
    const { counts, bytesRead, pausedMs } = run.progress;
    const rows = totalOf(counts);
    const share = total === null ? shareOf(bytesRead, input.size) : rows / total;
    return { doing: plan.operation.name, rows, share, total, counts, pausedMs };
  };
  const { quiet, color } = options;
  try {
    return await withProgress(io, { ...(quiet && { quiet }), color, now: steadyNow }, progressNow, () =>
      run.run(),
    );
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function errorOf({ counts, done, stoppedBy }: RunReport, { source, total, resume }: ReadyRun): Error | null {
  const rows = totalOf(counts);
  if (stoppedBy === 'interrupted') return new DOMException('interrupted', 'AbortError');
  if (stoppedBy instanceof InputChangedError || (stoppedBy instanceof InvalidInputError && done > 0)) {
    // Invalid input usually ends a run before anything is sent.
    const hint = `${formatRows(done)} have an outcome. ${hintOf(stoppedBy) ?? ''}`.trim();
    return new FailedRowsError(stoppedBy.message, { hint, cause: stoppedBy });
  }
  if (stoppedBy instanceof Error) return stoppedBy;
  if (rows === 0) return noRows(source.input.name);
  if (counts.ok === rows && stoppedBy === null) return null;
  const hint = resume === null ? undefined : 'The results say why, row by row.';
  const stopped = stoppedBy === 'failures' ? 'stopped: ' : '';
  const all = total === null ? formatRows(rows) : formatRows(total);
  return new FailedRowsError(`${stopped}${formatCount(rows - counts.ok)} of ${all} are not ok`, {
    ...(hint === undefined ? {} : { hint }),
  });
}

function totalOf(counts: RunReport['counts']): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

function shareOf(bytes: number, size: number | null): number | null {
  return size === null ? null : bytes / size;
}
