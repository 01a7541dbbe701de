// Apart from command.ts: only a command line that is refused loads it.
import type { Command } from 'commander';
import { quoteWhereNeeded } from '../support/shell.js';
import { UsageError } from './command.js';
import { withoutPassword } from './database.js';
import type { CommonOption } from './help-layout.js';
import { suggest } from './suggestions.js';

/**
 * The error of an option of all commands that this one has no use for, with the command line that was probably meant.
 */
export function unusedOption(
  path: string,
  command: Command,
  { short, long }: CommonOption,
  args: readonly string[],
): UsageError {
  const own = command.options.flatMap((option) => option.long ?? []);
  const isShort = short !== undefined && args.some((arg) => isGlued(arg, short));
  const [meant] = isShort ? suggest(short, own) : [];
  const rest = replaceOption(args, [short, long], meant).map(withoutPassword).map(quoteWhereNeeded);
  return new UsageError(
    `"${path}" has no use for ${isShort ? short : long}`,
    meant === undefined ? 'Leave it out:' : `Did you mean "${meant}"?`,
    [['userinfo', ...rest].join(' ')],
  );
}

/** Whether an argument is a short option, such as `-p` or `-pNAME`. */
function isGlued(arg: string, short: string): boolean {
  return arg.startsWith(short) && !arg.startsWith('--');
}

/** The arguments with the option and its value replaced by `by`, or without both. */
function replaceOption(
  args: readonly string[],
  [short, long]: readonly (string | undefined)[],
  by: string | undefined,
): string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [name, value] = splitOption(arg, short);
    if (name !== short && name !== long) kept.push(arg);
    else {
      if (value === undefined) at += 1;
      if (by !== undefined) kept.push(by, value ?? args[at] ?? '');
    }
  }
  return kept;
}

/** `undefined` for a value that is the next argument. */
function splitOption(arg: string, short: string | undefined): [name: string, value: string | undefined] {
  if (short !== undefined && isGlued(arg, short) && arg.length > 2)
    return [short, arg.slice(2).replace(/^=/, '')];
  const [name = '', ...rest] = arg.split('=');
  return [name, rest.length === 0 ? undefined : rest.join('=')];
}
