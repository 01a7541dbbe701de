import { type Outcome, outcomes } from '../../../client/rows/outcome.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { describeMissing } from '../../../core/contract/info-names.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { printAdvice, printMessage } from '../../io.js';
import { formatCount, formatDuration } from '../../output/numbers.js';
import type { FailureGroup } from './failure-groups.js';
import type { RunReport } from './file-run.js';
import type { EndedRun } from './next-step.js';
import { errorOf } from './next-step.js';
import { formatEmptyRows, formatRows, totalOf } from './row-count.js';
import { formatCommand } from './run-command.js';

/** Prints the end of a run; returns its error, `null` if every row is ok. */
export async function reportRun(run: EndedRun): Promise<Error | null> {
  const { isTable, print, paths } = run;
  const { results } = run.options;
  if (!run.options.quiet && !isWithoutRows(run)) await printSummary(run);
  // Otherwise stdout has the outcomes.
  const isPrinted = !isTable && (paths !== null || results !== undefined);
  if (isPrinted) await print(summaryData(run));
  return errorOf(run);
}

/** Whether an input has no row: its error says so. A part of a small file may have none. */
function isWithoutRows({ options, report }: EndedRun): boolean {
  return report.isFinished && totalOf(report.counts) === 0 && options.part === undefined;
}

async function printSummary(run: EndedRun): Promise<void> {
  const { io, report, paths } = run;
  for (const line of formatSummary(run)) await printMessage(io, line);
  const isUnusable = report.stoppedBy instanceof InvalidInputError && report.done === 0;
  if (paths === null || report.isFinished || isUnusable) return;
  await printAdvice(io, { hint: 'resume with:', commands: [formatCommand(run, ['--resume'])] });
}

/** The summary of a run in lines, for a person. */
function formatSummary(run: EndedRun): string[] {
  const { io, options, report, source, paths } = run;
  const lines = [formatPace(run), ...formatOutcomes(report, io.stderr.isTTY)];
  if (paths !== null) lines.push(`results  ${paths.results}`);
  if (options.failed !== undefined)
    lines.push(`failed   ${formatFailedFile(options.failed, report.failedRows)}`);
  if (report.unwritten > 0) lines.push(`lost     ${formatLost(run)}`);
  if (source.emptyRows() > 0) lines.push(formatEmptyRows(source.emptyRows()));
  for (const [warning, rows] of report.warnings)
    lines.push(`warning: ${warning}, in ${formatRows(rows)}`);
  const missing = Array.from(report.missing, ([name, rows]) => `${name} in ${formatRows(rows)}`);
  if (missing.length > 0) lines.push(describeMissing(missing));
  return lines;
}

/** `passback: 400 rows of 48,211 in 12 s, 33 rows/s` */
function formatPace({ operation, report, total }: EndedRun): string {
  const name = operation.endpoint.operation;
  const { done, durationMs, isFinished } = report;
  if (done === 0 && isFinished) return `${name}: nothing was left to do`;
  const perSecond = Math.round((done / Math.max(1, durationMs)) * 1000);
  const pace = `in ${formatDuration(durationMs)}, ${formatRows(perSecond)}/s`;
  if (isFinished || total === null) return `${name}: ${formatRows(done)} ${pace}`;
  return `${name}: ${formatRows(done)} of ${formatCount(total)} ${pace}`;
}

/** The rows whose outcome could not be written. */
function formatLost({ operation: { endpoint }, report, paths }: EndedRun): string {
  const lost = `${formatRows(report.unwritten)}, answered but not written`;
  if (!endpoint.repeatable) return `${lost}: their codes are used up`;
  return paths === null ? lost : `${lost}: --resume sends them again`;
}

function formatFailedFile(path: string, rows: number | null): string {
  if (rows === null) return 'not written';
  return rows === 0 ? 'none, so no file' : `${path}, ${formatRows(rows)}`;
}

type Outcomes = Pick<RunReport, 'counts' | 'failures'>;

/**
 * The number of rows with each outcome, and the reasons of those that are not ok, each with a bar
 * if `hasBars`.
 */
function formatOutcomes(report: Outcomes, hasBars = false): string[] {
  const { counts } = report;
  const width = Math.max(...outcomes.map((outcome) => formatCount(counts[outcome]).length));
  const shown = outcomes.filter((outcome) => outcome === 'ok' || counts[outcome] > 0);
  return shown.flatMap((outcome) => [
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

/** Makes the line of some rows that are not ok. */
type DescribeRows = (rows: number, words: string) => string;

/** The reasons of the rows of this part with an outcome, and the first lines of each. */
function formatFailures(
  { failures, counts }: Outcomes,
  outcome: Outcome,
  width: number,
  hasBars: boolean,
): string[] {
  const groups = failures.filter((group) => group.outcome === outcome);
  if (groups.length === 0) return [];
  const notOk = totalOf(counts) - counts.ok;
  const describe: DescribeRows = (rows, words) => {
    const count = formatCount(rows).padStart(10 + width);
    if (!hasBars || failures.length === 1) return `${count}  ${words}`;
    const bar = '█'.repeat(Math.ceil((rows / notOk) * barLength)).padEnd(barLength);
    return `${count}  ${bar}  ${words}`;
  };
  const lines = groups.slice(0, shownReasons).map((group) => formatGroup(group, describe));
  const rowsLeft = rowsOf(groups.slice(shownReasons));
  if (rowsLeft > 0) lines.push(describe(rowsLeft, 'for other reasons'));
  const rowsBefore = counts[outcome] - rowsOf(groups);
  if (rowsBefore > 0) lines.push(describe(rowsBefore, 'before this part of the run'));
  return lines;
}

function rowsOf(groups: readonly FailureGroup[]): number {
  return groups.reduce((sum, { rows }) => sum + rows, 0);
}

/** A reason with the first lines that it is of, as many as the line of the summary has room for. */
function formatGroup({ reason, rows, lines }: FailureGroup, describe: DescribeRows): string {
  const cut = reason.length > reasonLength ? `${reason.slice(0, reasonLength - 1)}…` : reason;
  const noun = rows === 1 ? 'line' : 'lines';
  for (let count = lines.length; ; count -= 1) {
    const numbers = lines.slice(0, count).join(', ');
    const listed = rows > count ? `${numbers}, …` : numbers;
    const line = describe(rows, `${cut}: ${noun} ${listed}`);
    if (line.length <= lineLength || count <= 1) return line;
  }
}

/** The summary of a run, for a program. */
function summaryData(run: EndedRun): object {
  const { options, report, source, paths } = run;
  const { counts, done, unwritten, isFinished, failedRows, failures } = report;
  return withoutUndefined({
    ...counts,
    done,
    unwritten: unwritten || undefined,
    duration_ms: Math.round(report.durationMs),
    finished: isFinished,
    empty_rows: source.emptyRows() || undefined,
    failures: failures.length === 0 ? undefined : failures,
    warnings: countsData(report.warnings),
    not_in_answer: countsData(report.missing),
    results: paths?.results ?? options.results,
    journal: paths?.journal,
    failed_rows: failedRows ? options.failed : undefined,
    resume: isFinished || paths === null ? undefined : formatCommand(run, ['--resume']),
  });
}

function countsData(counts: ReadonlyMap<string, number>): object | undefined {
  return counts.size === 0 ? undefined : Object.fromEntries(counts);
}
