// Apart from passback.ts: only --queue loads it.

import { passbackOperation } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { type FileRow, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { UserDigests } from '../../queue/load-run.js';
import { describeWait, type RunSource, targetOf } from '../../queue/run.js';
import { type BulkOptions, defaultLeaseMs } from '../bulk/bulk-options.js';
import { checkRows } from '../bulk/preflight.js';
import { withProgress } from '../bulk/progress.js';
import { confirmWrite, reportDryRun, userNaming, withRows } from '../bulk/run-many.js';
import { formatRows } from '../bulk/summary.js';
import type { Call } from '../command.js';
import { printMessage, write } from '../io.js';
import { withQueue } from '../queue/queue-option.js';

/** Runs `passback --from --queue`: checks the rows and adds them to the queue as one run. */
export async function passbackToQueue(call: Call<BulkOptions>, url: string): Promise<void> {
  const { context, io, options, isTable, print } = call;
  const naming = userNaming(options);
  const users = new UserDigests();
  const operation = passbackOperation(naming);
  const prepare: typeof operation.prepare = (fields) => {
    const prepared = operation.prepare(fields);
    users.add(prepared.user ?? '');
    return prepared;
  };
  await withRows(call, { ...operation, prepare }, async (opened) => {
    const { source, settings } = opened;
    if (source.input.size === null) {
      throw new InvalidInputError('--queue needs a file, not a stream: save the rows to a file first');
    }
    const { hash, digest, rows } = await checkRows(opened);
    users.refuseTwice();
    const total = rows ?? 0;
    if (options.dryRun) return await reportDryRun(opened, total);
    await confirmWrite(opened, formatRows(total));
    const { from, format, delimiter, encoding, types, empty, rate = null, keep = false, lease } = options;
    const added = { hash, from, format, delimiter, encoding, types, empty } as RunSource;
    const newRun = { target: targetOf(settings), naming, source: added, rows: total, rate, keepsRows: keep };
    let queued = 0;
    async function* rowsToQueue(): AsyncGenerator<readonly FileRow[]> {
      for await (const batch of readRows({ ...source, input: checkedInput(source.input, digest) })) {
        context.signal.throwIfAborted();
        yield batch;
        queued += batch.length;
      }
    }
    const progressNow = () => ({ doing: 'queueing', rows: queued, share: queued / total, total });
    const [run, awaited] = await withQueue(url, async (queue) => {
      const load = () => queue.load(newRun, lease ?? defaultLeaseMs, rowsToQueue());
      const run = await withProgress(io, options, progressNow, load);
      const found = await queue.find(run).catch(() => null); // it is queued, whatever happens now
      return [run, found?.waits_for ?? []] as const;
    });
    if (!options.quiet) {
      await printMessage(io, `queued ${formatRows(total)} as run ${run}; "userinfo worker" processes them`);
      if (awaited.length > 0) await printMessage(io, `run ${run} waits for ${describeWait(awaited)}`);
    }
    if (isTable) await write(io.stdout, `${run}\n`);
    else await print({ run, rows: total });
  });
}
