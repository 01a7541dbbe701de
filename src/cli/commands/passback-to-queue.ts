// Apart from passback.ts: only --queue loads it.

import type { Command } from 'commander';
import { passbackRows } from '../../bulk/operations.js';
import { checkedInput, type InputDigest } from '../../bulk/source/checked-input.js';
import { readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { loadRun, type RowsToLoad } from '../../queue/load-run.js';
import type { Queue } from '../../queue/queue.js';
import type { PassbackManyOptions } from '../bulk/passback-options.js';
import { checkRows } from '../bulk/preflight.js';
import { withProgress } from '../bulk/progress.js';
import { type BulkRun, confirmWrite, dryRun, userNaming, withRows } from '../bulk/run-many.js';
import { formatRows } from '../bulk/summary.js';
import type { CliContext } from '../context.js';
import { say, write } from '../io.js';
import { printData } from '../output/print.js';
import { isPlainTable, outputStyle } from '../output/style.js';
import { targetOf, withQueue } from '../queue/queue-option.js';

interface QueuedPassbackOptions extends PassbackManyOptions {
  readonly queue: string;
}

/** Options of a local run that do not apply to a queue, and what to use instead. */
const notForQueue: Readonly<Record<string, string>> = {
  concurrency: 'Use it with "userinfo worker".',
  results: '"userinfo runs results" writes them.',
  failed: '"userinfo runs results" writes them.',
  journal: 'The queue records which rows are done.',
  resume: 'The queue records which rows are done: start another worker.',
  restart: 'Queue the rows again: that is another run.',
  preflight: 'Rows for a queue are always checked.',
  maxFailures: '"userinfo runs show" shows its progress, "userinfo runs cancel" ends it.',
};

interface HandOver extends BulkRun {
  readonly options: QueuedPassbackOptions;
}

/** Runs `passback --from --queue`: checks the rows and adds them to the queue as one run. */
export async function passbackToQueue(context: CliContext, command: Command): Promise<void> {
  const options: QueuedPassbackOptions = command.optsWithGlobals();
  refuseLocalOptions(command);
  const style = await outputStyle(options, context.io);
  await withRows(context, options, passbackRows(userNaming(options)), async (opened) => {
    const handOver = { ...opened, options };
    if (opened.source.input.size === null) throw noFile();
    if (options.dryRun) return dryRun(opened);
    const { run, rows } = await withQueue(context, options.queue, (queue) => load(handOver, queue));
    if (isPlainTable(style)) await write(context.io.stdout, `${run}\n`);
    else await printData({ run, rows }, context.io, style);
  });
}

async function load(handOver: HandOver, queue: Queue): Promise<{ run: string; rows: number }> {
  const { context, options, operation, settings } = handOver;
  const { hash, digest, rows } = await checkRows(handOver);
  const count = rows ?? 0;
  await confirmWrite(handOver, formatRows(count));
  const { from, format, delimiter, encoding, types, empty, rate, keep } = options;
  const inputOptions = { format, delimiter, encoding, types, empty };
  const newRun = {
    target: targetOf(settings),
    naming: userNaming(options),
    source: { from, hash, ...orNull(inputOptions) },
    rows: count,
    rate: rate ?? null,
    keepsRows: keep ?? false,
  };
  const run = await withLoading(handOver, digest, count, (toLoad) =>
    loadRun(queue, newRun, operation, toLoad, context.signal),
  );
  if (!options.quiet) {
    await say(context.io, `queued ${formatRows(count)} as run ${run}; "userinfo worker" processes them`);
  }
  return { run, rows: count };
}

/** Shows the progress of reading rows for a queue. */
function withLoading<T>(
  { context: { io }, options, source }: HandOver,
  checked: InputDigest,
  total: number,
  work: (rows: RowsToLoad) => Promise<T>,
): Promise<T> {
  let rows = 0;
  const toLoad: RowsToLoad = {
    format: source.format,
    read: () => readRows({ ...source, input: checkedInput(source.input, checked) }),
    onRows: (count) => {
      rows = count;
    },
  };
  const progressNow = () => ({ doing: 'queueing', rows, share: rows / total, total });
  return withProgress(io, options, progressNow, () => work(toLoad));
}

function refuseLocalOptions(command: Command): void {
  for (const [name, hint] of Object.entries(notForQueue)) {
    if (command.getOptionValueSource(name) !== 'cli') continue;
    const option = command.options.find((one) => one.attributeName() === name);
    throw new InvalidInputError(`${option?.long ?? name} is for a run without --queue`, { hint });
  }
}

function noFile(): InvalidInputError {
  return new InvalidInputError('--queue needs a file, not a stream', {
    hint: 'Save the rows to a file first: they are checked before they are queued.',
  });
}

type OrNull<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> | null };

function orNull<T extends object>(values: T): OrNull<T> {
  const entries = Object.entries(values).map(([name, value]) => [name, value ?? null]);
  return Object.fromEntries(entries) as OrNull<T>;
}
