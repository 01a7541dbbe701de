import { outcomes } from '../../bulk/outcome.js';
import type { WorkerEvent } from '../../queue/worker.js';
import type { EventKinds, LogFormat, LogLevel, ProblemEvent } from '../../service/log.js';
import { formatCount } from '../../support/count.js';
import { addConcurrencyOption } from '../bulk/bulk-options.js';
import { clientOptions, resolveDeployment } from '../call/deployment.js';
import { type Call, command } from '../command.js';
import { durationUpTo } from '../command-line/option-values.js';
import { addConnectionOptions, type ConnectionOptions } from '../command-line/options.js';
import { addQueueOption, type QueueOptions, withQueue } from '../queue/queue-option.js';
import { queueFlag } from '../service/database.js';
import { endWhenUnhandled, logOptions } from '../service/log.js';

interface WorkerOptions extends QueueOptions, ConnectionOptions {
  readonly concurrency: number;
  readonly drain?: true;
  /** Milliseconds. */
  readonly keepResults?: number;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

export const declareWorker = command({
  name: 'worker',
  common: ['profile', 'network'],
  summary: 'process queued rows',
  takes: (command) => {
    addConnectionOptions(addConcurrencyOption(addQueueOption(command)));
    command
      .option('--drain', 'exit when no rows are left')
      .option(
        '--keep-results <duration>',
        'delete runs that ended longer ago than this (default: keep them)',
        durationUpTo('3650d'),
      );
    for (const option of logOptions()) command.addOption(option);
    return command;
  },
  run: runWorker,
});

/** A line of the worker's log. */
type WorkerLogEvent = WorkerEvent | Pick<ProblemEvent & { readonly event: 'fault' }, 'event' | 'problem'>;

const kinds: EventKinds<WorkerLogEvent> = {
  run_started: [
    'info',
    ({ run, rows, waits_for }) => [
      `run ${run}: ${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`,
      ...(waits_for.length > 0 ? [`waits for run ${waits_for.join(', ')}`] : []),
    ],
  ],
  run_skipped: [
    'info',
    ({ run, differs }) => [`run ${run} is for another ${differs} than this profile: left to other workers`],
  ],
  chunk: [
    'info',
    ({ run, chunk, ms, ...counts }) => {
      const found = outcomes.filter((outcome) => counts[outcome] > 0);
      const shown = found.map((outcome) => `${formatCount(counts[outcome])} ${outcome}`).join(', ');
      return [`run ${run} chunk ${chunk}: ${shown || 'no row'}, ${ms}ms`];
    },
  ],
  run_ended: ['info', ({ run, rows }) => [`run ${run}: ${formatCount(rows)} done here`]],
  run_deleted: ['info', ({ run, outcomes }) => [`run ${run} is deleted: ${formatCount(outcomes)} outcomes`]],
  queue_lost: ['error', ({ problem }) => [`waiting for the queue: ${problem}`]],
  queue_back: ['info', () => ['the queue is back']],
  fault: ['error', ({ problem }) => ['internal error:', ...problem.split('\n')]],
};

async function runWorker({ context, options }: Call<WorkerOptions>): Promise<void> {
  const { io, signal } = context;
  const { concurrency, attempts, timeout, attemptTimeout: timeoutMs = timeout, drain = false } = options;
  const settings = await resolveDeployment(context, options);
  const client = await clientOptions(context, settings, options);
  const sender = await context.connect({ ...client, connections: concurrency });
  const { targetOf } = await import('../../queue/run.js');
  const { processRuns } = await import('../../queue/worker.js');
  const pacing = { concurrency, attempts, timeoutMs };
  const { createEventLog } = await import('../../service/log.js');
  const write = (line: string) => void io.stderr.write(`${line}\n`);
  const log = createEventLog<WorkerLogEvent>(kinds, {
    format: options.logFormat,
    level: options.logLevel,
    write,
    now: Date.now,
  });
  endWhenUnhandled((problem) => log({ event: 'fault', problem }));
  const { keepResults: keepResultsMs } = options;
  const given = { sender, pacing, target: targetOf(settings), drains: drain, keepResultsMs, log, signal };
  try {
    const [failed] = await withQueue(options.queue, (queue) => processRuns({ ...given, queue }));
    if (failed !== undefined) {
      const { FailedRowsError } = await import('../bulk/run-report.js');
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
