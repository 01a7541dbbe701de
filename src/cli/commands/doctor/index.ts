import type { ChalkInstance } from 'chalk';
import { UserInfoError } from '../../../protocol/errors.js';
import { type Call, command } from '../../command.js';
import { writeStyled } from '../../io.js';
import { addConnectionOptions, type ConnectionOptions } from '../../options.js';
import { showText } from '../../output/terminal-text.js';
import { CheckFailedError, hintOf } from '../../report-error.js';
import type { checks, Known } from './checks.js';

export const declareDoctor = command({
  name: 'doctor',
  common: ['profile', 'output', 'network'],
  summary: 'find out why requests fail',
  description:
    'Check each step from the profile to an answer of the service. This sends one read with a code ' +
    'that was never issued: nothing is written.',
  examples: [
    ['userinfo doctor', 'with the active profile'],
    ["userinfo doctor -p local --query '[?status==`failed`]' --json", 'what failed, for a program'],
  ],
  takes: (command) => addConnectionOptions(command),
  run: runChecks,
});

/** The result of a check. `skipped`: there was nothing to check, or what it needs was not found. */
export interface Check {
  readonly check: keyof typeof checks;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result in one line. */
  readonly detail: string;
  /** The next step. */
  readonly next: string | null;
}

/** Runs all checks, and prints the result of each. The error of the command has the code of the first that failed. */
async function runChecks(call: Call<ConnectionOptions>): Promise<void> {
  const { context, io, options, style, isTable, print } = call;
  const { checks, NotReachedError } = await import('./checks.js');
  const known: Known = { context, options };
  const results: Check[] = [];
  const faults: UserInfoError[] = [];
  try {
    for (const check of Object.keys(checks) as Check['check'][]) {
      const { title, run } = checks[check];
      let result: Omit<Check, 'check'>;
      try {
        const { detail, next = null, skipped = false } = await run(known);
        result = { status: skipped ? 'skipped' : 'ok', detail, next };
      } catch (error) {
        if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
        const isReported = faults.some(({ message }) => message === error.message);
        if (error instanceof NotReachedError || isReported) {
          result = { status: 'skipped', detail: 'not reached', next: null };
        } else {
          faults.push(error);
          result = { status: 'failed', detail: error.message, next: hintOf(error) ?? null };
        }
      }
      results.push({ check, ...result });
      if (isTable) await writeStyled(io.stdout, formatResult(title, result, style.colors));
    }
  } finally {
    await known.client?.close();
  }
  if (!isTable) await print(results);
  const [cause] = faults;
  if (cause === undefined) return;
  const message = `${faults.length} of ${results.length} checks failed`;
  throw new CheckFailedError(message, { hint: 'See the advice below each ✗.', cause }, cause.code);
}

/** The length of the longest title. */
const titleWidth = 12;

/** One line for a check, and lines for what to do next. */
function formatResult(
  title: string,
  { status, detail, next }: Omit<Check, 'check'>,
  colors: ChalkInstance,
): string {
  const marks = { ok: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') };
  const line = `${marks[status]} ${title.padEnd(titleWidth)}  ${showText(detail)}\n`;
  const advice = (next?.split('\n') ?? []).map((text) => `${' '.repeat(titleWidth + 4)}${showText(text)}\n`);
  return line + advice.join('');
}
