import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { QueuedRun } from '../../queue/run.js';
import { takeOverHelp } from '../bulk/bulk-options.js';
import { withProgress } from '../bulk/progress.js';
import { type Call, command } from '../command.js';
import { printMessage } from '../io.js';
import { printList } from '../output/print.js';
import { confirm } from '../prompt.js';
import { addQueueOption, type QueueOptions, withQueue } from '../queue/queue-option.js';
import type { ResultsOptions } from '../queue/results.js';

const takesRun = (command: Command) =>
  addQueueOption(command).argument('<run>', 'name of the run, see "runs list"');

const declareList = command({
  name: 'list',
  summary: 'list the runs',
  takes: addQueueOption,
  run: async ({ io, options, style, isTable }: Call<QueueOptions>) => {
    const runs = await withQueue(options.queue, (queue) => queue.list());
    await printList(runs.map(isTable ? summarize : describe), io, style);
  },
});

const declareShow = command({
  name: 'show',
  summary: 'show the progress of a run',
  takes: takesRun,
  run: async ({ options, print }: Call<QueueOptions>, run: string) => {
    await print(describe(await withQueue(options.queue, (queue) => queue.find(run))));
  },
});

const declareResults = command({
  name: 'results',
  summary: 'get the outcomes of the rows of a run',
  takes: (command) =>
    takesRun(command)
      .option('--from <file>', 'input file, if it has moved')
      .option('--results <file>', 'file for the lines (default: standard output)')
      .option('--failed <file>', 'file for the rows to retry, in the format of the input')
      .option('--take-over', takeOverHelp)
      .option('--wait', 'wait for the end of the run'),
  run: runResults,
});

const declareRetry = command({
  name: 'retry',
  summary: 'retry the failed chunks of a run',
  takes: takesRun,
  run: async ({ io, options }: Call<QueueOptions>, run: string) => {
    const chunks = await withQueue(options.queue, (queue) => queue.retry(run));
    await printMessage(io, `workers take ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'} of run ${run} again`);
  },
});

const declareCancel = command({
  name: 'cancel',
  common: ['confirm'],
  summary: 'cancel a run',
  takes: takesRun,
  run: async ({ context, io, options }: Call<QueueOptions>, run: string) => {
    await confirm(context, `Cancel run ${run}?`, options.yes);
    await withQueue(options.queue, (queue) => queue.cancel(run));
    await printMessage(io, `run ${run} is cancelled; requests in flight still finish`);
  },
});

const declareDelete = command({
  name: 'delete',
  common: ['confirm'],
  summary: 'delete a finished run',
  takes: takesRun,
  run: async ({ context, io, options }: Call<QueueOptions>, run: string) => {
    await confirm(context, `Delete run ${run}?`, options.yes);
    await withQueue(options.queue, async (queue) => {
      const { done: total } = await queue.find(run);
      let rows = 0;
      const progressNow = () => ({ doing: 'deleting', rows, share: total && rows / total, total });
      await withProgress(io, {}, progressNow, async () => {
        for await (rows of queue.remove(run)) context.signal.throwIfAborted();
      });
    });
    await printMessage(io, `run ${run} is deleted`);
  },
});

export const declareRuns = command({
  name: 'runs',
  summary: 'manage runs over a queue',
  commands: [declareList, declareShow, declareResults, declareRetry, declareCancel, declareDelete],
});

/** A run for a line of a table. */
function summarize({ run, state, source, rows, done, not_ok, created_at }: QueuedRun) {
  return { run, state, from: source.from, rows, done, not_ok, created_at };
}

/** A run for the output, without what it does not have. */
function describe({ run, state, target, source, naming, keepsRows, leaseMs: _, ...progress }: QueuedRun) {
  const users =
    naming.by === 'union_id'
      ? { union_id_column: naming.column, primary_key: naming.primaryKey ?? null }
      : { primary_key: naming.key };
  const found = { run, state, ...target, from: source.from, ...users, keeps_rows: keepsRows, ...progress };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
}

async function runResults(
  { context, io, options }: Call<ResultsOptions & QueueOptions & { readonly wait?: true }>,
  name: string,
): Promise<void> {
  const { writeResults } = await import('../queue/results.js');
  await withQueue(options.queue, async (queue) => {
    let run = await queue.find(name);
    while (options.wait && (run.state === 'loading' || (run.state === 'ready' && run.chunks_left > 0))) {
      await wait(500, undefined, { signal: context.signal });
      run = await queue.find(name);
    }
    await writeResults(io, queue, run, options);
  });
}
