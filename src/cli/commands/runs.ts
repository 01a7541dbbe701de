import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { formatCount } from '../bulk/summary.js';
import { type Call, command } from '../command.js';
import { printMessage } from '../io.js';
import { printList } from '../output/print.js';
import { confirm } from '../prompt.js';
import { addQueueOption, exampleQueue, type QueueOptions, withQueue } from '../queue/queue-option.js';
import type { ResultsOptions } from '../queue/results.js';

const takesRun = (command: Command) =>
  addQueueOption(command).argument('<run>', 'name of the run, see "runs list"');

const declareList = command({
  name: 'list',
  summary: 'list the runs',
  description: 'List the runs of a queue, oldest first; with --json, one object per line.',
  examples: [
    [`userinfo runs list ${exampleQueue}`, 'as a table'],
    [`userinfo runs list ${exampleQueue} --json`, 'one object per line'],
  ],
  takes: addQueueOption,
  run: runList,
});

const declareShow = command({
  name: 'show',
  summary: 'show the progress of a run',
  description:
    'Show a run: its deployment, how many rows are done, how fast, and how many workers process it now.',
  examples: [
    [`userinfo runs show 3f9a1c07d2 ${exampleQueue}`, 'as a table'],
    [
      `userinfo runs show 3f9a1c07d2 ${exampleQueue} --query state`,
      'its state: loading, ready, done or cancelled',
    ],
  ],
  takes: takesRun,
  run: runShow,
});

const declareResults = command({
  name: 'results',
  summary: 'get the outcomes of the rows of a run',
  description:
    'Write one line per row, as "passback --from" does. A queue deletes finished rows: the user of each comes from ' +
    'the input file.',
  examples: [
    [`userinfo runs results 3f9a1c07d2 ${exampleQueue} --wait`, 'to standard output, when all rows are done'],
    [`userinfo runs results 3f9a1c07d2 ${exampleQueue} --failed again.csv`, 'also write the rows to retry'],
  ],
  takes: (command) =>
    takesRun(command)
      .option('--from <file>', 'input file, if it has moved')
      .option('--results <file>', 'file for the lines (default: standard output)')
      .option('--failed <file>', 'file for the rows to retry, in the format of the input')
      .option('--wait', 'wait for the end of the run'),
  run: runResults,
});

const declareRetry = command({
  name: 'retry',
  summary: 'retry the failed chunks of a run',
  description:
    'Let workers take the chunks again that have failed: those whose workers died, or got nothing done, 20 times. ' +
    'Rows that have an outcome are not sent again; "runs results --failed" writes rows that failed to a file.',
  examples: [
    [`userinfo runs retry 3f9a1c07d2 ${exampleQueue}`, 'retry its failed chunks'],
    [`userinfo runs show 3f9a1c07d2 ${exampleQueue} --query failed_chunks`, 'how many there are'],
  ],
  takes: takesRun,
  run: (call: Call<QueueOptions>, run: string) =>
    change(call, null, async (queue) => {
      const chunks = await queue.retry(run);
      return `workers take ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'} of run ${run} again`;
    }),
});

const declareCancel = command({
  name: 'cancel',
  common: ['confirm'],
  summary: 'cancel a run',
  description:
    'Cancel a run: workers send no more of its rows, and rows that were not sent are removed from the queue. ' +
    'Asks first.',
  examples: [
    [`userinfo runs cancel 3f9a1c07d2 ${exampleQueue}`, 'cancel it'],
    [`userinfo runs results 3f9a1c07d2 ${exampleQueue}`, 'the outcomes of the rows that were sent'],
  ],
  takes: takesRun,
  run: (call: Call<QueueOptions>, run: string) =>
    change(call, `Cancel run ${run}?`, async (queue) => {
      await queue.cancel(run);
      return `run ${run} is cancelled; requests in flight still finish`;
    }),
});

