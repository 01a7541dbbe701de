import { UserInfoError } from '../../../protocol/errors.js';
import { type Call, command } from '../../command.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { writeStyled } from '../../io.js';
import type { OutputStyle } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { CheckFailedError, nextStepOf } from '../../report-error.js';
import type { checks, Known } from './checks.late.js';

export const declareDoctor = command({
  name: 'doctor',
  common: ['profile', 'output', 'network'],
  summary: 'find out why requests fail',
  takes: (command) => addConnectionOptions(command),
  run: runChecks,
});

/** The result of a check. `skipped`: there was nothing to check, or what it needs was not found. */
export interface Check {
  readonly check: keyof typeof checks;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result in one line. */
  readonly detail: string;
  /** The next step, in sentences. */
  readonly next: string | null;
  /** The commands that it is about. */
  readonly commands: readonly string[];
}

/** Runs all checks, and prints the result of each. The error of the command has the code of the first that failed. */
export async function runChecks(call: Call<ConnectionOptions>): Promise<void> {
  const { context, io, options, style, isTable, print } = call;
  const { checks, NotReachedError } = await import('./checks.late.js');
  const known: Known = { context, options };
  const results: Check[] = [];
  const faults: UserInfoError[] = [];
  try {
    for (const check of Object.keys(checks) as Check['check'][]) {
      let result: Omit<Check, 'check'>;
      try {
        const { detail, next = null, commands = [], skipped = false } = await checks[check](known);
        result = { status: skipped ? 'skipped' : 'ok', detail, next, commands };
      } catch (error) {
        if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
        const isReported = faults.some(({ message }) => message === error.message);
        if (error instanceof NotReachedError || isReported) {
          result = { status: 'skipped', detail: 'not reached', next: null, commands: [] };
        } else {
          faults.push(error);
          const { hint: next, commands } = nextStepOf(error, io.env);
          result = { status: 'failed', detail: error.message, next, commands };
        }
      }
      results.push({ check, ...result });
      if (isTable)
        await writeStyled(
          io.stdout,
          await formatResult(titles[check] ?? check.replaceAll('_', ' '), result, style),
        );
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

/** The titles of checks that are not their names. */
const titles: Readonly<Partial<Record<Check['check'], string>>> = {
  base_url: 'base URL',
  dns: 'DNS',
  tls: 'TLS',
};

/** The length of the longest title. */
const titleWidth = 12;

/** One line for a check, and lines for what to do next. */
async function formatResult(
  title: string,
  { status, detail, next, commands }: Omit<Check, 'check'>,
  { colors, columns = Number.POSITIVE_INFINITY }: OutputStyle,
): Promise<string> {
  const { breakCommand, breakText } = await import('../../output/break-lines.js');
  const marks = { ok: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') };
  const indent = ' '.repeat(titleWidth + 4);
  const lines = [detail, ...(next?.split('\n') ?? [])].map((text) =>
    breakText(`${indent}${showText(text)}`, columns),
  );
  for (const command of commands) {
    const broken = command.split('\n').flatMap((line) => breakCommand(line, columns - indent.length - 2));
    lines.push(...broken.map((line) => `${indent}  ${showText(line)}`));
  }
  const mark = `${marks[status]} ${title.padEnd(titleWidth)}  `;
  return `${mark}${lines.join('\n').slice(indent.length)}\n`;
}
