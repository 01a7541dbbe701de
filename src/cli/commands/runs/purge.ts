import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';

export function declareRunsPurge(runs: Command, context: CliContext): void {
  const command = runs
    .command('purge')
    .argument('<run>', 'as "runs list" names it')
    .summary('remove a run that is over')
    .description(
      'Remove all that a queue holds of a run that is over: its outcomes, and rows that were kept.',
    );
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs purge 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'remove it'],
        ['userinfo runs list --queue postgres://userinfo@db.example/queue', 'what is left'],
      ),
    )
    .action((run: string) => runPurge(context, run, command.optsWithGlobals()));
}

async function runPurge(context: CliContext, run: string, options: QueueOptions): Promise<void> {
  await withQueue(context, options.queue, ({ runs }) => runs.purge(run));
  await say(context.io, `run ${run} is removed`);
}
