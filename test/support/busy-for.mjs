// Imported into a program, says that its main thread is busy for the part UTILIZATION of the time, and tells on stderr
// of each thread that it started. `END_THREADS=1` ends each as soon as it was given something to do.
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { performance } = createRequire(import.meta.url)('node:perf_hooks');
  const threads = createRequire(import.meta.url)('node:worker_threads');
  const utilization = Number(process.env.UTILIZATION);
  const value = () => ({ idle: 1 - utilization, active: utilization, utilization });
  Object.defineProperty(performance, 'eventLoopUtilization', { value });

  threads.Worker = class extends threads.Worker {
    #batches = 0;

    constructor(...args) {
      super(...args);
      process.on('exit', () => process.stderr.write(`thread: ${this.#batches} batches\n`));
    }

    postMessage(message) {
      this.#batches += 1;
      super.postMessage(message);
      if (process.env.END_THREADS === '1') this.terminate();
    }
  };
}
