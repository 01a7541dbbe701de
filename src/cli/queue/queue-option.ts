import { type Command, Option } from 'commander';
import type { Queue } from '../../queue/queue.js';
import type { CommonOptions } from '../command-line/options.js';

/** The options of a command that works on a queue. */
export interface QueueOptions extends CommonOptions {
  /** The URL of its database. */
  readonly queue: string;
}

export function queueOption(purpose: string): Option {
  return new Option('--queue <url>', `${purpose}: postgres://user@host/database, its password in PGPASSWORD`);
}

export function addQueueOption(command: Command): Command {
  return command.addOption(queueOption('where the runs are').env('USERINFO_QUEUE').makeOptionMandatory());
}

/** Opens a queue for the work, and closes it afterwards. */
export async function withQueue<T>(url: string, work: (queue: Queue) => Promise<T>): Promise<T> {
  const { Queue } = await import('../../queue/queue.js');
  const queue = await Queue.open(url);
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}
