import { InvalidInputError, UserInfoError } from '../core/contract/errors.js';
import { describeSystemError, isSystemError } from '../core/support/errors.js';
import { ExplainedError } from './errors.js';
import { exitStatus, exitStatusOf } from './exit-status.js';
import { type Advice, type Io, printAdvice, printMessage, writeStyled } from './io.js';
import { colorsFor } from './output/style.js';
import { showText } from './output/terminal-text.js';

/** The parts of an error, from which one sentence after the other is made. */
interface Report extends Advice {
  /** Stable across versions. */
  readonly code: string;
  readonly message: string;
  /** The code with which the service refused (§7). */
  readonly result_code: number | null;
  readonly exit: number;
}

/**
 * Prints an error and what to do next to stderr, with `json` as one line of JSON, and returns the
 * exit status. A stack trace is printed only for an internal error, with `verbose`. `isUnsent`: the
 * command sends requests, and has sent none.
 */
export async function reportError(
  error: unknown,
  io: Io,
  options: { readonly verbose?: boolean; readonly json?: boolean; readonly isUnsent?: boolean },
): Promise<number> {
  const { verbose, json, isUnsent } = options;
  const exit = exitStatusOf(error);
  if (exit === exitStatus.success) return exit;
  const sent = isUnsent && error instanceof InvalidInputError ? 'nothing' : null;
  const report = reportOf(error, exit, io.env);
  if (json) {
    await printJsonReport(io, { ...report, sent });
    return exit;
  }
  const label = `${colorsFor(io.stderr, io.env).red('error:')} `;
  await printMessage(io, report.message, exit === exitStatus.interrupted ? '' : label);
  if (verbose && isFault(error, exit) && error instanceof Error && error.stack !== undefined) {
    for (const line of error.stack.split('\n')) await printMessage(io, line);
    return exit;
  }
  const hint = [sent && 'Nothing was sent.', report.hint].filter(Boolean).join(' ');
  await printAdvice(io, { hint: hint || null, commands: report.commands });
  return exit;
}

/** Prints the parts of an error as one line of JSON; those that are empty are left out. */
async function printJsonReport(
  io: Io,
  report: Report & { readonly sent: 'nothing' | null },
): Promise<void> {
  const line = JSON.stringify({ error: report }, (_, value) =>
    isEmpty(value) ? undefined : value,
  );
  await writeStyled(io.stderr, `${showText(line)}\n`);
}

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

function isFault(error: unknown, exit: number): boolean {
  return exit === exitStatus.fault && !(error instanceof UserInfoError);
}

function reportOf(error: unknown, exit: number, env: Io['env']): Report {
  const none = { result_code: null, commands: [], exit };
  if (!(error instanceof Error))
    return { code: 'INTERNAL', message: String(error), ...none, hint: faultHint };
  if (exit === exitStatus.interrupted) {
    const report = { code: 'CANCELLED', message: 'interrupted', ...none, hint: null };
    // The request may have been carried out.
    const isDoubtful = (error as { received?: unknown }).received === true;
    return isDoubtful ? { ...report, ...nextStepOf(error, env) } : report;
  }
  const { message } = error;
  if (!isFault(error, exit)) {
    const { code } = error as Partial<UserInfoError>;
    const result_code = error instanceof ExplainedError ? error.resultCode : null;
    return { code: String(code), message, result_code, ...nextStepOf(error, env), exit };
  }
  if (!isSystemError(error)) return { code: 'INTERNAL', message, ...none, hint: faultHint };
  const where = error.path ?? error.syscall;
  const described = `${where}: ${describeSystemError(error)} (${error.code})`;
  return { code: 'INTERNAL', message: described, ...none, hint: systemHint };
}

const systemHint =
  'If you expected this to work, report it with the stack trace that --verbose prints.';
const databaseHint = 'Run the command again when the database answers.';
const faultHint =
  'This is a bug in userinfo: run it again with --verbose for a stack trace, and report it.';
const proxyHint =
  '--proxy or the profile names the proxy, else HTTPS_PROXY, HTTP_PROXY and NO_PROXY.';

/**
 * The next step after an error. The client's hints name its options, which on the command line have
 * other names.
 */
export function nextStepOf(error: Error, env: Io['env']): Advice {
  const { code, hint, commands = [] } = error as Partial<UserInfoError>;
  const { reason } = error as { reason?: unknown };
  const sentences: string[] = [];
  if (hint) sentences.push(hint);
  if (hint === undefined && code === 'STORE_UNAVAILABLE') sentences.push(databaseHint);
  if (reason === 'proxy') sentences.push(proxyHint);
  const unreadProxy = ['ALL_PROXY', 'all_proxy'].find((name) => env[name]);
  if ((reason === 'dns' || reason === 'connect') && unreadProxy !== undefined)
    sentences.push(`${unreadProxy} is not read. ${proxyHint}`);
  return { hint: sentences.length === 0 ? null : sentences.join(' '), commands };
}
