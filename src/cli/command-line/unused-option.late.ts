import type { Command } from 'commander';
import { fullName, UsageError } from './command-line.js';
import type { CommonOption } from './help-layout.js';
import { suggest } from './suggestions.late.js';

/** The error of an option of all commands that this one has no use for, with what was probably meant. */
export function unusedOption(
  command: Command,
  { short, long }: CommonOption,
  args: readonly string[],
): UsageError {
  const isShort = short !== undefined && args.some((arg) => arg.startsWith(short) && !arg.startsWith('--'));
  const own = command.options.flatMap((option) => option.long ?? []);
  const [meant] = isShort ? suggest(short, own) : [];
  const message = `"${fullName(command)}" has no use for ${isShort ? short : long}`;
  if (long === '--profile' && command.registeredArguments[0]?.name() === 'name')
    return new UsageError(message, `The profile is an argument: ${fullName(command)} NAME`);
  return new UsageError(message, meant === undefined ? 'Leave it out.' : `Did you mean "${meant}"?`);
}
