import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { declarationsFor } from './commands/index.js';
import { type CliContext, createContext } from './context.js';
import { exitStatus } from './exit-status.js';
import { examples, helpLayout } from './help-layout.js';
import { refuseDamaged } from './input.js';
import type { Io } from './io.js';
import { addCommonOptions, type CommonOptions } from './options.js';
import { reportError } from './report-error.js';
import { adviseCommand, adviseOption } from './suggestions.js';

/** Runs one command line (without `node` and the script), and returns the exit status. */
export async function run(args: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const context = createContext(io, signal, args);
  const program = await buildProgram(context, args);
  try {
    refuseDamaged(args, io.env);
    await program.parseAsync(args, { from: 'user' });
    return exitStatus.success;
  } catch (error) {
    const { verbose = false, output = io.env.USERINFO_OUTPUT } = program.opts<CommonOptions>();
    // An error in an option may come before this one is parsed.
    return reportError(error, io, { verbose, json: args.includes('--json') || output === 'json' });
  }
}

/** A command that never prints the value of an unknown option: it may be a mistyped secret. */
class CautiousCommand extends Command {
  override createCommand(name?: string): CautiousCommand {
    return new CautiousCommand(name);
  }

  /** Called by commander for a group without a command, too: a reader may page the help. */
  override help(): never {
    return super.help({ error: false });
  }

  /** Called by commander with the argument as typed. */
  unknownOption(typed: string): void {
    const code = 'commander.unknownOption';
    if (!typed.startsWith('--')) {
      const isOption = /^-[A-Za-z]$/.test(typed);
      const advice = isOption
        ? adviseOption(this, typed) || `"${pathOf(this)} --help" lists the options.`
        : this.registeredArguments.length > 0
          ? dashAdvice
          : '';
      const kind = isOption ? 'unknown short option' : 'unknown option';
      this.error(`error: ${kind} '${typed.slice(0, 2)}'\n${advice}`.trimEnd(), { code });
    }
    const flag = typed.replace(/=.*$/s, '');
    const isKnown = [this, ...ancestorsOf(this)].some(({ options }) =>
      options.some(({ long }) => long === flag),
    );
    if (isKnown) this.error(`error: option '${flag}' takes no value`, { code });
    this.error(`error: unknown option '${flag}'\n${adviseOption(this, flag)}`.trimEnd(), { code });
  }

  /** Called by commander of a group, or of the program. */
  unknownCommand(): void {
    const [typed = ''] = this.args;
    const advice = adviseCommand(this, typed);
    this.error(`error: unknown command '${typed}'\n${advice}`, { code: 'commander.unknownCommand' });
  }
}

const dashAdvice = 'Put -- before an argument that begins with -, and all options before the --.';

/** The command as it is typed. */
function pathOf(command: Command): string {
  const names = [command, ...ancestorsOf(command)].map((one) => one.name());
  return names.reverse().join(' ');
}

function ancestorsOf({ parent }: Command): Command[] {
  return parent === null ? [] : [parent, ...ancestorsOf(parent)];
}

/** Builds the program for `args` (without `node` and the script): only the commands that they name are declared. */
export async function buildProgram(context: CliContext, args: readonly string[]): Promise<Command> {
  const { io } = context;
  const program = new CautiousCommand('userinfo');
  program
    .description('Read user records from the platform and pass information about users back.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      outputError: () => {}, // reportError prints it
    })
    .configureHelp(helpLayout)
    .exitOverride();
  addCommonOptions(program);
  for (const declare of await declarationsFor(args)) declare(program, context);
  const { topicList } = await import('./commands/help/index.js');
  program
    .addHelpText('after', topicList)
    .addHelpText(
      'after',
      examples(
        ['userinfo demo', 'try everything, against a service in memory'],
        ['userinfo profile add shop', 'store the credentials of a deployment'],
        ['userinfo help exit-codes', 'show a topic'],
      ),
    );
  return program;
}
