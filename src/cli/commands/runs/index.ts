import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { printData, printList } from '../../output/print.js';
import { outputStyle } from '../../output/style.js';
import { describeRun, summarizeRun } from '../../queue/describe-run.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';
import { declareRunsResults } from './results.js';

export function declareRuns(program: Command, context: CliContext): void {
  const runs = program
    .command('runs')
    .summary('manage runs over a queue')
    .description('Show runs over a queue, get their results, cancel and remove them.');
  declareRunsList(runs, context);
  declareRunsShow(runs, context);
  declareRunsResults(runs, context);
  declareRunsCancel(runs, context);
  declareRunsPurge(runs, context);
}

export function declareRunsList(runs: Command, context: CliContext): void {
  const command = runs
    .command('list')
    .summary('list the runs')
    .description('List the runs of a queue, oldest first; with --json, one object per line.');
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs list --queue postgres://userinfo@db.example/queue', 'as a table'],
        ['userinfo runs list --queue postgres://userinfo@db.example/queue --json', 'one object per line'],
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

export function declareRunsShow(runs: Command, context: CliContext): void {
  const command = runs
    .command('show')
    .argument('<run>', 'name of the run, see "runs list"')
    .summary('show the progress of a run')
    .description('Show a run: its deployment, how many rows are done, and how many workers process it now.');
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs show 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'as a table'],
        [
          'userinfo runs show 3f9a1c07d2 --queue postgres://userinfo@db.example/queue --query state',
          'its state: loading, ready, done or cancelled',
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
    // The counts of a cancelled run lack the outcomes in chunks that were not finished.
    const counts = run.state === 'cancelled' ? await runs.countOutcomes(name) : run.counts;
    await printData(describeRun({ ...run, counts }, await runs.countWorkers(name)), io, style);
  });
}

export function declareRunsCancel(runs: Command, context: CliContext): void {
  const command = runs
    .command('cancel')
    .argument('<run>', 'name of the run, see "runs list"')
    .summary('cancel a run')
    .description(
      'Cancel a run: workers send no more of its rows, and rows that were not sent are removed from the queue.',
    );
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs cancel 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'cancel it'],
        [
          'userinfo runs results 3f9a1c07d2 --queue postgres://userinfo@db.example/queue',
          'the outcomes of the rows that were sent',
        ],
      ),
    )
    .action((run: string) => runCancel(context, run, command.optsWithGlobals()));
}

async function runCancel(context: CliContext, run: string, options: QueueOptions): Promise<void> {
  await withQueue(context, options.queue, ({ runs }) => runs.cancel(run));
  await say(context.io, `run ${run} is cancelled; requests in flight still finish`);
}

export function declareRunsPurge(runs: Command, context: CliContext): void {
  const command = runs
    .command('purge')
    .argument('<run>', 'name of the run, see "runs list"')
    .summary('remove a finished run')
    .description('Remove all data of a finished run from the queue: its outcomes, and rows that were kept.');
  addQueueOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo runs purge 3f9a1c07d2 --queue postgres://userinfo@db.example/queue', 'remove it'],
        ['userinfo runs list --queue postgres://userinfo@db.example/queue', 'the remaining runs'],
      ),
    )
    .action((run: string) => runPurge(context, run, command.optsWithGlobals()));
}

async function runPurge(context: CliContext, run: string, options: QueueOptions): Promise<void> {
  await withQueue(context, options.queue, ({ runs }) => runs.purge(run));
  await say(context.io, `run ${run} is removed`);
}
