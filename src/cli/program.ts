import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { type CliContext, createContext } from './command.js';
import {
  type CommandLine,
  checkCommandLine,
  readCommandLine,
  withoutUnknownValues,
} from './command-line/command-line.js';
import {
  asksForShortHelp,
  examples,
  helpLayout,
  sendsRequests,
} from './command-line/help-layout.js';
import { addCommonOptions, type CommonOptions, hasJsonErrors } from './command-line/options.js';
import { topicList } from './commands/help/index.js';
import { declareCommands } from './commands/index.js';
import { refuseDamaged } from './damaged-arguments.js';
import { exitStatus } from './exit-status.js';
import type { Io } from './io.js';

/**
 * Runs one command line (without `node` and the script), and returns the exit status. A rejection
 * of `uncaught` ends the command as an error of its own does.
 */
export async function run(
  args: readonly string[],
  io: Io,
  signal: AbortSignal,
  uncaught: Promise<never>,
): Promise<number> {
  const context = createContext(io, signal, args);
  const program = await buildProgram(context, args);
  try {
    refuseDamaged(args, io.env);
    if (args[0] !== 'help') checkCommandLine(readCommandLine(program, args));
    await Promise.race([
      program.parseAsync(withoutUnknownValues(program, args), { from: 'user' }),
      uncaught,
    ]);
    return exitStatus.success;
  } catch (thrown) {
    const line = readCommandLine(program, args);
    const error = await explained(thrown, line);
    const { verbose = false, output = io.env.USERINFO_OUTPUT } = program.opts<CommonOptions>();
    // An error in an option may come before this one is parsed.
    const json = args.includes('--json') || hasJsonErrors(output);
    const isUnsent = sendsRequests(line.command) && !context.hasSent;
    const { reportError } = await import('./report-error.js');
    return reportError(error, io, { verbose, json, isUnsent });
  }
}

/** An error; a refusal of commander in our words. */
async function explained(thrown: unknown, line: CommandLine): Promise<unknown> {
  if (!(thrown instanceof CommanderError) || thrown.exitCode === 0) return thrown;
  const { explainRefusal } = await import('./command-line/suggestions.late.js');
  return explainRefusal(thrown, line);
}

/**
 * Builds the program for `args` (without `node` and the script): only the commands that they name
 * are declared.
 */
export async function buildProgram(context: CliContext, args: readonly string[]): Promise<Command> {
  const { io } = context;
  const isShort = args[0] !== 'help' && !args.includes('--help');
  const program = new Command('userinfo');
  program
    .description('Read user records from the platform and pass information about users back.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', '-h: short help; --help: all')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      outputError: () => {}, // reportError prints it
    })
    .configureHelp(helpLayout(isShort))
    .exitOverride()
    .action(() => program.outputHelp());
  addCommonOptions(program);
  await declareCommands(program, context, args);
  if (args.some((arg) => arg === 'help' || arg === '--help' || /^-\w*h/.test(arg))) {
    const { addTexts } = await import('./command-line/help-texts.late.js');
    await addTexts(program, asksForShortHelp(args));
  }
  if (isShort) return program.addHelpText('after', firstSteps);
  return program.addHelpText('after', topicList).addHelpText('after', examples(...steps));
}

const steps = [
  ['userinfo serve --demo', 'a service with a tenant, an app and two users, to try it with'],
  ['userinfo read "$code" mobile -p demo', 'what the code of a user authorizes'],
  ['userinfo passback acme_level=gold --union-id u001 -p demo', 'a value about a user'],
  ['userinfo profile add shop', 'store the credentials of your deployment'],
] as const;

const firstSteps = `
Examples:
${steps.map(([command]) => `  $ ${command}\n`).join('')}"userinfo <command> -h" is short, "userinfo --help" complete, with topics.`;
