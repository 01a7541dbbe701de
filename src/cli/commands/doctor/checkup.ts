// Apart from index.ts: only a run of the command loads the checks.
import type { ChalkInstance } from 'chalk';
import { UserInfoError } from '../../../protocol/errors.js';

import { showText } from '../../output/terminal-text.js';
import { CheckFailedError, hintOf } from '../../report-error.js';
import { checks, type Known, NotReachedError } from './checks.js';

type CheckName = keyof typeof checks;

/** The result of a check. `skipped`: there was nothing to check, or what it needs was not found. */
export interface Check {
  readonly check: CheckName;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result in one line. */
  readonly detail: string;
  /** What to do about it. */
  readonly next: string | null;
}

/**
 * Runs all checks, and reports each as it completes.
 *
 * @returns the error of the command, if a check failed; its code is that of the first failure
 */
export async function runCheckup(
  known: Known,
  report: (check: Check) => Promise<void>,
): Promise<UserInfoError | undefined> {
  const faults: UserInfoError[] = [];
  try {
    for (const check of Object.keys(checks) as CheckName[]) {
      try {
        const { detail, next = null, skipped = false } = await checks[check].run(known);
        await report({ check, status: skipped ? 'skipped' : 'ok', detail, next });
      } catch (error) {
        if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
        const isReported = faults.some(({ message }) => message === error.message);
        if (error instanceof NotReachedError || isReported) {
          await report({ check, status: 'skipped', detail: 'not reached', next: null });
        } else {
          faults.push(error);
          await report({ check, status: 'failed', detail: error.message, next: hintOf(error) ?? null });
        }
      }
    }
  } finally {
    await known.client?.close();
  }
  const [cause] = faults;
  if (cause === undefined) return undefined;
  const message = `${faults.length} of ${Object.keys(checks).length} checks failed`;
  return new CheckFailedError(message, { hint: 'See the advice below each ✗.', cause }, cause.code);
}

const titleWidth = Math.max(...Object.values(checks).map(({ title }) => title.length));

/** One line for a check, and one for what to do next. */
export function formatCheck({ check, status, detail, next }: Check, colors: ChalkInstance): string {
  const marks = { ok: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') };
  const line = `${marks[status]} ${checks[check].title.padEnd(titleWidth)}  ${showText(detail)}\n`;
  const advice = (next?.split('\n') ?? []).map((text) => `${' '.repeat(titleWidth + 4)}${showText(text)}\n`);
  return line + advice.join('');
}
