import cluster from 'node:cluster';
import type { Service, ServiceOptions } from '../../service/index.js';
import { type Supervision, supervise } from './supervise.js';
import { work } from './work.js';

/**
 * Serves with several processes that share a port: the command line starts the first one, which supervises, and
 * which starts the workers with it again.
 */
export async function runWorkers(
  supervision: Supervision,
  startService: (options: ServiceOptions) => Promise<Service>,
): Promise<void> {
  if (cluster.isPrimary) return await supervise(supervision);
  const { log, signal } = supervision;
  // Who supervises tells of all of them.
  const start = () =>
    startService({
      log: (event) => {
        if (event.event !== 'listening' && event.event !== 'stopped') log(event);
      },
    });
  return await work(start, signal);
}
