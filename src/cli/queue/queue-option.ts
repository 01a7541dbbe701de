import { type Command, Option } from 'commander';
import type { Queue } from '../../queue/queue.js';
import type { CliContext } from '../context.js';
import type { CommonOptions } from '../options.js';

/** The options of a command that works on a queue. */
export interface QueueOptions extends CommonOptions {
  /** The URL of its database. */
  readonly queue: string;
}

export function queueOption(purpose: string): Option {
  return new Option('--queue <url>', `${purpose}: postgres://user@host/database, its password in PGPASSWORD`);
}

export function addQueueOption(command: Command): Command {
  return command.addOption(queueOption('where the runs are').makeOptionMandatory());
}

/** Opens a queue for one command, and closes it whatever happens. */
export async function withQueue<T>(
  context: CliContext,
  url: string,
  work: (queue: Queue) => Promise<T>,
): Promise<T> {
  const queue = await context.openQueue(url);
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}
