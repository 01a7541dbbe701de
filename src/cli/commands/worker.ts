import type { Queue } from '../../queue/queue.js';
import type { QueuedRun } from '../../queue/run.js';
import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { FailedRowsError } from '../bulk/summary.js';
import { clientOptions } from '../client-options.js';
import { type Call, command } from '../command.js';
import { resolveDeployment } from '../deployment.js';
import { addConnectionOptions, type ConnectionOptions } from '../options.js';
import { showText } from '../output/terminal-text.js';
import {
  addQueueOption,
  exampleQueue,
  type QueueOptions,
  targetOf,
  withQueue,
} from '../queue/queue-option.js';

interface WorkerOptions extends QueueOptions, ConnectionOptions {
  readonly concurrency: number;
  readonly drain?: true;
}

export const declareWorker = command({
  name: 'worker',
  common: ['profile', 'network'],
  summary: 'process queued rows',
  description:
    'Process the runs of a queue that are for the deployment of the profile, a chunk of each in turn, together with ' +
    'any number of other workers. Ctrl-C returns unfinished rows to the queue.',
  examples: [
    [`userinfo worker ${exampleQueue} -p shop`, 'until it is stopped'],
    [`userinfo worker ${exampleQueue} -p shop --drain`, 'until all rows are done'],
  ],
  takes: (command) =>
    addConnectionOptions(addConcurrencyOption(addQueueOption(command))).option(
      '--drain',
      'exit when no rows are left',
    ),
  run: runWorker,
});

async function runWorker({ context, options }: Call<WorkerOptions>): Promise<void> {
  const { io, signal } = context;
  const { concurrency, attempts, timeout, drain = false } = options;
  const settings = await resolveDeployment(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: concurrency });
  const { Worker } = await import('../../queue/worker.js');
  const work = (queue: Queue) =>
    new Worker({
      queue,
      sender,
      pacing: { concurrency, attempts, timeoutMs: timeout },
      target: targetOf(settings),
      drains: drain,
      log: (words) => void io.stderr.write(`${showText(words)}\n`),
      signal,
    }).run();
  try {
    const [unfinished] = await withQueue(options.queue, work);
    if (unfinished !== undefined) throw failedChunks(unfinished);
  } finally {
    await sender.drop();
  }
  if (drain) signal.throwIfAborted();
}

function failedChunks({ run, chunks, chunksDone }: QueuedRun): FailedRowsError {
  return new FailedRowsError(`run ${run} has failed chunks: ${chunks - chunksDone} of ${chunks}`, {
    hint: `Their workers died, or got nothing done. Retry them: userinfo runs retry ${run} --queue ...`,
  });
}
