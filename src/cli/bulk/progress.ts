import { type OutcomeCounts, outcomes } from '../../bulk/outcome.js';
import { formatCount } from '../../support/count.js';
import type { Io } from '../io.js';
import { colorsFor } from '../output/style.js';
import { formatDuration } from './run-report.js';

/** The progress of some work. */
interface Progress {
  /** The name of the work, one word. */
  readonly doing: string;
  /** What is counted. Default: rows. */
  readonly unit?: string;
  readonly rows: number;
  /** The part that is done, 0 to 1; `null` if it is not known. */
  readonly share: number | null;
  readonly total: number | null;
  readonly counts?: OutcomeCounts;
  /** Time for which nothing is sent, in milliseconds, because the service asked for a pause or does not answer. */
  readonly pausedMs?: number;
}

const widestBar = 20;
const narrowestBar = 5;
/** For a terminal that does not report its width. */
const defaultWidth = 80;
const barMs = 150;
const lineMs = 10_000;

/** Shorter pauses are not shown. */
const shownPauseMs = 1_000;

/** Shows the progress of work: a bar on a terminal, else a line every ten seconds. `--quiet` shows nothing. */
export async function withProgress<T>(
  io: Io,
  { quiet }: { readonly quiet?: boolean | undefined },
  progressNow: () => Progress,
  work: () => Promise<T>,
): Promise<T> {
  if (quiet) return work();
  const { stderr } = io;
  const startedAt = performance.now();
  const firstRows = progressNow().rows;
  const colors = colorsFor(stderr, io.env);
  const describe = (width: number | null) => {
    const progress = progressNow();
    const rowsPerMs = (progress.rows - firstRows) / Math.max(1, performance.now() - startedAt);
    const [whole = ''] = linesOf(progress, rowsPerMs);
    return width === null ? whole : progressLine(progress, rowsPerMs, width, colors.green);
  };
  const showBar = () => stderr.write(`\r${describe((stderr.columns || defaultWidth) - 1)}\u001b[K`);
  const timer = stderr.isTTY
    ? setInterval(showBar, barMs)
    : setInterval(() => stderr.write(`${describe(null)}\n`), lineMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write('\r\u001b[K');
  }
}

/** A line as wide as it may be, with a bar of what is left of the width: the bar shrinks first. */
export function progressLine(
  progress: Progress,
  rowsPerMs: number,
  width: number,
  paint: (text: string) => string = (text) => text,
): string {
  const lines = linesOf(progress, rowsPerMs);
  const line = lines.find((one) => one.length <= width) ?? lines.at(-1) ?? '';
  const barWidth = Math.min(widestBar, width - line.length - 1);
  if (progress.share === null || barWidth < narrowestBar || line !== lines[0]) return line;
  const full = Math.round(progress.share * barWidth);
  return `${paint('█'.repeat(full))}${'░'.repeat(barWidth - full)} ${line}`;
}

/** The same progress in lines that become shorter: all have the count, the rows that are not ok and the time to wait. */
function linesOf(
  { doing, unit = 'rows', rows, share, total, counts, pausedMs = 0 }: Progress,
  rowsPerMs: number,
): string[] {
  const count = formatCount(rows);
  const done = total === null ? count : `${count}/${formatCount(total)}`;
  const failures = outcomes.filter(
    (outcome) => outcome !== 'ok' && counts !== undefined && counts[outcome] > 0,
  );
  const each = failures.map((outcome) => `${outcome} ${formatCount(counts?.[outcome] ?? 0)}`);
  const all = failures.reduce((sum, outcome) => sum + (counts?.[outcome] ?? 0), 0);
  const notOk = failures.length > 1 ? [`not ok ${formatCount(all)}`] : each;
  const isPaused = pausedMs > shownPauseMs;
  const ms = share && rowsPerMs > 0 ? (rows / share - rows) / rowsPerMs : null;
  const left = ms === null ? [] : [`${formatDuration(ms)} left`];
  const wait = isPaused ? [`waiting ${formatDuration(pausedMs)} for the service`] : left;
  const rate = isPaused ? [] : [`${formatCount(Math.round(rowsPerMs * 1000))}/s`];
  const short = isPaused ? [`waiting ${brief(pausedMs)}`] : ms === null ? [] : [`${brief(ms)} left`];
  const named = share === null ? doing : `${doing} ${Math.floor(share * 100)}%`;
  return [
    [named, `${done} ${unit}`, ...each, ...wait, ...rate].join('  '),
    [named, done, ...each, ...wait].join('  '),
    [done, ...each, ...wait].join('  '),
    [done, ...notOk, ...short].join(' '),
    [count, ...notOk, ...short].join(' '),
  ];
}

/** `3m20s` */
function brief(ms: number): string {
  return formatDuration(ms)
    .replace(/ (min|[hs])/g, (_, unit: string) => unit.slice(0, 1))
    .replaceAll(' ', '');
}
