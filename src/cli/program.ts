import { Command } from 'commander';
import { declarationsFor } from './commands/index.js';
import type { CliContext } from './context.js';
import { examples } from './examples.js';
import { addCommonOptions } from './options.js';
import { colorsFor } from './output/color.js';
import { version } from './version.js';

/** The program that can run `args` (without `node` and the script): the commands that they name are declared. */
export async function buildProgram(context: CliContext, args: readonly string[]): Promise<Command> {
  const { io } = context;
  const program = new Command('userinfo');
  program
    .description('Read user records from the platform and pass information about users back.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      outputError: (text, write) =>
        write(text.replace(/^error:/, colorsFor(io.stderr, io.env).red('error:'))),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride();
  addCommonOptions(program);
  for (const declare of await declarationsFor(args)) declare(program, context);
  program.addHelpText(
    'after',
    examples(
      ['userinfo demo', 'see all of it at work, against a service of its own'],
      ['userinfo profile add shop', 'store the credentials of a deployment'],
      ['userinfo help exit-codes', 'a topic; "userinfo help --help" lists them'],
    ),
  );
  return program;
}
