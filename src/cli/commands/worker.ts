import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { clientOptions } from '../client-options.js';
import { type Call, command } from '../command.js';
import { queueFlag } from '../database.js';
import { resolveDeployment } from '../deployment.js';
import { addConnectionOptions, type ConnectionOptions } from '../options.js';
import { showText } from '../output/terminal-text.js';
import { addQueueOption, exampleQueue, type QueueOptions, withQueue } from '../queue/queue-option.js';

interface WorkerOptions extends QueueOptions, ConnectionOptions {
  readonly concurrency: number;
  readonly drain?: true;
}

export const declareWorker = command({
  name: 'worker',
  common: ['profile', 'network'],
  summary: 'process queued rows',
  description:
    'Process the runs of a queue that are for the deployment of the profile, together with any number of other ' +
    'workers. Ctrl-C returns unfinished rows to the queue.',
  examples: [
    [`userinfo worker ${exampleQueue} -p shop`, 'until it is stopped'],
    [`userinfo worker ${exampleQueue} -p shop --drain`, 'until all rows are done'],
  ],
  takes: (command) => {
    addConnectionOptions(addConcurrencyOption(addQueueOption(command)));
    return command.option('--drain', 'exit when no rows are left');
  },
  run: runWorker,
});

async function runWorker({ context, options }: Call<WorkerOptions>): Promise<void> {
  const { io, signal } = context;
  const { concurrency, attempts, timeout, attemptTimeout: timeoutMs = timeout, drain = false } = options;
  const settings = await resolveDeployment(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: concurrency });
  const { targetOf } = await import('../../queue/run.js');
  const { Worker } = await import('../../queue/worker.js');
  const pacing = { concurrency, attempts, timeoutMs };
  const log = (words: string) => void io.stderr.write(`${showText(words)}\n`);
  const given = { sender, pacing, target: targetOf(settings), drains: drain, log, signal };
  try {
    const [failed] = await withQueue(options.queue, (queue) => new Worker({ ...given, queue }).run());
    if (failed !== undefined) {
      const { FailedRowsError } = await import('../bulk/summary.js');
      const { run, failed_chunks, chunks } = failed;
      throw new FailedRowsError(`run ${run} has failed chunks: ${failed_chunks} of ${chunks}`, {
        hint: 'Their workers died or returned them, again and again. Retry them:',
        commands: [`userinfo runs retry ${run}${queueFlag(options.queue, io.env)}`],
      });
    }
  } finally {
    await sender.drop();
  }
  if (drain) signal.throwIfAborted();
}
