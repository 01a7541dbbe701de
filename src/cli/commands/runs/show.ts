import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { describeRun } from '../../queue/describe-run.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';

export function declareRunsShow(runs: Command, context: CliContext): void {
  const command = runs
    .command('show')
    .argument('<run>', 'as "runs list" names it')
    .summary('show how a run goes')
    .description('Show a run: where its rows go, how many are done, and by how many workers right now.');
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs show 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'as a table'],
        [
          'userinfo runs show 3f9a1c07d2 --queue postgres://userinfo@db.example/queue --query state',
          'whether it is loading, ready, done or cancelled',
        ],
      ),
    )
    .action((run: string) => runShow(context, run, command.optsWithGlobals()));
}

async function runShow(context: CliContext, name: string, options: QueueOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await withQueue(context, options.queue, async ({ runs }) => {
    const run = await runs.find(name);
    // A run that was ended has rows with an outcome in chunks that are not done.
    const counts = run.state === 'cancelled' ? await runs.countOutcomes(name) : run.counts;
    await printData(describeRun({ ...run, counts }, await runs.countWorkers(name)), io, style);
  });
}
