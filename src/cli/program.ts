import { type Argument, Command, InvalidArgumentError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { quoteName } from '../protocol/unsafe-text.js';
import { fullName, UsageError } from './command.js';
import { topicList } from './commands/help/index.js';
import { declarationsFor } from './commands/index.js';
import { type CliContext, createContext } from './context.js';
import { exitStatus } from './exit-status.js';
import { examples, helpLayout } from './help-layout.js';
import { refuseDamaged } from './input.js';
import type { Io } from './io.js';
import { addCommonOptions, type CommonOptions } from './options.js';
import { withColorOption } from './output/style.js';

/** Runs one command line (without `node` and the script), and returns the exit status. */
export async function run(args: readonly string[], given: Io, signal: AbortSignal): Promise<number> {
  const io = { ...given, env: withColorOption(given.env, args) };
  const context = createContext(io, signal, args);
  const program = await buildProgram(context, args);
  try {
    refuseDamaged(args, io.env);
    await program.parseAsync(namesOption(args) ? ['help', '--', ...args.slice(1)] : args, { from: 'user' });
    return exitStatus.success;
  } catch (thrown) {
    const error =
      thrown instanceof UnknownNameError ? thrown.explain(await import('./suggestions.js')) : thrown;
    const { verbose = false, output = io.env.USERINFO_OUTPUT } = program.opts<CommonOptions>();
    const { reportError } = await import('./report-error.js');
    // An error in an option may come before this one is parsed.
    return reportError(error, io, {
      verbose,
      json: args.includes('--json') || output === 'json' || output === 'ndjson',
    });
  }
}

/** Whether a command line asks for the help of an option. */
function namesOption([first, second = '', ...more]: readonly string[]): boolean {
  return first === 'help' && more.length === 0 && /^--?\w/.test(second) && !['-h', '--help'].includes(second);
}

/** A name that is not known: only then is what was meant looked for, by code that no other command line loads. */
class UnknownNameError extends Error {
  readonly explain: (suggestions: typeof import('./suggestions.js')) => UsageError;

  constructor(explain: UnknownNameError['explain']) {
    super('unknown name');
    this.explain = explain;
  }
}

/**
 * A command whose errors are of our own class. It never prints the value of an unknown option: it may be a mistyped
 * secret. Commander calls the methods that it has no public names for.
 */
class CautiousCommand extends Command {
  override createCommand(name?: string): CautiousCommand {
    return new CautiousCommand(name);
  }

  /** Called by commander for a group without a command, too: a reader may page the help. */
  override help(): never {
    return super.help({ error: false });
  }

  missingArgument(name: string): void {
    throw new UsageError(`the argument ${quoteName(name)} is missing`);
  }

  optionMissingArgument({ flags }: Option): void {
    throw new UsageError(`the option "${flags}" needs a value`);
  }

  missingMandatoryOptionValue({ flags }: Option): void {
    throw new UsageError(`the option "${flags}" is missing`);
  }

  _conflictingOption({ long }: Option, other: Option): void {
    throw new UsageError(`${long} and ${other.long} exclude each other: use one of them`);
  }

  _excessArguments(given: readonly string[]): void {
    const most = this.registeredArguments.length;
    const allowed = most === 0 ? 'no argument' : most === 1 ? 'one argument' : `at most ${most} arguments`;
    throw new UsageError(`"${fullName(this)}" takes ${allowed}, not ${given.length}`);
  }

  _callParseArg(target: Option | Argument, value: string, previous: unknown): unknown {
    const { argChoices: choices = [value] } = target;
    const message = `${target instanceof Option ? target.long : target.name()} cannot be ${quoteName(value)}`;
    if (!choices.includes(value)) {
      throw new UnknownNameError(({ unknownChoice }) => unknownChoice(message, value, choices));
    }
    try {
      return target.parseArg?.(value, previous);
    } catch (error) {
      throw error instanceof InvalidArgumentError ? new UsageError(message, error.message) : error;
    }
  }

  /** Called by commander with the argument as typed. */
  unknownOption(typed: string): void {
    throw new UnknownNameError(({ unknownOption }) => unknownOption(this, typed));
  }

  /** Called by commander of a group, or of the program. */
  unknownCommand(): void {
    const [typed = ''] = this.args;
    throw new UnknownNameError(({ unknownCommand }) => unknownCommand(this, typed));
  }
}

/** Builds the program for `args` (without `node` and the script): only the commands that they name are declared. */
export async function buildProgram(context: CliContext, args: readonly string[]): Promise<Command> {
  const { io } = context;
  const program = new CautiousCommand('userinfo');
  program
    .description('Read user records from the platform and pass information about users back.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help: -h a short one')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      outputError: () => {}, // reportError prints it
    })
    .configureHelp(helpLayout(args.includes('-h') && !args.includes('--help')))
    .exitOverride();
  addCommonOptions(program);
  for (const declare of await declarationsFor(args)) declare(program, context);
  program
    .addHelpText('after', topicList)
    .addHelpText(
      'after',
      examples(
        ['userinfo demo', 'try everything, against a service in memory'],
        ['userinfo profile add shop', 'store the credentials of a deployment'],
      ),
    );
  return program;
}
