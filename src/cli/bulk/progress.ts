import stringWidth from 'string-width';
import { type OutcomeCounts, outcomes } from '../../bulk/outcome.js';
import { formatCount } from '../../support/count.js';
import type { Io } from '../io.js';
import { colorsFor } from '../output/style.js';
import { formatDuration } from './summary.js';

/** The progress of some work. */
export interface Progress {
  /** The name of the work, one word. */
  readonly doing: string;
  readonly rows: number;
  /** The part that is done, 0 to 1; `null` if it is not known. */
  readonly share: number | null;
  readonly total: number | null;
  readonly counts?: OutcomeCounts;
  /** Time for which nothing is sent, in milliseconds, because the service asked for a pause or does not answer. */
  readonly pausedMs?: number;
}

const barWidth = 20;
/** For a terminal that does not report its width. */
const defaultWidth = 80;
const barMs = 150;
const lineMs = 10_000;

/** Shorter pauses are not shown. */
const shownPauseMs = 1_000;

/** Shows the progress of work: a bar on a terminal, else a line every ten seconds. `--quiet` shows nothing. */
export async function withProgress<T>(
  io: Io,
  { quiet, color }: { readonly quiet?: true; readonly color: boolean },
  progressNow: () => Progress,
  work: () => Promise<T>,
): Promise<T> {
  if (quiet) return work();
  const { stderr } = io;
  const startedAt = performance.now();
  const firstRows = progressNow().rows;
  const describe = () => {
    const progress = progressNow();
    return words(progress, (progress.rows - firstRows) / Math.max(1, performance.now() - startedAt));
  };
  const colors = colorsFor(stderr, io.env, color);
  const showBar = () => {
    const { share } = progressNow();
    const bar = share === null ? '' : `${drawBar(share, colors.green)} `;
    const width = (stderr.columns || defaultWidth) - (share === null ? 1 : barWidth + 2);
    stderr.write(`\r${bar}${cut(describe(), width)}\u001b[K`);
  };
  const timer = stderr.isTTY
    ? setInterval(showBar, barMs)
    : setInterval(() => stderr.write(`${describe()}\n`), lineMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write('\r\u001b[K');
  }
}

function drawBar(share: number, paint: (text: string) => string): string {
  const full = Math.round(share * barWidth);
  return paint('█'.repeat(full)) + '░'.repeat(barWidth - full);
}

function words({ doing, rows, share, total, counts, pausedMs = 0 }: Progress, rowsPerMs: number): string {
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  const parts = [`${doing}: ${formatCount(rows)}${of} rows`];
  if (pausedMs > shownPauseMs) parts.push(`waiting ${formatDuration(pausedMs)} for the service`);
  else parts.push(`${formatCount(Math.round(rowsPerMs * 1000))}/s`);
  for (const outcome of outcomes) {
    const count = counts?.[outcome] ?? 0;
    if (count > 0) parts.push(`${outcome} ${formatCount(count)}`);
  }
  if (share && rowsPerMs > 0) parts.push(`${formatDuration((rows / share - rows) / rowsPerMs)} left`);
  return parts.join(', ');
}

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  return `${text.slice(0, Math.max(0, width - 1))}…`;
}
