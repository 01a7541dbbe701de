import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { addGroup } from '../command.js';
import type { CliContext } from '../context.js';
import { examples, showCommon } from '../help-layout.js';
import { printMessage } from '../io.js';
import { printData, printList } from '../output/print.js';
import { outputStyle } from '../output/style.js';
import { confirm } from '../prompt.js';
import { addQueueOption, exampleQueue, type QueueOptions, withQueue } from '../queue/queue-option.js';
import type { ResultsOptions } from '../queue/results.js';

type Examples = readonly (readonly [command: string, purpose: string])[];

export function declareRuns(program: Command, context: CliContext): void {
  const runs = addGroup(program, {
    name: 'runs',
    summary: 'manage runs over a queue',
    description: 'Show runs over a queue, get their results, retry, cancel and remove them.',
    examples: [
      [`userinfo runs list ${exampleQueue}`, 'all runs'],
      [`userinfo runs results 3f9a1c07d2 ${exampleQueue} --wait`, 'the outcomes of a run, when it is done'],
    ],
  });
  const declare = (name: string, summary: string, description: string, shown: Examples) => {
    const command = runs.command(name).summary(summary).description(description);
    showCommon(command, name === 'delete' || name === 'cancel' ? ['confirm'] : ['output']);
    return addQueueOption(command).addHelpText(
      'after',
      examples(...shown.map(([line, purpose]) => [`userinfo runs ${line}`, purpose] as const)),
    );
  };
  const declareForRun = (...given: Parameters<typeof declare>) =>
    declare(...given).argument('<run>', 'name of the run, see "runs list"');

  const list = declare(
    'list',
    'list the runs',
    'List the runs of a queue, oldest first; with --json, one object per line.',
    [
      [`list ${exampleQueue}`, 'as a table'],
      [`list ${exampleQueue} --json`, 'one object per line'],
    ],
  ).action(() => runList(context, list.optsWithGlobals()));

  const show = declareForRun(
    'show',
    'show the progress of a run',
    'Show a run: its deployment, how many rows are done, how fast, and how many workers process it now.',
    [
      [`show 3f9a1c07d2 ${exampleQueue}`, 'as a table'],
      [`show 3f9a1c07d2 ${exampleQueue} --query state`, 'its state: loading, ready, done or cancelled'],
    ],
  ).action((run: string) => runShow(context, run, show.optsWithGlobals()));

  const results = declareForRun(
    'results',
    'get the outcomes of the rows of a run',
    'Write one line per row, as "passback --from" does. A queue deletes finished rows: the user of each comes from ' +
      'the input file.',
    [
      [`results 3f9a1c07d2 ${exampleQueue} --wait`, 'to standard output, when all rows are done'],
      [`results 3f9a1c07d2 ${exampleQueue} --failed again.csv`, 'also write the rows to retry'],
    ],
  )
    .option('--from <file>', 'input file, if it has moved')
    .option('--results <file>', 'file for the lines (default: standard output)')
    .option('--failed <file>', 'file for the rows to retry, in the format of the input')
    .option('--wait', 'wait for the end of the run')
    .action((run: string) => runResults(context, run, results.optsWithGlobals()));

  const retry = declareForRun(
    'retry',
    'retry the failed chunks of a run',
    'Let workers take the chunks again that have failed: those whose workers died, or got nothing done, 20 times. ' +
      'Rows that have an outcome are not sent again; "runs results --failed" writes rows that failed to a file.',
    [
      [`retry 3f9a1c07d2 ${exampleQueue}`, 'retry its failed chunks'],
      [`show 3f9a1c07d2 ${exampleQueue} --query failed_chunks`, 'how many there are'],
    ],
  ).action((run: string) =>
    change(context, retry.optsWithGlobals(), null, async (queue) => {
      const chunks = await queue.retry(run);
      return `workers take ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'} of run ${run} again`;
    }),
  );

  const cancel = declareForRun(
    'cancel',
    'cancel a run',
    'Cancel a run: workers send no more of its rows, and rows that were not sent are removed from the queue. ' +
      'Asks first.',
    [
      [`cancel 3f9a1c07d2 ${exampleQueue}`, 'cancel it'],
      [`results 3f9a1c07d2 ${exampleQueue}`, 'the outcomes of the rows that were sent'],
    ],
  ).action((run: string) =>
    change(context, cancel.optsWithGlobals(), `Cancel run ${run}?`, async (queue) => {
      await queue.cancel(run);
      return `run ${run} is cancelled; requests in flight still finish`;
    }),
  );

  const remove = declareForRun(
    'delete',
    'delete a finished run',
    'Delete all data of a finished run from the queue: its outcomes, and rows that were kept. Asks first.',
    [
      [`delete 3f9a1c07d2 ${exampleQueue}`, 'delete it'],
      [`list ${exampleQueue}`, 'the remaining runs'],
    ],
  ).action((run: string) =>
    change(context, remove.optsWithGlobals(), `Delete run ${run}?`, async (queue) => {
      await queue.purge(run);
      return `run ${run} is deleted`;
    }),
  );
}

