import type { ChalkInstance } from 'chalk';
import { showText } from '../output/terminal-text.js';
import { type Check, checkTitles } from './checkup.js';

const titleWidth = Math.max(...Object.values(checkTitles).map((title) => title.length));

/** A line for a check, and one for what to do next. */
export function formatCheck({ check, status, detail, next }: Check, colors: ChalkInstance): string {
  const marks = { ok: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') };
  const title = checkTitles[check].padEnd(titleWidth);
  const line = `${marks[status]} ${title}  ${showText(detail)}\n`;
  return next === null ? line : `${line}${' '.repeat(titleWidth + 4)}${showText(next)}\n`;
}
