import cluster from 'node:cluster';
import type { Service } from '../../service/index.js';
import { untilAborted } from '../until-aborted.js';
import { type Listening, stopMessage } from './messages.js';

/** Serves as one of several workers, until `signal` or whoever started it ends that. */
export async function work(startService: () => Promise<Service>, signal: AbortSignal): Promise<void> {
  const told = new AbortController();
  process.on('message', (message) => {
    if (message === stopMessage) told.abort();
  });
  try {
    const service = await startService();
    process.send?.({ url: service.url } satisfies Listening);
    await untilAborted(AbortSignal.any([signal, told.signal]));
    await service.close();
  } finally {
    // The process would not end before.
    cluster.worker?.disconnect();
  }
}
