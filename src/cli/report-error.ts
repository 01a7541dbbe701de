import {
  InvalidInputError,
  UserInfoError,
  type UserInfoErrorOptions,
} from '../core/contract/errors.js';
import { describeSystemError, isSystemError } from '../core/support/errors.js';
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
    const line = JSON.stringify({ error: { ...report, sent } }, (_, value) =>
      isEmpty(value) ? undefined : value,
    );
    await writeStyled(io.stderr, `${showText(line)}\n`);
    return exit;
  }
  const label = `${colorsFor(io.stderr, io.env).red('error:')} `;
  await printMessage(io, report.message, exit === exitStatus.interrupted ? '' : label);
  if (verbose && isFault(error, exit) && error instanceof Error && error.stack !== undefined) {
    for (const line of error.stack.split('\n')) await printMessage(io, line);
  } else {
    const hint = [sent && 'Nothing was sent.', report.hint].filter(Boolean).join(' ');
    await printAdvice(io, { hint: hint || null, commands: report.commands });
  }
  return exit;
}

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

function isFault(error: unknown, exit: number): boolean {
  return exit === exitStatus.fault && !(error instanceof UserInfoError);
}

function reportOf(error: unknown, exit: number, env: Io['env']): Report {
  const none = { result_code: null, commands: [], exit };
  if (!(error instanceof Error))
    return { code: 'INTERNAL', message: String(error), ...none, hint: faultHint };
  const { code } = error as Partial<UserInfoError>;
  const advice = nextStepOf(error, env);
  if (exit === exitStatus.interrupted) {
    const isDoubtful = (error as { received?: unknown }).received === true;
    return {
      code: 'CANCELLED',
      message: 'interrupted',
      ...none,
      ...(isDoubtful ? advice : { hint: null }),
    };
  }
  const { message } = error;
  const result_code = error instanceof ExplainedError ? error.resultCode : null;
  if (!isFault(error, exit)) return { code: String(code), message, result_code, ...advice, exit };
  if (!isSystemError(error)) return { code: 'INTERNAL', message, ...none, hint: faultHint };
  const what = `${error.path ?? error.syscall}: ${describeSystemError(error)} (${error.code})`;
  return { code: 'INTERNAL', message: what, ...none, hint: systemHint };
}

const systemHint =
  'If that is as it should be, report it with the stack trace that --verbose prints.';
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
  const {
    code,
    reason,
    hint,
    commands = [],
  } = error as Partial<UserInfoError> & { reason?: unknown };
  const unreadProxy = ['ALL_PROXY', 'all_proxy'].find((name) => env[name]);
  const sentences = [
    hint ?? (code === 'STORE_UNAVAILABLE' && databaseHint),
    reason === 'proxy' && proxyHint,
    (reason === 'dns' || reason === 'connect') &&
      unreadProxy !== undefined &&
      `${unreadProxy} is not read. ${proxyHint}`,
  ].filter((part) => typeof part === 'string' && part !== '');
  return { hint: sentences.length === 0 ? null : sentences.join(' '), commands };
}

/** The error of a call, with what only the command line knows. */
export class ExplainedError extends UserInfoError {
  readonly code: string;
  readonly reason: unknown;
  readonly resultCode: number | null;

  /** Takes what is not given from `cause`. */
  constructor(
    cause: UserInfoError,
    {
      message = cause.message,
      hint = cause.hint,
      commands = cause.commands,
    }: Pick<UserInfoErrorOptions, 'hint' | 'commands'> & { readonly message?: string },
  ) {
    super(message, { hint, commands, cause });
    this.code = cause.code;
    const { reason, resultCode } = cause as { reason?: unknown; resultCode?: number };
    this.reason = reason;
    this.resultCode = cause.code === 'REJECTED' ? (resultCode ?? null) : null;
  }
}

/** A check failed. Its result is on stdout already. */
export class CheckFailedError extends UserInfoError {
  readonly code: string;

  /** `code` decides the exit status. */
  constructor(message: string, options: UserInfoErrorOptions = {}, code = 'CHECK_FAILED') {
    super(message, options);
    this.code = code;
  }
}
