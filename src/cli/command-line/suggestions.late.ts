import type { Command, CommanderError } from 'commander';
import { quoteName } from '../../core/contract/errors.js';
import { nearestName } from '../../core/support/nearest-name.js';
import {
  type CommandLine,
  findOption,
  flagOf,
  fullName,
  oneFileEach,
  UsageError,
} from './command-line.js';
import type { CommonOption, DependentOption } from './help-layout.js';
import json from './other-tools.json' with { type: 'json' };

/**
 * What people of gh, aws and HTTPie type, and what does it here: options, and commands of the
 * program or of a group.
 */
const otherTools: {
  readonly options: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<string, string>>;
} = json;

/**
 * The error of a command line that commander refuses. It never has the value of an unknown option,
 * which may be a mistyped secret.
 */
export function explainRefusal({ code, message }: CommanderError, line: CommandLine): UsageError {
  const { command, operands, unknown, isUnknownFirst } = line;
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  const [operand] = operands;
  const [option] = unknown;
  if (isGroup && operand !== undefined && !isUnknownFirst) return unknownCommand(command, operand);
  const [said = '', suggestion] = message.slice('error: '.length).split('\n');
  if (code === 'commander.excessArguments' && fullName(command).startsWith('userinfo bulk '))
    return new UsageError(said, oneFileEach);
  const missing = missingPart(code, said, command);
  if (missing !== undefined) return missing;
  if (code !== 'commander.unknownOption' || option === undefined) return new UsageError(said);
  return unknownOption(command, option, suggestion);
}

/** The error of an argument or an option that is left out; commander's message quotes its name. */
function missingPart(code: string, said: string, command: Command): UsageError | undefined {
  const [, quoted = ''] = /'([^']+)'/.exec(said) ?? [];
  if (code === 'commander.missingArgument') {
    const usage = `${fullName(command)} ${command.usage()}`;
    return new UsageError(`the ${quoted} is missing`, `Usage: ${usage}`);
  }
  if (code !== 'commander.missingMandatoryOptionValue') return undefined;
  const option = command.options.find(({ flags }) => flags === quoted);
  return new UsageError(
    `${option?.long ?? quoted} is missing`,
    `Add ${quoted}: ${option?.description ?? ''}.`,
  );
}

/**
 * `typed` is the argument, `suggestion` that of commander, such as `(Did you mean --union-id?)`.
 */
function unknownOption(
  command: Command,
  typed: string,
  suggestion: string | undefined,
): UsageError {
  const flag = flagOf(typed);
  if (findOption(command, flag) !== undefined)
    return new UsageError(`the option "${flag}" takes no value`);
  const message = `unknown option ${quoteName(flag)}`;
  if (/secret|passw/i.test(flag))
    return new UsageError(
      message,
      'The app secret is not an argument: --app-secret-stdin, -env or -command. Replace the secret that you typed.',
    );
  const argument = command.registeredArguments.find((known) => isNamed(known.name(), flag));
  if (argument !== undefined) {
    const usage = `${fullName(command)} ${command.usage()}`;
    return new UsageError(message, `It is an argument: ${usage}`);
  }
  const ourFlag = otherTools.options[flag];
  if (ourFlag !== undefined && findOption(command, ourFlag) !== undefined)
    return new UsageError(message, didYouMean(ourFlag));
  if (suggestion !== undefined) return new UsageError(message, suggestion.slice(1, -1));
  let hint = 'The options are listed by:';
  if (command.registeredArguments.length > 0)
    hint = `Put a -- before an argument that begins with -. ${hint}`;
  return new UsageError(message, hint, [`${fullName(command)} --help`]);
}

/** Whether an option is called like an argument, in the singular or the plural. */
function isNamed(argument: string, flag: string): boolean {
  return flag === `--${argument}` || flag === `--${argument}s`;
}

/**
 * The error of a command that a group does not have: with what was probably meant, and its
 * siblings.
 */
function unknownCommand(group: Command, typed: string): UsageError {
  const message = `unknown command ${quoteName(typed)}`;
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((command) => command.name())
    .filter((name) => name !== 'help');
  const ourName = new Map(Object.entries(otherTools.commands)).get(typed);
  const isOfProgram = group.parent === null && ourName?.includes(' ');
  if (ourName !== undefined && (isOfProgram || names.includes(ourName)))
    return new UsageError(message, 'Did you mean:', [`${fullName(group)} ${ourName}`]);
  const list = `The commands are ${names.join(', ')}.`;
  const nearest = nearestName(typed, names);
  if (nearest === null) return new UsageError(message, list);
  return new UsageError(message, `${didYouMean(nearest)}\n${list}`);
}

function didYouMean(name: string): string {
  return `Did you mean ${name}?`;
}

/** The error of an option of all commands that this one has no use for. */
export function unusedOption(
  command: Command,
  { short, long }: CommonOption,
  args: readonly string[],
): UsageError {
  const isShort =
    short !== undefined && args.some((arg) => arg.startsWith(short) && !arg.startsWith('--'));
  const message = `"${fullName(command)}" has no use for ${isShort ? short : long}`;
  const takesName = command.registeredArguments[0]?.name() === 'name';
  if (long === '--profile' && takesName && command.parent?.name() === 'profile')
    return new UsageError(message, `The profile is an argument: ${fullName(command)} NAME`);
  return new UsageError(message, 'Leave it out.');
}

/** The error of an option that is given without those that give it an effect. */
export function optionAlone({ long, needs }: DependentOption): UsageError {
  const message = `${long} has an effect only with ${needs.join(' or ')}`;
  if (needs.length === 1) return new UsageError(message, `Add ${needs}, or leave ${long} out.`);
  return new UsageError(message, `Add one of them, or leave ${long} out.`);
}
