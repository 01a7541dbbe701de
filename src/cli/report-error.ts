import { UserInfoError, type UserInfoErrorOptions } from '../protocol/errors.js';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { exitStatus, exitStatusOf } from './exit-status.js';
import { type Io, OutputError, printMessage } from './io.js';
import { colorsFor } from './output/style.js';

/**
 * Prints an error and what to do next to stderr, with `json` as one line of JSON, and returns the exit status. A stack
 * trace is printed only for an internal error, with `verbose`.
 */
export async function reportError(
  error: unknown,
  io: Io,
  { verbose, json }: { readonly verbose?: boolean; readonly json?: boolean },
): Promise<number> {
  const exit = exitStatusOf(error);
  if (exit === exitStatus.success) return exit;
  const report = describe(error, exit);
  if (json) {
    await printMessage(io, JSON.stringify({ error: report }));
    return exit;
  }
  const label = `${colorsFor(io.stderr, io.env).red('error:')} `;
  await printMessage(io, report.message, exit === exitStatus.interrupted ? '' : label);
  const isFault = exit === exitStatus.fault && !(error instanceof OutputError);
  const lines = isFault && verbose && error instanceof Error ? error.stack : report.hint;
  for (const line of lines?.split('\n') ?? []) await printMessage(io, line);
  return exit;
}

/** The JSON of an error: its stable code, its exit status, and in `hint` what to do next, in lines. */
function describe(error: unknown, exit: number) {
  if (!(error instanceof Error)) return { code: 'INTERNAL', message: String(error), hint: faultHint, exit };
  const { code, received } = error as { code?: unknown; received?: unknown };
  const hint = hintOf(error) ?? null;
  if (exit === exitStatus.interrupted) {
    return { code: 'CANCELLED', message: 'interrupted', hint: received === true ? hint : null, exit };
  }
  if (String(code).startsWith('commander.')) {
    const [message = '', ...advice] = error.message.replace(/'(\S+|--\S+ <\S+>)'/g, '"$1"').split('\n');
    const similar = advice.join('\n').replace(/\((Did you mean) (.*)\?\)/, '$1 "$2"?');
    return { code: 'USAGE', message: message.replace(/^error: /, ''), hint: similar || usageHint, exit };
  }
  if (exit === exitStatus.fault && !(error instanceof OutputError)) {
    if (!isSystemError(error)) return { code: 'INTERNAL', message: error.message, hint: faultHint, exit };
    const message = `${error.path ?? error.syscall}: ${describeSystemError(error)} (${error.code})`;
    return { code: 'INTERNAL', message, hint: systemHint, exit };
  }
  return { code: String(code), message: error.message, hint, exit };
}

const usageHint = 'Add --help for usage.';
const systemHint = 'If that is as it should be, report it with the stack trace that --verbose prints.';
const databaseHint = 'Run the command again when the database answers.';
const faultHint = 'This is a bug in userinfo: run it again with --verbose for a stack trace, and report it.';

/**
 * What to do about an error. The client's hints name its options; on the command line a proxy comes from the
 * environment.
 */
export function hintOf(error: Error): string | undefined {
  const { code, reason, hint, sent } = error as Partial<Record<'code' | 'reason' | 'hint' | 'sent', unknown>>;
  const parts = [
    sent === 'nothing' && 'Nothing was sent.',
    hint ?? (code === 'STORE_UNAVAILABLE' && databaseHint),
    reason === 'proxy' && 'HTTPS_PROXY, HTTP_PROXY and NO_PROXY name the proxy and the exceptions.',
  ].filter((part) => typeof part === 'string' && part !== '');
  return parts.length === 0 ? undefined : parts.join(' ');
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