const declareDelete = command({
  name: 'delete',
  common: ['confirm'],
  summary: 'delete a finished run',
  description:
    'Delete all data of a finished run from the queue: its outcomes, and rows that were kept. Asks first.',
  examples: [
    [`userinfo runs delete 3f9a1c07d2 ${exampleQueue}`, 'delete it'],
    [`userinfo runs list ${exampleQueue}`, 'the remaining runs'],
  ],
  takes: takesRun,
  run: (call: Call<QueueOptions>, run: string) =>
    change(call, `Delete run ${run}?`, async (queue) => {
      await queue.purge(run);
      return `run ${run} is deleted`;
    }),
});

export const declareRuns = command({
  name: 'runs',
  summary: 'manage runs over a queue',
  description: 'Show runs over a queue, get their results, retry, cancel and remove them.',
  examples: [
    [`userinfo runs list ${exampleQueue}`, 'all runs'],
    [`userinfo runs results 3f9a1c07d2 ${exampleQueue} --wait`, 'the outcomes of a run, when it is done'],
  ],
  commands: [declareList, declareShow, declareResults, declareRetry, declareCancel, declareDelete],
});

/** Changes a run, after a question if there is one, and says what was done. */
async function change(
  { context, io, options }: Call<QueueOptions>,
  question: string | null,
  work: (queue: Queue) => Promise<string>,
): Promise<void> {
  if (question !== null) await confirm(context, question, options.yes);
  await printMessage(io, await withQueue(options.queue, work));
}

async function runList({ io, options, style, isTable }: Call<QueueOptions>): Promise<void> {
  const list = await withQueue(options.queue, (queue) => queue.list());
  const summaries = list.map((found) => {
    const { run, state, rows, target, source, createdAt, endedAt } = found;
    const progress = progressOf(found);
    const { done, not_ok, seconds_left } = progress;
    if (isTable) {
      const share = `${formatCount(done)} of ${formatCount(rows)}`;
      const ends_at = endedAt === null ? endOf(seconds_left) : toSeconds(endedAt);
      return { run, state, from: source.from, done: share, not_ok, ends_at };
    }
    const { environment, base_url } = target;
    const head = { run, state, environment, base_url, from: source.from, rows };
    return { ...head, ...progress, created_at: toSeconds(createdAt) };
  });
  await printList(summaries, io, style);
}

async function runShow({ options, isTable, print }: Call<QueueOptions>, name: string): Promise<void> {
  await withQueue(options.queue, async (queue) => {
    const run = await queue.find(name);
    const { failed, held } = await queue.countChunks(run);
    const { target, counts, naming, rate, endedAt } = run;
    const { rows_per_second: speed, seconds_left, ...done } = progressOf(run);
    const inWords = speed === null ? {} : { speed: `${speed} rows/s`, ends_at: endOf(seconds_left) };
    await print({
      run: name,
      state: run.state,
      ...target,
      from: run.source.from,
      ...(naming.by === 'union_id' ? { union_id_column: naming.column } : { primary_key: naming.key }),
      rows: run.rows,
      ...counts,
      ...done,
      ...(isTable ? inWords : { rows_per_second: speed, seconds_left }),
      chunks: run.chunks,
      chunks_done: run.chunksDone,
      failed_chunks: failed,
      workers: held,
      ...(rate === null ? {} : { rate: `${rate}/s` }),
      keeps_rows: run.keepsRows,
      created_at: toSeconds(run.createdAt),
      ...(endedAt === null ? {} : { ended_at: toSeconds(endedAt) }),
    });
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

/** When a run ends that has so many seconds left, which a table shows as "in 4 min". */
function endOf(secondsLeft: number | null): number | null {
  return secondsLeft === null ? null : toSeconds(Date.now()) + secondsLeft;
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Interval between two checks whether a run has ended, in milliseconds. */
const pollMs = 500;

async function runResults(
  { context, options }: Call<ResultsOptions & QueueOptions & { readonly wait?: true }>,
  name: string,
): Promise<void> {
  const { writeResults } = await import('../queue/results.js');
  await withQueue(options.queue, async (queue) => {
    let run = await queue.find(name);
    while (
      options.wait &&
      (run.state === 'loading' || (run.state === 'ready' && (await queue.countChunks(run)).open > 0))
    ) {
      await wait(pollMs, undefined, { signal: context.signal });
      run = await queue.find(name);
    }
    await writeResults(context, queue, run, options);
  });
}
