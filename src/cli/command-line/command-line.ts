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

/** An option as it stands in a command line. */
interface TypedOption {
  readonly option: Option;
  /** `undefined` for an option without a value. */
  readonly value: string | undefined;
  /** Whether the value is an argument of its own: `--union-id u001`, not `--union-id=u001`. */
  readonly isApart: boolean;
}

/** The arguments of a command line, as commander reads them. */
export interface CommandLine {
  /** The command that the first words name; the program, if they name none. */
  readonly command: Command;
  readonly options: readonly TypedOption[];
  /** The arguments that are no options and no values of options, up to `--`. */
  readonly operands: readonly string[];
  /**
   * The index in all arguments of the first operand, or of the first argument after `--`; their
   * number if there is neither.
   */
  readonly firstOperandAt: number;
  /** Arguments that look like options, but are not options of the command. */
  readonly unknown: readonly string[];
  /** Whether one of these is before the first operand. */
  readonly isUnknownFirst: boolean;
}

/**
 * Reads the arguments (without `node` and the script) of `program`, all of whose commands that they
 * name are declared.
 */
export function readCommandLine(program: Command, args: readonly string[]): CommandLine {
  return new CommandLineReader(program, args).read();
}

const looksLikeOption = (arg = '') => /^-(?!\d|\.\d)./s.test(arg);

class CommandLineReader {
  #command: Command;
  readonly #args: readonly string[];
  /** The arguments that are not read yet. */
  readonly #rest: string[];
  readonly #options: TypedOption[] = [];
  readonly #operands: string[] = [];
  #firstOperandAt: number | undefined;
  readonly #unknown: string[] = [];
  #isUnknownFirst = false;

  constructor(program: Command, args: readonly string[]) {
    this.#command = program;
    this.#args = args;
    this.#rest = [...args];
  }

  read(): CommandLine {
    for (let arg = this.#rest.shift(); arg !== undefined; arg = this.#rest.shift()) {
      if (arg === '--') break;
      if (looksLikeOption(arg)) this.#readOption(arg);
      else this.#readWord(arg);
    }
    return {
      command: this.#command,
      options: this.#options,
      operands: this.#operands,
      firstOperandAt: this.#firstOperandAt ?? this.#args.length - this.#rest.length,
      unknown: this.#unknown,
      isUnknownFirst: this.#isUnknownFirst,
    };
  }

  /** Reads the name of a command, or an operand: after the first operand there are only those. */
  #readWord(arg: string): void {
    if (this.#operands.length === 0) {
      this.#isUnknownFirst = this.#unknown.length > 0;
      const inner = this.#command.commands.find((command) => command.name() === arg);
      if (inner !== undefined) {
        this.#command = inner;
        return;
      }
      this.#firstOperandAt = this.#args.length - this.#rest.length - 1;
    }
    this.#operands.push(arg);
  }

  #readOption(arg: string): void {
    const { flag, glued } = splitFlag(arg);
    const option = findOption(this.#command, flag);
    if (option === undefined) this.#unknown.push(arg);
    else if (option.required || option.optional) this.#readValue(option, glued);
    else this.#readSwitch(arg, option, glued);
  }

  #readValue(option: Option, glued: string | undefined): void {
    const [next] = this.#rest;
    const hasNext = option.required || (next !== undefined && !looksLikeOption(next));
    const isApart = glued === undefined && hasNext;
    this.#options.push({ option, value: isApart ? this.#rest.shift() : glued, isApart });
  }

  /** Reads an option without a value: `-yp` is `-y -p`, and `--yes=p` is nothing. */
  #readSwitch(arg: string, option: Option, glued: string | undefined): void {
    this.#options.push({ option, value: undefined, isApart: false });
    if (glued === undefined) return;
    if (arg.startsWith('--')) this.#unknown.push(arg);
    else this.#rest.unshift(`-${glued}`);
  }
}

/** The flag of an argument, without a value: `--union-id` of `--union-id=u001`. */
export function flagOf(arg: string): string {
  return splitFlag(arg).flag;
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

/** The flag of an argument and its value in the same argument: of `--json=x`, of `-ox`. */
function splitFlag(arg: string): { readonly flag: string; readonly glued: string | undefined } {
  const [, flag = arg, glued] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? /^(-[^-])(.+)$/s.exec(arg) ?? [];
  return { flag, glued };
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
 * Refuses what commander takes but no user means: an option as the value of another, an option of
 * `once` that is given twice, and an option that begins with another dash, as a chat makes of a
 * hyphen. An argument after `--` is never an option.
 *
 * @throws UsageError
 */
export function checkCommandLine({ command, options, operands }: CommandLine): void {
  const isOption = (arg: string) =>
    /^(?:--|-h|--help)$/.test(arg) || findOption(command, arg) !== undefined;
  const read = new Set<Option>();
  for (const { option, value, isApart } of options) {
    if (option.required && (value === undefined || (isApart && isOption(value)))) {
      throw new UsageError(`the option "${option.flags}" needs a value`);
    }
    if (read.has(option) && once.test(option.long ?? '')) {
      throw new UsageError(`${option.long} is given twice`, 'Remove one of the two.');
    }
    read.add(option);
  }
  for (const operand of operands) {
    const meant = operand.replace(/^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+-*(?=\w)/, '--');
    if (meant === operand || findOption(command, flagOf(meant)) === undefined) continue;
    throw new UsageError(
      `${quoteName(operand)} begins with a dash that is not a hyphen`,
      `Did you mean "${meant}"?`,
    );
  }
}
