import type { Command, Option } from 'commander';
import { quoteName, UserInfoError } from '../../core/contract/errors.js';

/** A command line that cannot be carried out. Nothing was done. */
export class UsageError extends UserInfoError {
  readonly code = 'USAGE';

  constructor(message: string, hint = 'Add --help for usage.', commands: readonly string[] = []) {
    super(message, { hint, commands });
  }
}

/** The advice where a command gets several files, as a shell makes of *.csv. */
export const oneFileEach = 'Run each file on its own.';

/** The command as it is typed. */
export function fullName(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${fullName(parent)} ${command.name()}`;
}

/** The arguments of a command line, as commander reads them. */
export interface CommandLine {
  /** The command that the first words name; the program, if they name none. */
  readonly command: Command;
  /** With `value` as it is typed, and whether it is an argument of its own. */
  readonly options: readonly { option: Option; value: string | undefined; isApart: boolean }[];
  readonly operands: readonly string[];
  /** The index of each operand, and of each argument after `--`, in all arguments. */
  readonly places: readonly number[];
  /** Arguments that look like options, but are not options of the command. */
  readonly unknown: readonly string[];
  /** Whether one of these is before the first operand. */
  readonly isUnknownFirst: boolean;
}

const looksLikeOption = (arg = '') => /^-(?!\d|\.\d)./s.test(arg);

/**
 * Reads the arguments (without `node` and the script) of `program`, all of whose commands that they
 * name are declared.
 */
export function readCommandLine(program: Command, args: readonly string[]): CommandLine {
  const options: { option: Option; value: string | undefined; isApart: boolean }[] = [];
  const operands: string[] = [];
  const places: number[] = [];
  const unknown: string[] = [];
  let isUnknownFirst = false;
  const rest = [...args];
  let command = program;
  for (let arg = rest.shift(); arg !== undefined && arg !== '--'; arg = rest.shift()) {
    if (!looksLikeOption(arg)) {
      const inner =
        operands.length > 0 ? undefined : command.commands.find((one) => one.name() === arg);
      if (operands.length === 0) isUnknownFirst = unknown.length > 0;
      if (inner !== undefined) {
        command = inner;
        continue;
      }
      places.push(args.length - rest.length - 1);
      operands.push(arg);
      continue;
    }
    const [flag, glued] = splitFlag(arg);
    const option = findOption(command, flag);
    if (option === undefined) unknown.push(arg);
    else if (!option.required && !option.optional) {
      options.push({ option, value: undefined, isApart: false });
      if (glued !== undefined && !arg.startsWith('--'))
        rest.unshift(`-${glued}`); // -yp is -y -p
      else if (glued !== undefined) unknown.push(arg);
    } else {
      const isApart =
        glued === undefined && (option.required || (rest.length > 0 && !looksLikeOption(rest[0])));
      options.push({ option, value: isApart ? rest.shift() : glued, isApart });
    }
  }
  places.push(...rest.map((_, index) => args.length - rest.length + index));
  return { command, options, operands, places, unknown, isUnknownFirst };
}

/** The flag of an argument, without a value: `--union-id` of `--union-id=u001`. */
export function flagOf(arg: string): string {
  return splitFlag(arg)[0];
}

/**
 * The arguments without the values of unknown options. Commander refuses the options, and would
 * repeat the values, which may be mistyped secrets.
 */
export function withoutUnknownValues(program: Command, args: readonly string[]): string[] {
  const { command, unknown } = readCommandLine(program, args);
  const isUnknown = (arg: string) =>
    unknown.includes(arg) && findOption(command, flagOf(arg)) === undefined;
  return args.map((arg) => (isUnknown(arg) ? flagOf(arg) : arg));
}

function splitFlag(arg: string): [flag: string, glued: string | undefined] {
  const [, flag = arg, glued] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? /^(-[^-])(.+)$/s.exec(arg) ?? [];
  return [flag, glued];
}

/** The option of a command, or of one around it. */
export function findOption(command: Command | null, flag: string): Option | undefined {
  if (command === null) return undefined;
  return (
    command.options.find(({ short, long }) => short === flag || long === flag) ??
    findOption(command.parent, flag)
  );
}

/**
 * Options that name a user, a deployment or a database: a second one means another, and only one
 * can be meant.
 */
const once =
  /^--(?:profile|environment|base-url|tenant-code|channel|app-key|union-id|union-id-column|primary-key|user-info|database)$/;

/**
 * Refuses what commander takes and nobody means: an option as the value of another, one of `once`
 * given twice, and an option with another dash, as a chat makes of it. What follows `--` is never
 * one.
 *
 * @throws UsageError
 */
export function checkCommandLine({ command, options, operands }: CommandLine): void {
  const isOption = (arg: string) =>
    /^(?:--|-h|--help)$/.test(arg) || findOption(command, arg) !== undefined;
  const given = new Set<Option>();
  for (const { option, value, isApart } of options) {
    if (option.required && (value === undefined || (isApart && isOption(value)))) {
      throw new UsageError(`the option "${option.flags}" needs a value`);
    }
    if (given.has(option) && once.test(option.long ?? '')) {
      throw new UsageError(`${option.long} is given twice`, 'Remove one of the two.');
    }
    given.add(option);
  }
  for (const operand of operands) {
    const meant = operand.replace(/^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+-*(?=\w)/, '--');
    if (meant === operand || findOption(command, splitFlag(meant)[0]) === undefined) continue;
    throw new UsageError(
      `${quoteName(operand)} begins with a dash that is not a hyphen`,
      `Did you mean "${meant}"?`,
    );
  }
}
