import {
  InvalidInputError,
  quoteName,
  type UserInfoErrorOptions,
} from '../../../core/contract/errors.js';
import { formatCount } from '../../output/numbers.js';
import { FailedRowsError, noRows } from './errors.js';
import type { RunReport } from './file-run.js';
import type { RunPaths } from './files/run-files.js';
import { formatRows, totalOf } from './row-count.js';
import type { BulkRun } from './row-source.js';
import { formatCommand, formatCommandFor } from './run-command.js';
import { InputChangedError } from './source/checked-input.js';
import { partName } from './source/part.js';

/** A run that has ended. */
export interface EndedRun extends BulkRun {
  readonly report: RunReport;
  /** `null` if the rows are of a stream: the run cannot be resumed. */
  readonly paths: RunPaths | null;
  /** The number of rows; `null` if it is not known. */
  readonly total: number | null;
}

/** The error of a run that has ended, with the next step; `null` if every row is ok. */
export function errorOf(run: EndedRun): Error | null {
  const { options, report, source } = run;
  const { counts, done, stoppedBy } = report;
  if (stoppedBy === 'interrupted') return new DOMException('interrupted', 'AbortError');
  if (stoppedBy instanceof InputChangedError) return inputChanged(run, stoppedBy);
  // Invalid input usually ends a run before anything is sent.
  if (stoppedBy instanceof InvalidInputError && done > 0) return inputInvalid(run, stoppedBy);
  if (stoppedBy instanceof Error) return stoppedBy;
  const rows = totalOf(counts);
  // A part of a small file may have no row.
  if (rows === 0) return options.part === undefined ? noRows(source.input.name) : null;
  if (stoppedBy === 'alike') return refusedAlike(run);
  if (stoppedBy === 'failures') return tooManyFailures(run);
  return counts.ok === rows ? null : rowsNotOk(run);
}

function inputChanged(run: EndedRun, cause: InputChangedError): FailedRowsError {
  const advice = 'Restore the file, and resume. To send all rows of the new one:';
  return new FailedRowsError(cause.message, {
    hint: `${formatDone(run)} ${advice}`,
    commands: [formatCommand(run, ['--restart'])],
    cause,
  });
}

function inputInvalid(run: EndedRun, cause: InvalidInputError): FailedRowsError {
  const { message, hint, commands } = cause;
  const done = formatDone(run);
  return new FailedRowsError(message, {
    hint: hint ? `${done} ${hint}` : done,
    commands,
    cause,
  });
}

/** `1 row has an outcome.` */
function formatDone({ report: { done } }: EndedRun): string {
  return done === 1 ? '1 row has an outcome.' : `${formatRows(done)} have an outcome.`;
}

/** The column or the tenant is wrong, not the rows. */
function refusedAlike(run: EndedRun): FailedRowsError {
  const { operation, report, paths } = run;
  const { endpoint, columns } = operation;
  const column = quoteName(columns.required);
  const question = endpoint.repeatable
    ? `Is ${column} the right column, and this the right tenant?`
    : `Are the codes in ${column} new, and of this tenant?`;
  const added = ['--max-failures', '1000000'];
  if (paths !== null) added.push('--resume');
  const rows = formatRows(report.done);
  return new FailedRowsError(
    `stopped: the first ${rows} were refused for the same reason: ${report.failures[0]?.reason}`,
    {
      hint: `${question} To send the others all the same:`,
      commands: [formatCommand(run, added)],
    },
  );
}

function tooManyFailures(run: EndedRun): FailedRowsError {
  const { paths } = run;
  const hint = 'The results say why, row by row';
  return new FailedRowsError(`stopped: ${formatNotOk(run)}`, {
    hint: paths === null ? `${hint}.` : `${hint}: ${paths.results}`,
  });
}

function rowsNotOk(run: EndedRun): FailedRowsError {
  const { operation, report } = run;
  const { hint, commands } = retryStep(run);
  const message = formatNotOk(run);
  const { unknown } = report.counts;
  if (unknown === 0) return new FailedRowsError(message, { hint, commands });
  const doubt = `The outcome of ${formatRows(unknown)} is unknown. ${operation.endpoint.doubt}`;
  return new FailedRowsError(message, { hint: `${doubt} ${hint}`, commands });
}

/** `1 of 48,211 rows is not ok` */
function formatNotOk({ report: { counts }, total }: EndedRun): string {
  const rows = totalOf(counts);
  const notOk = rows - counts.ok;
  const share = `${formatCount(notOk)} of ${formatRows(total ?? rows)}`;
  return notOk === 1 ? `${share} is not ok` : `${share} are not ok`;
}

/** How the rows that are not ok are sent again. */
function retryStep(run: EndedRun): Pick<UserInfoErrorOptions, 'hint' | 'commands'> {
  const { options, report, paths } = run;
  const { failed } = options;
  if (failed !== undefined && report.failedRows !== null) return retryFromFile(failed, run);
  if (paths === null) return { hint: 'Add --failed <file> to get these rows as a file.' };
  return retryByNewFile(run);
}

const failAgain = 'They fail again until the cause is corrected.';

/** The rows are in the file of `--failed`. */
function retryFromFile(failed: string, run: EndedRun) {
  const canSucceed = run.report.retryable > 0;
  return {
    hint: canSucceed ? 'Correct the cause, then retry them:' : `${failAgain} Then retry them:`,
    commands: [formatCommandFor(failed, run)],
  };
}

/** The rows are in no file: a run that is resumed writes one. */
function retryByNewFile(run: EndedRun) {
  const canSucceed = run.report.retryable > 0;
  const advice = 'To retry them, get them as a file:';
  return {
    hint: canSucceed ? advice : `${failAgain} ${advice}`,
    commands: [formatCommand(run, ['--failed', failedPath(run), '--resume'])],
  };
}

/** The path beside the input, such as `users.failed.csv`. */
function failedPath({ file, options: { part } }: EndedRun): string {
  const infix = part === undefined ? '.failed' : `.${partName(part)}.failed`;
  return file.replace(/(\.[a-z]+)?(\.gz)?$/i, `${infix}$1`);
}
