// Apart from passback.ts: only --queue loads it.

import type { Command } from 'commander';
import { passbackRows, type RowOperation } from '../../bulk/operations.js';
import { checkedInput, type InputDigest } from '../../bulk/source/checked-input.js';
import { readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { loadRun, type RowsToLoad, UniqueUsers } from '../../queue/load-run.js';
import { type BulkOptions, defaultLeaseMs } from '../bulk/bulk-options.js';
import { checkRows } from '../bulk/preflight.js';
import { withProgress } from '../bulk/progress.js';
import { type BulkRun, confirmWrite, reportDryRun, userNaming, withRows } from '../bulk/run-many.js';
import { formatRows } from '../bulk/summary.js';
import type { Call } from '../command.js';
import { printMessage, write } from '../io.js';
import { targetOf, withQueue } from '../queue/queue-option.js';

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

/** Runs `passback --from --queue`: checks the rows and adds them to the queue as one run. */
export async function passbackToQueue(call: Call<BulkOptions>, url: string): Promise<void> {
  const { context, io, options, isTable, print } = call;
  refuseLocalOptions(call.command);
  const naming = userNaming(options);
  const users = new UniqueUsers();
  await withRows(call, checkingUsers(passbackRows(naming), users), async (opened) => {
    if (opened.source.input.size === null) throw noFile();
    const { hash, digest, rows } = await checkRows(opened);
    users.check();
    const count = rows ?? 0;
    if (options.dryRun) return await reportDryRun(opened, count);
    await confirmWrite(opened, formatRows(count));
    const { from, format, delimiter, encoding, types, empty, rate, keep, lease } = options;
    const newRun = {
      target: targetOf(opened.settings),
      naming,
      source: { from, hash, ...orNull({ format, delimiter, encoding, types, empty }) },
      rows: count,
      rate: rate ?? null,
      keepsRows: keep ?? false,
    };
    const run = await withQueue(context, url, (queue) =>
      withLoading(opened, digest, count, (toLoad) =>
        loadRun(queue, newRun, lease ?? defaultLeaseMs, toLoad, context.signal),
      ),
    );
    if (!options.quiet) {
      await printMessage(io, `queued ${formatRows(count)} as run ${run}; "userinfo worker" processes them`);
    }
    if (isTable) await write(io.stdout, `${run}\n`);
    else await print({ run, rows: count });
  });
}

function checkingUsers(operation: RowOperation, users: UniqueUsers): RowOperation {
  return {
    ...operation,
    prepare(fields) {
      const prepared = operation.prepare(fields);
      users.add(prepared.user ?? '');
      return prepared;
    },
  };
}

/** Shows the progress of reading rows for a queue. */
function withLoading<T>(
  { io, options, source }: BulkRun,
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
