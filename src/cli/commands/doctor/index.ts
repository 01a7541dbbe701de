import type { OperationName } from '../../../core/contract/endpoints.js';
import { UserInfoError } from '../../../core/contract/errors.js';
import type { Settlement } from '../../../lab/settle/settle.js';
import { command, type Invocation } from '../../command.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { CheckFailedError } from '../../errors.js';
import { writeStyled } from '../../io.js';
import type { OutputStyle } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { nextStepOf } from '../../report-error.js';

export const declareDoctor = command({
  name: 'doctor',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'find out why requests fail',
  help: () => import('./help.txt?raw'),
  takes: (command) => addConnectionOptions(command),
  action: (invocation: Invocation<ConnectionOptions>) => runChecks(invocation),
});

/** The checks in the order of a request, with their titles. */
const titles = {
  profile_file: 'profile file',
  settings: 'settings',
  base_url: 'base URL',
  app_secret: 'app secret',
  proxy: 'proxy',
  signing: 'signing',
  connection: 'connection',
  tls: 'TLS',
  answer: 'answer',
  clock: 'clock',
  read: 'read',
  passback: 'passback',
} as const satisfies Readonly<Record<OperationName, string> & Record<string, string>>;

/** The result of a check. `skipped`: there was nothing to check, or an earlier check failed. */
export interface Check {
  readonly check: keyof typeof titles;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result in one line. */
  readonly detail: string;
  /** The next step, in sentences. */
  readonly next: string | null;
  /** The commands that it is about. */
  readonly commands: readonly string[];
}

/**
 * Runs the checks up to the first that fails, and prints their results. The error of the command
 * has its code.
 *
 * @param seen what the platform showed of the signatures, if it was asked before
 */
export async function runChecks(
  invocation: Invocation<ConnectionOptions>,
  seen?: Settlement,
): Promise<void> {
  const { io, style, isTable, print } = invocation;
  const { checkResults } = await import('./checks.late.js');
  const results: Check[] = [];
  const report = async (result: Omit<Check, 'check'>) => {
    const check = (Object.keys(titles) as Check['check'][])[results.length];
    if (check === undefined) return;
    results.push({ check, ...result });
    if (isTable) await writeStyled(io.stdout, await formatResult(titles[check], result, style));
  };
  let cause: UserInfoError | undefined;
  try {
    for await (const { detail, next = null, commands = [], skipped } of checkResults(
      invocation,
      seen,
    ))
      await report({ status: skipped ? 'skipped' : 'ok', detail, next, commands });
  } catch (error) {
    if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
    cause = error;
    const { hint: next, commands } = nextStepOf(error, io.env);
    await report({ status: 'failed', detail: error.message, next, commands });
    while (results.length < Object.keys(titles).length)
      await report({ status: 'skipped', detail: 'not reached', next: null, commands: [] });
  }
  if (!isTable) await print(results);
  if (cause === undefined) return;
  throw new CheckFailedError(
    'a check failed',
    { hint: 'See the advice below the ✗.', cause },
    cause.code,
  );
}

/** The length of the longest title. */
const titleWidth = 12;

/** One line for a check, and lines for what to do next. */
async function formatResult(
  title: string,
  { status, detail, next, commands }: Omit<Check, 'check'>,
  { colors, columns = Number.POSITIVE_INFINITY }: OutputStyle,
): Promise<string> {
  const { breakText } = await import('../../output/break-lines.js');
  const marks = { ok: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') };
  const indent = ' '.repeat(titleWidth + 4);
  const lines = [detail, ...(next?.split('\n') ?? [])].map((text) =>
    breakText(`${indent}${showText(text)}`, columns),
  );
  for (const line of commands.flatMap((command) => command.split('\n')))
    lines.push(`${indent}  ${showText(line)}`);
  const mark = `${marks[status]} ${title.padEnd(titleWidth)}  `;
  return `${mark}${lines.join('\n').slice(indent.length)}\n`;
}
