import { UserInfoError, type UserInfoErrorOptions } from '../protocol/errors.js';
import { explainMissing } from '../support/errors.js';
import { exitStatus, exitStatusOf, ReportedError } from './exit-status.js';
import { type Io, OutputError, say } from './io.js';
import { colorsFor } from './output/style.js';

const faultAdvice =
  'This is a bug in userinfo: run it again with --verbose for a stack trace, and report it.';

/**
 * Prints an error and what to do next to stderr, and returns the exit status. A stack trace is printed only for an
 * internal error, with `--verbose`. Errors that commander has printed are not repeated.
 */
export async function reportError(thrown: unknown, io: Io, verbose: boolean): Promise<number> {
  const error = explainMissing(thrown);
  const status = exitStatusOf(error);
  if (isReported(error)) return status;
  const colors = colorsFor(io.stderr, io.env);
  if (status === exitStatus.interrupted) {
    await say(io, 'interrupted');
    const { received, hint } = error as { received?: unknown; hint?: string };
    if (received === true && hint !== undefined) await say(io, hint);
    return status;
  }
  const { message, hint, stack } = describe(error);
  await say(io, message, `${colors.red('error:')} `);
  for (const line of hint?.split('\n') ?? []) await say(io, line);
  if (status === exitStatus.fault && !(error instanceof OutputError)) {
    const trace = verbose && stack !== undefined ? stack.split('\n') : [faultAdvice];
    for (const line of trace) await say(io, line);
  }
  return status;
}

function isReported(error: unknown): boolean {
  if (error instanceof ReportedError) return true;
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('commander.');
}

/**
 * What to do about an error. The client's hints name its options; on the command line a proxy comes from the
 * environment.
 */
export function hintOf(error: Error): string | undefined {
  const { reason, hint } = error as { reason?: unknown; hint?: unknown };
  if (reason === 'proxy')
    return `${hint} HTTPS_PROXY, HTTP_PROXY and NO_PROXY name the proxy and the exceptions.`;
  return typeof hint === 'string' ? hint : undefined;
}

function describe(error: unknown): { message: string; hint?: string; stack?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const hint = hintOf(error);
  return {
    message: error.message,
    ...(hint === undefined ? {} : { hint }),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
  };
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
