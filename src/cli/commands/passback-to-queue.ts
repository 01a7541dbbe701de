// Apart from passback.ts: only --queue loads it.

import type { Command } from 'commander';
import { passbackRows } from '../../bulk/operations.js';
import { checkedInput, type InputDigest } from '../../bulk/source/checked-input.js';
import { type FileRow, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { formatFlatJson } from '../../protocol/user-info.js';
import { loadRun, UniqueUsers } from '../../queue/load-run.js';
import type { QueuedRow, RunSource } from '../../queue/run.js';
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
  const { io, options, isTable, print } = call;
  refuseLocalOptions(call.command);
  const naming = userNaming(options);
  const users = new UniqueUsers();
  const operation = passbackRows(naming);
  const prepare: typeof operation.prepare = (fields) => {
    const prepared = operation.prepare(fields);
    users.add(prepared.user ?? '');
    return prepared;
  };
  await withRows(call, { ...operation, prepare }, async (opened) => {
    if (opened.source.input.size === null) {
      throw new InvalidInputError('--queue needs a file, not a stream', {
        hint: 'Save the rows to a file first: they are checked before they are queued.',
      });
    }
    const { hash, digest, rows } = await checkRows(opened);
    users.check();
    const count = rows ?? 0;
    if (options.dryRun) return await reportDryRun(opened, count);
    await confirmWrite(opened, formatRows(count));
    const { from, format, delimiter, encoding, types, empty, rate, keep, lease } = options;
    const newRun = {
      target: targetOf(opened.settings),
      naming,
      source: { hash, from, format, delimiter, encoding, types, empty } as RunSource,
      rows: count,
      rate: rate ?? null,
      keepsRows: keep ?? false,
    };
    const run = await withQueue(url, (queue) =>
      withLoading(opened, digest, count, (rows) => loadRun(queue, newRun, lease ?? defaultLeaseMs, rows)),
    );
    if (!options.quiet) {
      await printMessage(io, `queued ${formatRows(count)} as run ${run}; "userinfo worker" processes them`);
    }
    if (isTable) await write(io.stdout, `${run}\n`);
    else await print({ run, rows: count });
  });
}

/** Reads the rows that were checked again for a queue, and shows the progress. */
function withLoading<T>(
  { context: { signal }, io, options, source }: BulkRun,
  checked: InputDigest,
  total: number,
  work: (batches: AsyncIterable<readonly QueuedRow[]>) => Promise<T>,
): Promise<T> {
  let rows = 0;
  const toQueue = (row: FileRow) => ({ line: row.line, json: formatFlatJson(row.fields()) });
  async function* read() {
    for await (const batch of readRows({ ...source, input: checkedInput(source.input, checked) })) {
      signal.throwIfAborted();
      yield batch.map(toQueue);
      rows += batch.length;
    }
  }
  const progressNow = () => ({ doing: 'queueing', rows, share: rows / total, total });
  return withProgress(io, options, progressNow, () => work(read()));
}

function refuseLocalOptions(command: Command): void {
  for (const [name, hint] of Object.entries(notForQueue)) {
    if (command.getOptionValueSource(name) !== 'cli') continue;
    const option = command.options.find((one) => one.attributeName() === name);
    throw new InvalidInputError(`${option?.long ?? name} is for a run without --queue`, { hint });
  }
}
