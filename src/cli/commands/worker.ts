import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { commandLine, FailedRowsError, passwordAdvice } from '../bulk/summary.js';
import { clientOptions } from '../client-options.js';
import { type Call, command } from '../command.js';
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

async function runWorker({ context, command, options }: Call<WorkerOptions>): Promise<void> {
  const { io, signal } = context;
  const { concurrency, attempts, timeout, drain = false } = options;
  const settings = await resolveDeployment(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: concurrency });
  const { targetOf } = await import('../../queue/run.js');
  const { Worker } = await import('../../queue/worker.js');
  try {
    const [unfinished] = await withQueue(options.queue, (queue) =>
      new Worker({
        queue,
        sender,
        pacing: { concurrency, attempts, timeoutMs: timeout },
        target: targetOf(settings),
        drains: drain,
        log: (words) => void io.stderr.write(`${showText(words)}\n`),
        signal,
      }).run(),
    );
    if (unfinished !== undefined) {
      const { run, chunks, failed_chunks: failed } = unfinished;
      const named = command.getOptionValueSource('queue') === 'cli' ? ['--queue', options.queue] : [];
      const retry = commandLine(['runs', 'retry', run], named);
      throw new FailedRowsError(`run ${run} has failed chunks: ${failed} of ${chunks}`, {
        hint: `Their workers died or returned them, again and again. ${passwordAdvice(named)}Retry them:\n${retry}`,
      });
    }
  } finally {
    await sender.drop();
  }
  if (drain) signal.throwIfAborted();
}
