import { passbackOperation } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { UserDigests } from '../../queue/load-run.js';
import { targetOf } from '../../queue/run.js';
import { type BulkOptions, defaultLeaseMs } from '../bulk/bulk-options.js';
import { checkRows } from '../bulk/preflight.js';
import { withProgress } from '../bulk/progress.js';
import { confirmWrite, reportDryRun, userNaming, withRows } from '../bulk/run-many.late.js';
import { formatRows } from '../bulk/run-report.js';
import type { Call } from '../command.js';
import { printMessage, write } from '../io.js';
import { withQueue } from '../queue/queue-option.js';

/** Runs `passback --from --queue`: checks the rows and adds them to the queue as one run. */
export async function passbackToQueue(call: Call<BulkOptions>, url: string): Promise<void> {
  const { context, io, options, isTable, print } = call;
  const naming = userNaming(options);
  const users = new UserDigests();
  const operation = passbackOperation(naming, options.types);
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
    const checked = await checkRows(opened);
    const { hash, digest, keys } = checked;
    users.sort();
    const rows = checked.rows ?? 0;
    if (options.dryRun) return await reportDryRun(opened, checked);
    await confirmWrite(opened, formatRows(rows), keys);
    const { from, format, delimiter, encoding, types, empty } = options;
    const { rate = null, keep: keepsRows = false, lease: leaseMs = defaultLeaseMs } = options;
    const read = { from, hash, format, delimiter, encoding, types, empty };
    const given = { target: targetOf(settings), naming, source: read, rows, rate, keepsRows, leaseMs };
    let queued = 0;
    async function* rowsToQueue() {
      for await (const batch of readRows({ ...source, input: checkedInput(source.input, digest) })) {
        yield batch;
        queued += batch.length;
      }
    }
    const progressNow = () => ({ doing: 'queueing', rows: queued, share: queued / rows, total: rows });
    const { run, waits_for } = await withQueue(url, (queue) =>
      withProgress(io, options, progressNow, () => queue.load(given, users, rowsToQueue(), context.signal)),
    );
    if (!options.quiet) {
      await printMessage(io, `queued ${formatRows(rows)} as run ${run}; "userinfo worker" processes them`);
      if (waits_for.length > 0) await printMessage(io, `run ${run} waits for run ${waits_for.join(', ')}`);
    }
    if (isTable) await write(io.stdout, `${run}\n`);
    else await print({ run, rows });
  });
}
