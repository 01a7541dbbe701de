// Apart from passback.ts: only --queue needs it.
import type { Command } from 'commander';
import { checkedInput, type InputDigest } from '../../bulk/source/checked-input.js';
import { rowsIn } from '../../bulk/source/input-rows.js';
import type { Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { loadRun, type RowsToLoad } from '../../queue/load-run.js';
import type { Queue } from '../../queue/queue.js';
import { checkRows } from '../bulk/check-rows.js';
import { confirmMany } from '../bulk/guard.js';
import type { PassbackManyOptions } from '../bulk/passback-options.js';
import { withProgress } from '../bulk/progress.js';
import { openRows, type RowSource } from '../bulk/row-source.js';
import { sayDryRun } from '../bulk/run-many.js';
import { formatRows } from '../bulk/words.js';
import { resolveService } from '../connect.js';
import type { CliContext } from '../context.js';
import { say, write } from '../io.js';
import { printData } from '../output/print.js';
import { isPlainTable, outputStyle } from '../output/style.js';
import { withQueue } from '../queue/queue-option.js';
import { targetOf } from '../queue/target.js';
import { planPassback } from './many.js';

interface QueuedPassbackOptions extends PassbackManyOptions {
  readonly queue: string;
}

/** What a run from here takes, and a run over a queue is told elsewhere. */
const elsewhere: Readonly<Record<string, string>> = {
  concurrency: 'Give it to "userinfo worker".',
  results: '"userinfo runs results" writes them.',
  failed: '"userinfo runs results" writes them.',
  journal: 'The queue knows what was done.',
  resume: 'The queue knows what was done: start another worker.',
  restart: 'Hand the rows over once more; that is another run.',
  preflight: 'What is handed over is always checked.',
  maxFailures: '"userinfo runs show" tells how it goes, "userinfo runs cancel" ends it.',
};

interface HandOver {
  readonly context: CliContext;
  readonly options: QueuedPassbackOptions;
  readonly plan: ReturnType<typeof planPassback>;
  readonly settings: Settings;
  readonly source: RowSource;
}

/** `passback --from --queue`: checks the rows, and hands them over as one run. */
export async function passbackToQueue(context: CliContext, command: Command): Promise<void> {
  const options: QueuedPassbackOptions = command.optsWithGlobals();
  refuseElsewhere(command);
  const style = await outputStyle(options, context.io);
  const plan = planPassback(context, options);
  const settings = await resolveService(context, options);
  const source = await openRows(context.io, options, plan.cells, plan.operation.columns);
  try {
    const handOver = { context, options, plan, settings, source };
    if (source.input.size === null) throw noFile();
    if (options.dryRun) {
      const { rows } = await checkRows(context, options, source, plan.operation);
      return await sayDryRun(handOver, rows ?? 0);
    }
    const { run, rows } = await withQueue(context, options.queue, (queue) => load(handOver, queue));
    if (isPlainTable(style)) await write(context.io.stdout, `${run}\n`);
    else await printData({ run, rows }, context.io, style);
  } finally {
    await source.input.close();
  }
}

async function load(handOver: HandOver, queue: Queue): Promise<{ run: string; rows: number }> {
  const { context, options, plan, settings, source } = handOver;
  const { hash, digest, names, rows } = await checkRows(context, options, source, plan.operation);
  const count = rows ?? 0;
  await plan.checkNames(names, settings);
  await confirmMany(context, settings, formatRows(count), options.yes);
  const { from, format, delimiter, encoding, types, empty, rate, keep } = options;
  const told = { format, delimiter, encoding, types, empty };
  const newRun = {
    target: targetOf(settings),
    naming: plan.naming,
    source: { from, hash, ...orNull(told) },
    rows: count,
    rate: rate ?? null,
    keepsRows: keep ?? false,
  };
  const run = await withLoading(handOver, digest, count, (toLoad) =>
    loadRun(queue, newRun, plan.operation, toLoad, context.signal),
  );
  if (!options.quiet) {
    await say(context.io, `handed over ${formatRows(count)} as run ${run}; "userinfo worker" does them`);
  }
  return { run, rows: count };
}

/** Shows how rows are read for a queue. */
function withLoading<T>(
  { context: { io, steadyNow }, options, source }: HandOver,
  checked: InputDigest,
  total: number,
  work: (rows: RowsToLoad) => Promise<T>,
): Promise<T> {
  const { input, encoding } = source;
  const format = source.newFormat();
  let rows = 0;
  const toLoad: RowsToLoad = {
    format,
    read: () => rowsIn(checkedInput(input, checked).read(), format, { encoding, suspectUtf8: 'never' }),
    onRows: (count) => {
      rows = count;
    },
  };
  const look = () => ({ doing: 'handing over', rows, share: rows / total, total });
  const { quiet, color } = options;
  return withProgress(io, { ...(quiet && { quiet }), color, now: steadyNow }, look, () => work(toLoad));
}

function refuseElsewhere(command: Command): void {
  for (const [name, hint] of Object.entries(elsewhere)) {
    if (command.getOptionValueSource(name) !== 'cli') continue;
    const option = command.options.find((one) => one.attributeName() === name);
    throw new InvalidInputError(`${option?.long ?? name} is for a run from here, not for --queue`, { hint });
  }
}

function noFile(): InvalidInputError {
  return new InvalidInputError('a queue takes the rows of a file, not of a stream', {
    hint: 'Save them to a file first: its rows are checked before they are handed over.',
  });
}

type OrNull<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> | null };

function orNull<T extends object>(values: T): OrNull<T> {
  const entries = Object.entries(values).map(([name, value]) => [name, value ?? null]);
  return Object.fromEntries(entries) as OrNull<T>;
}
