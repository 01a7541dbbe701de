import type { RunReport } from '../../bulk/file-run.js';
import type { RunPaths } from '../../bulk/files/run-files.js';
import { outcomes } from '../../bulk/outcome.js';
import { UserInfoError } from '../../protocol/errors.js';
import { reasonsForMissing } from '../../protocol/info-names.js';

const counts = new Intl.NumberFormat('en');

/** `48,211` */
export function formatCount(count: number): string {
  return counts.format(count);
}

/** `1 row`, `48,211 rows` */
export function formatRows(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`;
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min` */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A run ended or was stopped, and has rows that are not ok. */
export class FailedRowsError extends UserInfoError {
  readonly code = 'FAILED_ROWS';
}

/** The circumstances of a run, for its summary. */
interface SummaryContext {
  readonly operation: string;
  /** `null` if the results go to standard output. */
  readonly paths: RunPaths | null;
  readonly failed: string | undefined;
  /** The command that resumes the run; `null` if none can. */
  readonly resume: string | null;
}

/** The summary of a run, for a person. */
export function formatSummary(
  report: RunReport,
  { operation, paths, failed, resume }: SummaryContext,
): string[] {
  const { counts, done, durationMs } = report;
  const perSecond = Math.round((done / Math.max(1, durationMs)) * 1000);
  const width = Math.max(...outcomes.map((outcome) => formatCount(counts[outcome]).length));
  const lines = [
    done === 0 && report.isFinished
      ? `${operation}: nothing was left to do`
      : `${operation}: ${formatRows(done)} in ${formatDuration(durationMs)}, ${formatCount(perSecond)} rows/s`,
    ...outcomes
      .filter((outcome) => outcome === 'ok' || counts[outcome] > 0)
      .map((outcome) => `  ${outcome.padEnd(8)}${formatCount(counts[outcome]).padStart(width)}`),
  ];
  if (paths !== null) lines.push(`results  ${paths.results}`);
  if (failed !== undefined) lines.push(`failed   ${describeFailed(failed, report.failedRows)}`);
  if (report.missing.size > 0) lines.push(describeMissing(report.missing));
  if (resume !== null && !report.isFinished) lines.push(`resume with: ${resume}`);
  return lines;
}

function describeFailed(path: string, rows: number | null): string {
  if (rows === null) return 'not written';
  return rows === 0 ? 'none, so no file' : `${path}, ${formatRows(rows)}`;
}

/** The wanted names that some answers did not have, and in how many rows. */
function describeMissing(missing: RunReport['missing']): string {
  const names = [...missing].map(([name, count]) => `${name} in ${formatRows(count)}`);
  return `not in the answer: ${names.join(', ')} (${reasonsForMissing})`;
}

/** The summary of a run, for a program. */
export function reportData(report: RunReport, { paths, failed, resume }: SummaryContext): object {
  const { counts, done, durationMs, isFinished, failedRows, missing } = report;
  return {
    ...counts,
    done,
    duration_ms: Math.round(durationMs),
    finished: isFinished,
    ...(missing.size > 0 ? { not_in_answer: Object.fromEntries(missing) } : {}),
    ...(paths === null ? {} : { results: paths.results, journal: paths.journal }),
    ...(failed !== undefined && (failedRows ?? 0) > 0 ? { failed_rows: failed } : {}),
    ...(resume !== null && !isFinished ? { resume } : {}),
  };
}
