import { type OutcomeCounts, outcomes } from '../../client/rows/outcome.js';
import type { Io } from '../io.js';
import { formatCount, formatDuration } from './numbers.js';
import { colorsFor } from './style.js';

/** The progress of some work. */
interface Progress {
  /** The name of the work, one word. */
  readonly doing: string;
  /**
   * What is counted.
   *
   * @default 'rows'
   */
  readonly unit?: string;
  readonly rows: number;
  /** The part that is done, 0 to 1; `null` if it is not known. */
  readonly share: number | null;
  readonly total: number | null;
  readonly counts?: OutcomeCounts;
  /**
   * Time for which nothing is sent, in milliseconds, because the service asked for a pause or does
   * not answer.
   */
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

/**
 * Shows the progress of work: a bar on a terminal, else a line every ten seconds. `--quiet` shows
 * nothing.
 */
export async function withProgress<T>(
  io: Io,
  { quiet }: { readonly quiet?: boolean | undefined },
  progressNow: () => Progress,
  work: () => Promise<T>,
): Promise<T> {
  if (quiet) return work();
  return new ProgressDisplay(io, progressNow).during(work);
}

/** The bar on a terminal, or the lines elsewhere. */
export class ProgressDisplay {
  readonly #io: Io;
  readonly #progressNow: () => Progress;
  #timer: NodeJS.Timeout | undefined;
  #firstRows = 0;
  /** When the work began, later by the time of each pause. */
  #startedAt = 0;

  constructor(io: Io, progressNow: () => Progress) {
    this.#io = io;
    this.#progressNow = progressNow;
  }

  /** Shows the progress of work until it ends. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#startedAt = performance.now();
    this.#firstRows = this.#progressNow().rows;
    this.#show();
    try {
      return await work();
    } finally {
      this.#hide();
    }
  }

  /** Leaves the terminal to a question. Its time is none of the work. */
  async pauseFor<T>(question: () => Promise<T>): Promise<T> {
    if (this.#timer === undefined) return question();
    const pausedAt = performance.now();
    this.#hide();
    try {
      return await question();
    } finally {
      this.#startedAt += performance.now() - pausedAt;
      this.#show();
    }
  }

  #show(): void {
    const { stderr, env } = this.#io;
    const { green } = colorsFor(stderr, env);
    if (!stderr.isTTY) {
      this.#timer = setInterval(() => stderr.write(`${this.#line()}\n`), lineMs);
      return;
    }
    const showBar = () => {
      const line = this.#line((stderr.columns || defaultWidth) - 1, green);
      stderr.write(`\r${line}\u001b[K`);
    };
    this.#timer = setInterval(showBar, barMs);
  }

  #hide(): void {
    const { stderr } = this.#io;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (stderr.isTTY) stderr.write('\r\u001b[K');
  }

  #line(width?: number, paint?: (text: string) => string): string {
    const progress = this.#progressNow();
    const elapsedMs = Math.max(1, performance.now() - this.#startedAt);
    return progressLine(progress, (progress.rows - this.#firstRows) / elapsedMs, width, paint);
  }
}

/**
 * A line that is not wider than `width`: parts at its end are left out. Without a width, it has all
 * of them and no bar.
 */
export function progressLine(
  progress: Progress,
  rowsPerMs: number,
  width?: number,
  paint: (text: string) => string = (text) => text,
): string {
  const { share } = progress;
  const parts = progressParts(progress, rowsPerMs);
  const whole = parts.join('  ');
  if (width === undefined) return whole;
  while (parts.length > 1 && parts.join('  ').length > width) parts.pop();
  const line = parts.join('  ');
  const barWidth = Math.min(widestBar, width - line.length - 1);
  if (share === null || line !== whole || barWidth < narrowestBar) return line;
  const full = Math.round(share * barWidth);
  return `${paint('█'.repeat(full))}${'░'.repeat(barWidth - full)} ${line}`;
}

/** What the line says, the most important part first: `sending 40%`, `400/1,000 rows`, … */
function progressParts(progress: Progress, rowsPerMs: number): string[] {
  const { doing, unit = 'rows', rows, share, total, counts, pausedMs = 0 } = progress;
  const done = total === null ? formatCount(rows) : `${formatCount(rows)}/${formatCount(total)}`;
  const parts = [
    share === null ? doing : `${doing} ${Math.floor(share * 100)}%`,
    `${done} ${unit}`,
  ];
  for (const outcome of outcomes) {
    const count = counts?.[outcome] ?? 0;
    if (outcome !== 'ok' && count > 0) parts.push(`${outcome} ${formatCount(count)}`);
  }
  if (pausedMs > shownPauseMs) {
    parts.push(`waiting ${formatDuration(pausedMs)} for the service`);
    return parts;
  }
  if (share && rowsPerMs > 0) {
    const msLeft = (rows / share - rows) / rowsPerMs;
    parts.push(`${formatDuration(msLeft)} left`);
  }
  parts.push(`${formatCount(Math.round(rowsPerMs * 1000))}/s`);
  return parts;
}
