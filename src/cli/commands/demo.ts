import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples } from '../options.js';

export function declareDemo(program: Command, context: CliContext): void {
  const command = program
    .command('demo')
    .summary('try everything, against a service in memory')
    .description(
      'Start the service on a free port with an empty store in memory, and run the commands that create an app, ' +
        'a user and a code, pass information back and read it. Nothing is left behind.',
    )
    .addHelpText(
      'after',
      examples(['userinfo demo', 'takes a few seconds'], ['userinfo demo --no-color | less', 'page by page']),
    )
    .action(async () => {
      const { runDemo } = await import('../demo/tour.js');
      await runDemo(context, command.optsWithGlobals());
    });
}
