import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { formatCount, formatRows } from '../bulk/summary.js';
import { clientOptions, resolveService } from '../connect.js';
import type { CliContext } from '../context.js';
import { addConnectionOptions, type ConnectionOptions, examples, parseDuration } from '../options.js';
import { showText } from '../output/terminal-text.js';
import { addQueueOption, type QueueOptions, targetOf, withQueue } from '../queue/queue-option.js';

interface WorkerOptions extends QueueOptions, ConnectionOptions {
  readonly concurrency: number;
  /** Milliseconds. */
  readonly lease: number;
  readonly drain?: true;
}

export function declareWorker(program: Command, context: CliContext): void {
  const command = program
    .command('worker')
    .summary('process queued rows')
    .description(
      'Process the runs of a queue that are for the deployment of the profile, oldest first, together with any number ' +
        'of other workers. Ctrl-C returns unfinished rows to the queue.',
    );
  addConnectionOptions(addConcurrencyOption(addQueueOption(command)))
    .addOption(
      new Option('--lease <duration>', 'time after which others take over the rows of a silent worker')
        .default(15_000, '15s')
        .argParser(parseDuration),
    )
    .option('--drain', 'exit when no rows are left')
    .addHelpText(
      'after',
      examples(
        ['userinfo worker --queue postgres://userinfo@db.example/queue -p shop', 'until it is stopped'],
        [
          'userinfo worker --queue postgres://userinfo@db.example/queue -p shop --drain',
          'until all rows are done',
        ],
      ),
    )
    .action(() => runCommand(context, command.optsWithGlobals()));
}

async function runCommand(context: CliContext, options: WorkerOptions): Promise<void> {
  const { io, signal } = context;
  const now = () => performance.now();
  const { concurrency, attempts, timeout, lease, drain = false } = options;
  const settings = await resolveService(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: concurrency });
  const log = (words: string) => void io.stderr.write(`${showText(words)}\n`);
  try {
    const { Outage } = await import('../../queue/worker/outage.js');
    const { runWorker } = await import('../../queue/worker/worker.js');
    await withQueue(context, options.queue, (queue) =>
      runWorker({
        queue,
        holder: { holder: randomUUID(), leaseMs: lease },
        sender,
        pacing: { concurrency, attempts, timeoutMs: timeout },
        outage: new Outage(outageListener(log), now, Math.random),
        target: targetOf(settings),
        drains: drain,
        listener: workerListener(log),
        signal,
        now,
      }),
    );
  } finally {
    await sender.drop();
  }
  if (drain) signal.throwIfAborted();
}

function outageListener(log: (words: string) => void) {
  return {
    onLost: ({ message }: Error) => log(`waiting for the queue: ${message}`),
    onBack: () => log('the queue is back'),
  };
}

function workerListener(log: (words: string) => void) {
  return {
    onBegin: ({ run, rows }: { run: string; rows: number }) => log(`run ${run}: ${formatRows(rows)}`),
    onEnd: ({ run }: { run: string }, rows: number) => log(`run ${run}: ${formatCount(rows)} done here`),
    onRefused: ({ run }: { run: string }, differences: readonly string[]) =>
      log(`run ${run} is for another ${differences.join(', ')} than this profile: left to other workers`),
  };
}
