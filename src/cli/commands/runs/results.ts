import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { AppendFile, type ResultsSink, streamSink } from '../../../bulk/files/append-file.js';
import { FailedFile } from '../../../bulk/files/failed-file.js';
import { lockFiles, refuseSame, requireResults } from '../../../bulk/files/run-files.js';
import type { OutcomeCounts } from '../../../bulk/outcome.js';
import type { FileRow } from '../../../bulk/source/rows.js';
import type { Queue } from '../../../queue/queue.js';
import { keptRows, type ResultRows, writeResults } from '../../../queue/results.js';
import type { QueuedRun } from '../../../queue/run.js';
import { FailedRowsError, formatCount, formatRows } from '../../bulk/summary.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { showData } from '../../output/terminal-text.js';
import { addQueueOption, type QueueOptions, withQueue } from '../../queue/queue-option.js';
import { openRunFile } from '../../queue/run-file.js';

interface ResultsOptions extends QueueOptions {
  readonly from?: string;
  readonly results?: string;
  readonly failed?: string;
  readonly wait?: true;
}

/** Interval between two checks whether the run has ended, in milliseconds. */
const pollMs = 500;

export function declareRunsResults(runs: Command, context: CliContext): void {
  const command = runs
    .command('results')
    .argument('<run>', 'name of the run, see "runs list"')
    .summary('get the outcomes of the rows of a run')
    .description(
      'Write one line per row, as "passback --from" does. A queue deletes finished rows: the user of each comes from ' +
        'the input file.',
    );
  addQueueOption(command)
    .option('--from <file>', 'input file, if it has moved')
    .option('--results <file>', 'file for the lines (default: standard output)')
    .option('--failed <file>', 'file for the rows to retry, in the format of the input')
    .option('--wait', 'wait for the end of the run')
    .addHelpText(
      'after',
      examples(
        [
          'userinfo runs results 3f9a1c07d2 --queue postgres://userinfo@db.example/queue --wait',
          'to standard output, when all rows are done',
        ],
        [
          'userinfo runs results 3f9a1c07d2 --queue postgres://userinfo@db.example/queue --failed again.csv',
          'also write the rows to retry',
        ],
      ),
    )
    .action((run: string) => runResults(context, run, command.optsWithGlobals()));
}

async function runResults(context: CliContext, name: string, options: ResultsOptions): Promise<void> {
  const { from, results, failed } = options;
  refuseSame({ from, results, failed });
  await withQueue(context, options.queue, async (queue) => {
    const run = await findRun(context, queue, name, options);
    const file =
      run.keepsRows && options.from === undefined ? null : await openRunFile(context.io, run, options.from);
    try {
      const counts =
        file === null
          ? await writeFiles(context, queue, run, keptRows(queue, run), true, options)
          : await writeFiles(context, queue, run, file, file.isUtf8, options);
      refuseFailed(run, counts);
    } finally {
      await file?.close();
    }
  });
}

async function findRun(
  { signal }: CliContext,
  queue: Queue,
  name: string,
  { wait: mustEnd }: ResultsOptions,
): Promise<QueuedRun> {
  for (;;) {
    const run = await queue.runs.find(name);
    if (!mustEnd || run.state === 'done' || run.state === 'cancelled') return run;
    await wait(pollMs, undefined, { signal });
  }
}

async function writeFiles<Row extends FileRow>(
  { io }: CliContext,
  queue: Queue,
  run: QueuedRun,
  rows: ResultRows<Row>,
  isUtf8: boolean,
  { results, failed }: ResultsOptions,
): Promise<OutcomeCounts> {
  const release = await lockFiles([results, failed]);
  let failedFile: FailedFile<Row> | null = null;
  let sink: ResultsSink | null = null;
  try {
    if (results !== undefined) await requireResults(results);
    failedFile =
      failed === undefined ? null : new FailedFile({ path: failed, ours: [] }, rows.format, isUtf8);
    sink =
      results === undefined
        ? streamSink(io.stdout, io.stdout.isTTY ? showData : undefined)
        : AppendFile.open(results);
    return await writeResults(queue, run, rows, sink, failedFile);
  } finally {
    sink?.close();
    failedFile?.discard();
    release();
  }
}

/** @throws FailedRowsError if a row of the run is not ok */
function refuseFailed({ run, rows, state }: QueuedRun, counts: OutcomeCounts): void {
  const done = counts.ok + counts.failed + counts.invalid + counts.unknown;
  if (counts.ok === rows) return;
  if (done < rows) {
    throw new FailedRowsError(`run ${run} is ${state}: ${formatRows(rows - done)} have no outcome`, {
      ...(state === 'ready' ? { hint: 'Use --wait to wait for its end.' } : {}),
    });
  }
  throw new FailedRowsError(`${formatCount(rows - counts.ok)} of ${formatRows(rows)} are not ok`, {
    hint: 'The results say why, row by row.',
  });
}
