import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printList } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { summarizeRun } from '../../queue/describe-run.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';

export function declareRunsList(runs: Command, context: CliContext): void {
  const command = runs
    .command('list')
    .summary('list the runs')
    .description('List the runs of a queue, the oldest first; with --json one object a line.');
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs list --queue postgres://userinfo@db.example/queue', 'as a table'],
        ['userinfo runs list --queue postgres://userinfo@db.example/queue --json', 'one object a line'],
      ),
    )
    .action(() => runList(context, command.optsWithGlobals()));
}

async function runList(context: CliContext, options: QueueOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await withQueue(context, options.queue, async ({ runs }) => {
    const list = await runs.list();
    await printList(list.map(summarizeRun), io, style);
  });
}
