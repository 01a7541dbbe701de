import type { Command } from 'commander';
import { quoteWhereNeeded } from '../../support/shell.js';
import { withoutPassword } from '../service/database.js';
import { fullName, UsageError } from './command-line.js';
import type { CommonOption } from './help-layout.js';
import { settingsAsOptions, suggest } from './suggestions.late.js';

/**
 * The error of an option of all commands that this one has no use for, with the command line that was probably meant.
 */
export function unusedOption(
  command: Command,
  { short, long }: CommonOption,
  args: readonly string[],
): UsageError {
  const own = command.options.flatMap((option) => option.long ?? []);
  const isShort = short !== undefined && args.some((arg) => isGlued(arg, short));
  const [meant] = isShort ? suggest(short, own) : [];
  const [kept, value = ''] = replaceOption(args, [short, long], meant);
  const takesProfile = long === '--profile' && command.registeredArguments[0]?.name() === 'name';
  if (takesProfile) kept.splice(kept.indexOf(command.name()) + 1, 0, value);
  const line = settingsAsOptions(command, kept).map(withoutPassword).map(quoteWhereNeeded);
  return new UsageError(
    `"${fullName(command)}" has no use for ${isShort ? short : long}`,
    takesProfile
      ? 'The profile is an argument:'
      : meant === undefined
        ? 'Leave it out:'
        : `Did you mean "${meant}"?`,
    [['userinfo', ...line].join(' ')],
  );
}

/** Whether an argument is a short option, such as `-p` or `-pNAME`. */
function isGlued(arg: string, short: string): boolean {
  return arg.startsWith(short) && !arg.startsWith('--');
}

/** The arguments with the option and its value replaced by `by`, or without both; and the value. */
function replaceOption(
  args: readonly string[],
  [short, long]: readonly (string | undefined)[],
  by: string | undefined,
): [kept: string[], value: string | undefined] {
  const kept: string[] = [];
  let value: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const [name, glued] = splitOption(arg, short);
    if (name !== short && name !== long) kept.push(arg);
    else {
      if (glued === undefined) at += 1;
      value = glued ?? args[at] ?? '';
      if (by !== undefined) kept.push(by, value);
    }
  }
  return [kept, value];
}

/** `undefined` for a value that is the next argument. */
function splitOption(arg: string, short: string | undefined): [name: string, value: string | undefined] {
  if (short !== undefined && isGlued(arg, short) && arg.length > 2)
    return [short, arg.slice(2).replace(/^=/, '')];
  const [name = '', ...rest] = arg.split('=');
  return [name, rest.length === 0 ? undefined : rest.join('=')];
}
