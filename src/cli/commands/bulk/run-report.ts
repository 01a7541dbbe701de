import { type Outcome, type OutcomeCounts, outcomes } from '../../../client/rows/outcome.js';
import {
  InvalidInputError,
  quoteName,
  UserInfoError,
  type UserInfoErrorOptions,
} from '../../../core/contract/errors.js';
import { describeMissing } from '../../../core/contract/info-names.js';
import { formatCount } from '../../../core/support/count.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { readCommandLine } from '../../command-line/command-line.js';
import { rootOf } from '../../command-line/help-layout.js';
import { printAdvice, printMessage } from '../../io.js';
import { withFlags } from '../../request/command-text.js';
import type { RunReport } from './file-run.js';
import type { RunPaths } from './files/run-files.js';
import type { BulkRun } from './row-source.js';
import { InputChangedError } from './source/checked-input.js';
import type { RunInputError } from './source/input.js';
import { partName } from './source/part.js';

/** `1 row`, `48,211 rows` */
export function formatRows(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`;
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min` */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `3 rows without a value were skipped` */
export function formatEmptyRows(rows: number): string {
  return `${formatRows(rows)} without a value ${rows === 1 ? 'was' : 'were'} skipped`;
}

export function totalOf(counts: OutcomeCounts): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

/** Options of a run that say what its files are called, each with a value. */
const fileOptions = ['--results', '--failed', '--part'];

/**
 * The command line of a run, changed as by `withFlags`. --resume, --restart and --take-over are
 * left out.
 *
 * @param more - options and their values
 */
export function formatCommand(run: Pick<BulkRun, 'context'>, more: readonly string[]): string {
  return formatArgs(run.context.args, more, []);
}

/** The command line of a run over another file, without the files that the run wrote. */
export function formatCommandFor(file: string, { context: { args }, command }: BulkRun): string {
  const place = readCommandLine(rootOf(command), args).firstOperandAt;
  const path = file.startsWith('-') ? `./${file}` : file;
  return formatArgs(args.toSpliced(place, 1, path), [], fileOptions);
}

/** The command line that sends the rows of a file without those that were written to `--failed`. */
export function formatOthersCommand({ context }: Pick<BulkRun, 'context'>): string {
  return formatArgs(context.args, ['--no-preflight'], ['--failed']);
}

function formatArgs(
  args: readonly string[],
  more: readonly string[],
  without: readonly string[],
): string {
  const kept = args.filter((arg) => !/^--(?:resume|restart|take-over)$/.test(arg));
  return ['userinfo', ...withFlags(kept, more, without)].map(quoteWhereNeeded).join(' ');
}

/** A run ended or was stopped, and has rows that are not ok. */
export class FailedRowsError extends UserInfoError {
  readonly code = 'FAILED_ROWS';
}

/** `1 of 48,211 rows is not ok` */
function formatNotOk(count: number, rows: number): string {
  return `${formatCount(count)} of ${formatRows(rows)} ${count === 1 ? 'is' : 'are'} not ok`;
}

/** The error of an input without rows. */
export function noRows(name: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} has no row`, {
    hint: 'A CSV file needs a header line and at least one row.',
  });
}

/** The error of invalid input, with the command line that has the option which it is about. */
export function withCommand(
  error: RunInputError,
  run: Pick<BulkRun, 'context'>,
): InvalidInputError {
  const { message, hint = '', options, cause } = error;
  return new InvalidInputError(message, { hint, commands: [formatCommand(run, options)], cause });
}

/** A run that has ended. */
export interface EndedRun extends BulkRun {
  readonly report: RunReport;
  /** `null` if the rows are of a stream: the run cannot be resumed. */
  readonly paths: RunPaths | null;
  /** The number of rows; `null` if it is not known. */
  readonly total: number | null;
}

/** Prints the end of a run; returns its error, `null` if every row is ok. */
export async function reportRun(run: EndedRun): Promise<Error | null> {
  const { io, options, isTable, print, report, paths } = run;
  // Of a stream without rows, the error says all.
  const hasNone = report.isFinished && totalOf(report.counts) === 0;
  const isEmpty = hasNone && options.part === undefined;
  if (!options.quiet && !isEmpty) {
    for (const line of formatSummary(run)) await printMessage(io, line);
    const isUnusable = report.stoppedBy instanceof InvalidInputError && report.done === 0;
    if (paths !== null && !report.isFinished && !isUnusable) {
      await printAdvice(io, { hint: 'resume with:', commands: [formatCommand(run, ['--resume'])] });
    }
  }
  if (!isTable && paths !== null) await print(reportData(run, paths));
  return errorOf(run);
}

/** The summary of a run, for a person. */
function formatSummary({
  io,
  options,
  operation,
  report,
  source,
  paths,
  total,
}: EndedRun): string[] {
  const { failed } = options;
  const { endpoint } = operation;
  const { done, durationMs } = report;
  const ofAll = report.isFinished || total === null ? '' : ` of ${formatCount(total)}`;
  const perSecond = Math.round((done / Math.max(1, durationMs)) * 1000);
  const lines = [
    done === 0 && report.isFinished
      ? `${endpoint.operation}: nothing was left to do`
      : `${endpoint.operation}: ${formatRows(done)}${ofAll} in ${formatDuration(durationMs)}, ${formatRows(perSecond)}/s`,
    ...formatOutcomes(report, io.stderr.isTTY),
  ];
  if (paths !== null) lines.push(`results  ${paths.results}`);
  if (failed !== undefined) lines.push(`failed   ${formatFailedFile(failed, report.failedRows)}`);
  if (report.unwritten > 0) {
    const again = paths === null ? '' : ': --resume sends them again';
    lines.push(
      `lost     ${formatRows(report.unwritten)}, answered but not written${endpoint.repeatable ? again : ': their codes are used up'}`,
    );
  }
  if (source.emptyRows() > 0) lines.push(formatEmptyRows(source.emptyRows()));
  for (const [warning, rows] of report.warnings)
    lines.push(`warning: ${warning}, in ${formatRows(rows)}`);
  const missing = [...report.missing].map(([name, count]) => `${name} in ${formatRows(count)}`);
  if (missing.length > 0) lines.push(describeMissing(missing));
  return lines;
}

/**
 * The number of rows with each outcome, and the reasons of those that are not ok, each with a bar
 * if `hasBars`.
 */
function formatOutcomes(report: Pick<RunReport, 'counts' | 'failures'>, hasBars = false): string[] {
  const { counts } = report;
  const width = Math.max(...outcomes.map((outcome) => formatCount(counts[outcome]).length));
  return outcomes
    .filter((outcome) => outcome === 'ok' || counts[outcome] > 0)
    .flatMap((outcome) => [
      `  ${outcome.padEnd(8)}${formatCount(counts[outcome]).padStart(width)}`,
      ...formatFailures(report, outcome, width, hasBars),
    ]);
}

/** Maximum number of reasons that are shown for an outcome. */
const shownReasons = 5;
/** Maximum length of a reason, and of a line of the summary that has one, in characters. */
const reasonLength = 40;
const lineLength = 79;
/** Length of the bar of all rows that are not ok. */
const barLength = 10;

/** The reasons of the rows of this part with an outcome, and the first lines of each. */
function formatFailures(
  { failures, counts }: Pick<RunReport, 'counts' | 'failures'>,
  outcome: Outcome,
  width: number,
  hasBars: boolean,
): string[] {
  const groups = failures.filter((group) => group.outcome === outcome);
  if (groups.length === 0) return [];
  const all = totalOf(counts) - counts.ok;
  const barOf = (rows: number) =>
    hasBars && failures.length > 1
      ? `${'█'.repeat(Math.ceil((rows / all) * barLength)).padEnd(barLength)}  `
      : '';
  const describe = (rows: number, words: string) =>
    `${formatCount(rows).padStart(10 + width)}  ${barOf(rows)}${words}`;
  const shown = groups.slice(0, shownReasons).map(({ reason, rows, lines }) => {
    const cut = reason.length > reasonLength ? `${reason.slice(0, reasonLength - 1)}…` : reason;
    const named = [...lines];
    for (;;) {
      const more = rows > named.length ? ', …' : '';
      const line = describe(
        rows,
        `${cut}: ${rows === 1 ? 'line' : 'lines'} ${named.join(', ')}${more}`,
      );
      if (line.length <= lineLength || named.length === 1) return line;
      named.pop();
    }
  });
  const left = groups.slice(shownReasons).reduce((sum, { rows }) => sum + rows, 0);
  if (left > 0) shown.push(describe(left, 'for other reasons'));
  const before = counts[outcome] - groups.reduce((sum, { rows }) => sum + rows, 0);
  if (before > 0) shown.push(describe(before, 'before this part of the run'));
  return shown;
}

function formatFailedFile(path: string, rows: number | null): string {
  if (rows === null) return 'not written';
  return rows === 0 ? 'none, so no file' : `${path}, ${formatRows(rows)}`;
}

/** The summary of a run, for a program. */
function reportData(run: EndedRun, paths: RunPaths): object {
  const {
    options: { failed },
    report,
    source,
  } = run;
  const {
    counts,
    done,
    unwritten,
    durationMs,
    isFinished,
    failedRows,
    missing,
    warnings,
    failures,
  } = report;
  return {
    ...counts,
    done,
    ...(unwritten > 0 ? { unwritten } : {}),
    duration_ms: Math.round(durationMs),
    finished: isFinished,
    ...(source.emptyRows() > 0 ? { empty_rows: source.emptyRows() } : {}),
    ...(failures.length > 0 ? { failures } : {}),
    ...(warnings.size > 0 ? { warnings: Object.fromEntries(warnings) } : {}),
    ...(missing.size > 0 ? { not_in_answer: Object.fromEntries(missing) } : {}),
    results: paths.results,
    journal: paths.journal,
    ...(failed !== undefined && (failedRows ?? 0) > 0 ? { failed_rows: failed } : {}),
    ...(isFinished ? {} : { resume: formatCommand(run, ['--resume']) }),
  };
}

function errorOf(run: EndedRun): Error | null {
  const { operation, source, report, paths, total } = run;
  const { counts, done, failures, stoppedBy } = report;
  const rows = totalOf(counts);
  if (stoppedBy === 'interrupted') return new DOMException('interrupted', 'AbortError');
  const isChanged = stoppedBy instanceof InputChangedError;
  if (isChanged || (stoppedBy instanceof InvalidInputError && done > 0)) {
    // Invalid input usually ends a run before anything is sent.
    const advice = isChanged
      ? 'Restore the file, and resume. To send all rows of the new one:'
      : (stoppedBy.hint ?? '');
    const hint = `${formatRows(done)} ${done === 1 ? 'has' : 'have'} an outcome. ${advice}`.trim();
    const commands = isChanged ? [formatCommand(run, ['--restart'])] : stoppedBy.commands;
    return new FailedRowsError(stoppedBy.message, { hint, commands, cause: stoppedBy });
  }
  if (stoppedBy instanceof Error) return stoppedBy;
  // A part of a small file may have no row.
  if (rows === 0) return run.options.part === undefined ? noRows(source.input.name) : null;
  if (counts.ok === rows && stoppedBy === null) return null;
  if (stoppedBy === 'alike') {
    const { endpoint, columns } = operation;
    const column = quoteName(columns.required);
    const question = endpoint.repeatable
      ? `Is ${column} the right column, and this the right tenant?`
      : `Are the codes in ${column} new, and of this tenant?`;
    const more = ['--max-failures', '1000000', ...(paths === null ? [] : ['--resume'])];
    return new FailedRowsError(
      `stopped: the first ${formatRows(done)} were refused alike: ${failures[0]?.reason}`,
      {
        hint: `${question} To send the others all the same:`,
        commands: [formatCommand(run, more)],
      },
    );
  }
  const stopped = stoppedBy === null ? '' : 'stopped: ';
  const message = `${stopped}${formatNotOk(rows - counts.ok, total ?? rows)}`;
  return new FailedRowsError(message, retryAdvice(run));
}

/** The next step for the rows that are not ok. */
function retryAdvice(run: EndedRun): Pick<UserInfoErrorOptions, 'hint' | 'commands'> {
  const { paths, file } = run;
  const { failed, part } = run.options;
  const { endpoint } = run.operation;
  const { counts, failedRows, retryable, stoppedBy } = run.report;
  if (stoppedBy !== null) {
    return {
      hint: `The results say why, row by row${paths === null ? '.' : `: ${paths.results}`}`,
    };
  }
  const rows = formatRows(counts.unknown);
  const warning = counts.unknown > 0 ? `The outcome of ${rows} is unknown. ${endpoint.doubt} ` : '';
  if (failed !== undefined && failedRows !== null) {
    const again =
      retryable === 0
        ? 'They fail again until the cause is corrected. Then'
        : 'Correct the cause, then';
    return { hint: `${warning}${again} retry them:`, commands: [formatCommandFor(failed, run)] };
  }
  if (paths === null) return { hint: `${warning}Add --failed <file> to get these rows as a file.` };
  const infix = part === undefined ? '.failed' : `.${partName(part)}.failed`;
  const toRetry = file.replace(/(\.[a-z]+)?(\.gz)?$/i, `${infix}$1`);
  const collect = formatCommand(run, ['--failed', toRetry, '--resume']);
  const again = retryable === 0 ? 'They fail again until the cause is corrected. To' : 'To';
  return { hint: `${warning}${again} retry them, get them as a file:`, commands: [collect] };
}
