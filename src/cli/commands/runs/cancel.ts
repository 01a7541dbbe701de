import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';

export function declareRunsCancel(runs: Command, context: CliContext): void {
  const command = runs
    .command('cancel')
    .argument('<run>', 'as "runs list" names it')
    .summary('end a run before all its rows are done')
    .description(
      'End a run: its workers send no more of its rows, and those that were not sent are removed from the queue.',
    );
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs cancel 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'end it'],
        [
          'userinfo runs results 3f9a1c07d2 --queue postgres://userinfo@db.example/queue',
          'what became of the rows that were sent',
        ],
      ),
    )
    .action((run: string) => runCancel(context, run, command.optsWithGlobals()));
}

async function runCancel(context: CliContext, run: string, options: QueueOptions): Promise<void> {
  await withQueue(context, options.queue, ({ runs }) => runs.cancel(run));
  await say(context.io, `run ${run} is cancelled; what is under way is still answered`);
}
