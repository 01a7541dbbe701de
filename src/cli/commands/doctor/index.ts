import { UserInfoError } from '../../../core/contract/errors.js';
import type { Settlement } from '../../../lab/settle/settle.js';
import { command, type Invocation } from '../../command.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { CheckFailedError } from '../../errors.js';
import { writeStyled } from '../../io.js';
import type { OutputStyle } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { nextStepOf } from '../../report-error.js';
import type { CheckName } from './checks.late.js';

export const declareDoctor = command({
  name: 'doctor',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'find out why requests fail',
  help: () => import('./help.txt?raw'),
  takes: (command) => addConnectionOptions(command),
  action: (invocation: Invocation<ConnectionOptions>) => runChecks(invocation),
});

/** The checks in the order of a request, with their titles. */
const titles: Readonly<Record<CheckName, string>> = {
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
};

const checkNames = Object.keys(titles) as CheckName[];

/** The result of a check. `skipped`: there was nothing to check, or an earlier check failed. */
export interface Check {
  readonly check: CheckName;
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
  const report = async (check: Check) => {
    results.push(check);
    if (isTable) await writeStyled(io.stdout, await formatCheck(check, style));
  };
  let cause: UserInfoError | undefined;
  try {
    for await (const result of checkResults(invocation, seen)) {
      const { check, detail, next = null, commands = [], skipped } = result;
      await report({ check, status: skipped ? 'skipped' : 'ok', detail, next, commands });
    }
  } catch (error) {
    if (!(error instanceof UserInfoError) || error.code === 'CANCELLED') throw error;
    const passed = new Set(results.map(({ check }) => check));
    const [failed, ...notReached] = checkNames.filter((name) => !passed.has(name));
    if (failed === undefined) throw error;
    cause = error;
    const { hint: next, commands } = nextStepOf(error, io.env);
    await report({ check: failed, status: 'failed', detail: error.message, next, commands });
    for (const check of notReached)
      await report({ check, status: 'skipped', detail: 'not reached', next: null, commands: [] });
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
async function formatCheck(
  { check, status, detail, next, commands }: Check,
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
  const mark = `${marks[status]} ${titles[check].padEnd(titleWidth)}  `;
  return `${mark}${lines.join('\n').slice(indent.length)}\n`;
}
