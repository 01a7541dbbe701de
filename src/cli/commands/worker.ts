import { type Command, Option } from 'commander';
import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { formatCount, formatRows } from '../bulk/words.js';
import { clientOptions, resolveService } from '../connect.js';
import type { CliContext } from '../context.js';
import { addConnectionOptions, type ConnectionOptions, examples, parseDuration } from '../options.js';
import { showText } from '../output/terminal-text.js';
import { addQueueOption, type QueueOptions, withQueue } from '../queue/queue-option.js';
import { targetOf } from '../queue/target.js';

interface WorkerOptions extends QueueOptions, ConnectionOptions {
  readonly concurrency: number;
  /** Milliseconds. */
  readonly lease: number;
  readonly drain?: true;
}

export function declareWorker(program: Command, context: CliContext): void {
  const command = program
    .command('worker')
    .summary('do the rows that were handed to a queue')
    .description(
      'Do the runs of a queue that are for the deployment of the profile, the oldest first, beside any number of other ' +
        'workers. Ctrl-C hands back what was taken.',
    );
  addConnectionOptions(addConcurrencyOption(addQueueOption(command)))
    .addOption(
      new Option('--lease <duration>', 'a worker that is silent for so long loses its rows to others')
        .default(15_000, '15s')
        .argParser(parseDuration),
    )
    .option('--drain', 'end when nothing is left to do')
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
  const { io, signal, steadyNow } = context;
  const { concurrency, attempts, timeout, lease, drain = false } = options;
  const settings = await resolveService(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.openSender({ ...client, connections: concurrency });
  const tell = (words: string) => void io.stderr.write(`${showText(words)}\n`);
  try {
    const { Outage } = await import('../../queue/worker/outage.js');
    const { runWorker } = await import('../../queue/worker/run-worker.js');
    await withQueue(context, options.queue, (queue) =>
      runWorker({
        queue,
        holder: { holder: context.uniqueText(), leaseMs: lease },
        sender,
        pacing: { concurrency, attempts, timeoutMs: timeout },
        outage: new Outage(outageListener(tell), steadyNow, Math.random),
        target: targetOf(settings),
        drains: drain,
        listener: workerListener(tell),
        signal,
        now: steadyNow,
        random: Math.random,
      }),
    );
  } finally {
    await sender.drop();
  }
  if (drain) signal.throwIfAborted();
}

function outageListener(tell: (words: string) => void) {
  return {
    onLost: ({ message }: Error) => tell(`waiting for the queue: ${message}`),
    onBack: () => tell('the queue is back'),
  };
}

function workerListener(tell: (words: string) => void) {
  return {
    onBegin: ({ run, rows }: { run: string; rows: number }) => tell(`run ${run}: ${formatRows(rows)}`),
    onEnd: ({ run }: { run: string }, rows: number) => tell(`run ${run}: ${formatCount(rows)} done here`),
    onRefused: ({ run }: { run: string }, differences: readonly string[]) =>
      tell(`run ${run} is for another ${differences.join(', ')} than this profile: left to other workers`),
  };
}