/** Changes a run, after a question if there is one, and says what was done. */
async function change(
  context: CliContext,
  options: QueueOptions,
  question: string | null,
  work: (queue: Queue) => Promise<string>,
): Promise<void> {
  if (question !== null) await confirm(context, question, options.yes);
  await printMessage(context.io, await withQueue(context, options.queue, work));
}

async function runList(context: CliContext, options: QueueOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const list = await withQueue(context, options.queue, (queue) => queue.list());
  const summaries = list.map((run) => ({
    run: run.run,
    state: run.state,
    environment: run.target.environment,
    base_url: run.target.base_url,
    from: run.source.from,
    rows: run.rows,
    ...progressOf(run),
    created_at: toSeconds(run.createdAt),
  }));
  await printList(summaries, io, style);
}

async function runShow(context: CliContext, name: string, options: QueueOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await withQueue(context, options.queue, async (queue) => {
    const run = await queue.find(name);
    const { target, counts, naming, rate, endedAt } = run;
    const shown = {
      run: name,
      state: run.state,
      ...target,
      from: run.source.from,
      ...(naming.by === 'union_id' ? { union_id_column: naming.column } : { primary_key: naming.key }),
      rows: run.rows,
      ...counts,
      ...progressOf(run),
      chunks: run.chunks,
      chunks_done: run.chunksDone,
      failed_chunks: await queue.countFailed(run),
      workers: run.workers,
      ...(rate === null ? {} : { rate: `${rate}/s` }),
      keeps_rows: run.keepsRows,
      created_at: toSeconds(run.createdAt),
      ...(endedAt === null ? {} : { ended_at: toSeconds(endedAt) }),
    };
    await printData(shown, io, style);
  });
}

/** How far a run is, how fast over the last minute, and in how many seconds it will be done at that speed. */
function progressOf({ counts, rows, speed, state }: QueuedRun) {
  const done = counts.ok + counts.failed + counts.invalid + counts.unknown;
  const isRunning = state === 'ready' && speed > 0;
  return {
    done,
    not_ok: done - counts.ok,
    rows_per_second: isRunning ? Number(speed.toPrecision(3)) : null,
    seconds_left: isRunning ? Math.ceil((rows - done) / speed) : null,
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Interval between two checks whether a run has ended, in milliseconds. */
const pollMs = 500;

async function runResults(
  context: CliContext,
  name: string,
  options: ResultsOptions & QueueOptions & { readonly wait?: true },
): Promise<void> {
  const { writeResults } = await import('../queue/results.js');
  await withQueue(context, options.queue, async (queue) => {
    let run = await queue.find(name);
    while (
      options.wait &&
      (run.state === 'loading' || (run.state === 'ready' && (await queue.countOpen(run)) > 0))
    ) {
      await wait(pollMs, undefined, { signal: context.signal });
      run = await queue.find(name);
    }
    await writeResults(context, queue, run, options);
  });
}
