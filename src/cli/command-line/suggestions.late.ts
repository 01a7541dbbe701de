import type { Command, CommanderError } from 'commander';
import { distance } from 'fastest-levenshtein';
import { quoteName } from '../../protocol/errors.js';
import { isSlip } from '../../support/nearest-name.js';
import { type CommandLine, fullName, oneFileEach, UsageError } from './command-line.js';
import type { CommonOption } from './help-layout.js';
import { outputFormats } from './options.js';
import json from './other-tools.json' with { type: 'json' };

/** Options that are never suggested: who types another one does not mean to confirm, to replace or to weaken. */
const never = /^--(?:yes|restart|allow-http|take-over|no-.*)$/;

/**
 * What people type who know other tools: `names` are their options and commands, each with ours, of which a command has
 * one; `commands` are theirs, each with what to type here.
 */
const otherTools: {
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly commands: Readonly<Record<string, string>>;
} = json;

/** Advice instead of an option that a command does not have, by command and option. */
const otherWays: Readonly<Record<string, string>> = {
  'userinfo passback --from': 'For the rows of a file: userinfo bulk passback FILE',
  'userinfo read --from': 'For the rows of a file: userinfo bulk read FILE',
  'userinfo read --code': 'The code is the first argument: userinfo read "$code"',
  'userinfo read --union-id':
    'A read takes a code that was issued for the user: userinfo read "$(userinfo admin code issue …)"',
};

/**
 * The error of a command line that commander refuses. It never has the value of an unknown option, which may be a
 * mistyped secret.
 */
export function explainRefusal({ code, message }: CommanderError, line: CommandLine): UsageError {
  const { command, unknown, isUnknownFirst, operands, options } = line;
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  // The options after a mistyped command are not judged.
  if (isGroup && operands[0] !== undefined && !isUnknownFirst) return unknownCommand(command, operands[0]);
  // A mistyped option is the cause of one that is missing.
  const isAboutOptions = ['commander.unknownOption', 'commander.missingMandatoryOptionValue'].includes(code);
  if ((isAboutOptions || isGroup) && unknown[0] !== undefined) return unknownOption(line, unknown[0]);
  const [choice] = [
    ...options.map(({ option, value }) => [option.argChoices, value] as const),
    ...command.registeredArguments.map(({ argChoices }, index) => [argChoices, operands[index]] as const),
  ].filter(([choices, value]) => choices !== undefined && value !== undefined && !choices.includes(value));
  const format = outputFormats.find((one) => one === choice?.[1]);
  const [nearest = format && `-o ${format}`] =
    choice === undefined ? [] : suggest(choice[1] ?? '', choice[0] ?? []);
  const said = message.slice('error: '.length);
  const asOptions = settingsAsOptions(command, operands);
  if (code === 'commander.excessArguments' && asOptions.length > operands.length)
    return new UsageError(
      said,
      `Did you mean ${asOptions.slice(command.registeredArguments.length).join(' ')}?`,
    );
  if (code === 'commander.excessArguments' && fullName(command).startsWith('userinfo bulk '))
    return new UsageError(said, oneFileEach);
  return new UsageError(said, nearest === undefined ? undefined : `Did you mean "${nearest}"?`);
}

/** The arguments, with each `base_url=…` that is an option of the command written as one. */
function settingsAsOptions(command: Command, args: readonly string[]): string[] {
  return args.flatMap((arg) => {
    const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(arg) ?? [];
    const long = `--${name.replaceAll('_', '-')}`;
    return command.options.some((option) => option.long === long) ? [long, value] : [arg];
  });
}

/** The error of an option that a command does not have, or not with a value; `typed` is the argument. */
function unknownOption(line: CommandLine, typed: string): UsageError {
  const { command } = line;
  const names = optionsOf(command);
  const isLong = typed.startsWith('--');
  const flag = isLong ? typed.replace(/=.*$/s, '') : typed.slice(0, 2);
  if (isLong && names.includes(flag)) return new UsageError(`the option "${flag}" takes no value`);
  const message = `unknown option ${quoteName(flag)}`;
  const path = fullName(command);
  const other = otherWays[`${path} ${flag}`];
  if (other !== undefined) return new UsageError(message, other);
  if (/secret|passw/i.test(flag))
    return new UsageError(
      message,
      'The app secret is not an argument: --app-secret-stdin, -env or -command. Replace the secret that you typed.',
    );
  // As other tools write it: -help, -verbose.
  const word = isLong ? undefined : [...names, '--help'].find((name) => name === `-${typed}`);
  if (word !== undefined) return new UsageError(`unknown option ${quoteName(typed)}`, didYouMean([word]));
  const meant = suggest(flag, names);
  if (meant.length > 0) return new UsageError(message, didYouMean(meant));
  if (!isLong && typed.length > 2 && command.registeredArguments.length > 0)
    return new UsageError(message, 'If it is not an option: put all options before a --, and it after that.');
  return new UsageError(message, 'The options are listed by:', [`${path} --help`]);
}

/** The long options that a command line may mean: not the hidden ones. */
function optionsOf(command: Command | null): string[] {
  if (command === null) return [];
  const own = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  return [...new Set([...own, ...optionsOf(command.parent)])];
}

/** The error of a command that a group does not have: with what was probably meant, and its siblings. */
function unknownCommand(group: Command, typed: string): UsageError {
  const message = `unknown command ${quoteName(typed)}`;
  if (group.parent === null && Object.hasOwn(otherTools.commands, typed))
    return new UsageError(message, 'Did you mean:', [`${fullName(group)} ${otherTools.commands[typed]}`]);
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((one) => one.name())
    .filter((name) => name !== 'help');
  const lines = [didYouMean(suggest(typed, names)), `The commands are ${names.join(', ')}.`];
  return new UsageError(message, lines.filter((line) => line !== '').join('\n'));
}

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/**
 * The options or commands that were probably meant by one that does not exist: by its name in other tools, by two
 * letters that are swapped, by its beginning, by a letter or two, or by one of its words.
 */
function suggest(typed: string, names: readonly string[]): string[] {
  const allowed = names.filter((name) => !never.test(name));
  const known = Object.hasOwn(otherTools.names, typed)
    ? (otherTools.names[typed] ?? []).filter((name) => allowed.includes(name))
    : [];
  if (known.length > 0) return known;
  const bare = bareName(typed);
  if (bare.length < 2) return [];
  const edits = (name: string) => distance(bare, bareName(name));
  const same = allowed.find((name) => bareName(name).replaceAll('-', '') === bare.replaceAll('-', ''));
  if (same !== undefined) return [same];
  const near = allowed
    .filter((name) => isSlip(bare, bareName(name)) || (bare.length >= 6 && edits(name) <= 2))
    .sort((one, other) => edits(one) - edits(other));
  const swapped = near.find((name) => edits(name) === 2 && isSlip(bare, bareName(name)));
  if (swapped !== undefined) return [swapped];
  if (bare.length < 3) return near.slice(0, 1);
  const begun = allowed.filter((name) => bareName(name).startsWith(bare));
  if (begun.length > 0) return begun.slice(0, 3);
  if (near[0] !== undefined) return [near[0]];
  return allowed.filter((name) => bareName(name).split('-').includes(bare)).slice(0, 3);
}

/** A name without dashes before it, in lower case, as `camelCase` and `snake_case` are written here. */
function bareName(name: string): string {
  const words = name.replace(/^-+/, '').replace(/([a-z])([A-Z])/g, '$1-$2');
  return words.replaceAll('_', '-').toLowerCase();
}

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
