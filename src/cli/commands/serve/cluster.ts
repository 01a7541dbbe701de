// Apart from run.ts: only --workers needs it.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log, Service, ServiceOptions } from '../../../service/index.js';
import { ReportedError } from '../../exit-status.js';
import { untilAborted } from '../../io.js';

/**
 * Serves with several processes that share a port. The primary process supervises the workers; each worker runs
 * the same command line again.
 */
export async function runWorkers(
  supervision: Supervision,
  startService: (options: ServiceOptions) => Promise<Service>,
): Promise<void> {
  if (cluster.isPrimary) return await supervise(supervision);
  const { log, signal } = supervision;
  // The supervisor logs these events for all workers.
  const start = () =>
    startService({
      log: (event) => {
        if (event.event !== 'listening' && event.event !== 'stopped') log(event);
      },
    });
  return await serveAsWorker(start, signal);
}

export interface Supervision {
  readonly count: number;
  /** The command line of each worker. */
  readonly args: readonly string[];
  /** The address and the port that the workers share; port 0 selects a free one. */
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Stops the workers. */
  readonly signal: AbortSignal;
}

interface Running {
  readonly worker: Worker;
  /** Resolves when the worker serves. */
  readonly url: Promise<string>;
  /** Resolves with the reason when the worker has ended. */
  readonly ended: Promise<string>;
}

/** The delay before a worker is replaced, in milliseconds; it doubles up to the maximum. */
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** Give up after this many failed starts per worker while none serves: about 3 seconds. */
const failedStarts = 5;

/** Maximum time for a worker to stop, in milliseconds; a service takes less. */
const longestStopMs = 10_000;

/** A worker that ran this long, in milliseconds, resets the delay. */
const steadyAfterMs = 10_000;

/**
 * Runs workers that share a port until the signal aborts, and replaces each that ends.
 *
 * @throws ReportedError if the first worker cannot start, or later none can: they have reported why
 */
export async function supervise(given: Supervision): Promise<void> {
  const { count, log } = given;
  const givenUp = new AbortController();
  const signal = AbortSignal.any([given.signal, givenUp.signal]);
  const port = given.port === 0 ? await freePort(given.host) : given.port;
  cluster.setupPrimary({ args: [...given.args, '--port', String(port)] });
  const first = start(signal);
  const url = await Promise.race([first.url, first.ended.then(() => null)]);
  if (url === null && !signal.aborted) throw new ReportedError(first.worker.process.exitCode || 1);
  if (url !== null) {
    log({ event: 'listening', url });
    const others = Array.from({ length: count - 1 }, () => start(signal));
    const starts = new WorkerStarts(count, givenUp);
    await Promise.all(
      [first, ...others].map((running) => keepRunning(running, starts, { ...given, signal })),
    );
    if (givenUp.signal.aborted) throw new ReportedError(starts.lastStatus);
  }
  log({ event: 'stopped' });
}

function start(signal: AbortSignal): Running {
  const worker = cluster.fork();
  return { worker, url: urlOf(worker), ended: endOf(worker, signal) };
}

/** Counts the workers that serve, and consecutive failed starts. */
class WorkerStarts {
  /** The exit status of the last worker that could not start. */
  lastStatus = 1;
  readonly #maxFailed: number;
  readonly #givenUp: AbortController;
  readonly #serving = new Set<Worker>();
  #failed = 0;

  /** Aborts `givenUp` when none of `count` workers serves or can start. */
  constructor(count: number, givenUp: AbortController) {
    this.#maxFailed = count * failedStarts;
    this.#givenUp = givenUp;
  }

  /** Waits for the end of a worker, and returns its reason. */
  async follow({ worker, url, ended }: Running): Promise<string> {
    const onServing = () => {
      this.#serving.add(worker);
      this.#failed = 0;
    };
    url.then(onServing, () => {}); // `ended` rejects as well
    const reason = await ended;
    if (this.#serving.delete(worker)) return reason;
    this.#failed += 1;
    // A worker that is stopped while it starts exits with 0.
    this.lastStatus = worker.process.exitCode || this.lastStatus;
    if (this.#serving.size === 0 && this.#failed >= this.#maxFailed) this.#givenUp.abort();
    return reason;
  }
}

async function keepRunning(
  first: Running,
  starts: WorkerStarts,
  { signal, log }: Supervision,
): Promise<void> {
  let pauseMs = firstPauseMs;
  for (let running = first; !signal.aborted; running = start(signal)) {
    const startedAt = performance.now();
    const reason = await starts.follow(running);
    if (performance.now() - startedAt >= steadyAfterMs) pauseMs = firstPauseMs;
    if (signal.aborted) return;
    log({ event: 'worker_ended', pid: running.worker.process.pid ?? 0, reason, restart_ms: pauseMs });
    await wait(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

/** Waits for a worker to end, and stops it when the signal aborts. */
async function endOf(worker: Worker, signal: AbortSignal): Promise<string> {
  // Sending to a worker that has just exited fails: its exit event follows.
  let kill: NodeJS.Timeout | undefined;
  const stop = () => {
    worker.send(stopMessage, undefined, () => {});
    kill = setTimeout(() => worker.process.kill('SIGKILL'), longestStopMs);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const [status, killedBy] = (await once(worker, 'exit')) as [number | null, string | null];
  signal.removeEventListener('abort', stop);
  clearTimeout(kill);
  return killedBy || `exit status ${status}`;
}

async function urlOf(worker: Worker): Promise<string> {
  const [listening] = (await once(worker, 'message')) as [Listening];
  return listening.url;
}

/** A free port for all workers, including those that start when no other is left to share its port. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The message of a worker that serves. */
export interface Listening {
  readonly url: string;
}

/** Asks a worker to stop. A signal could arrive in addition to the terminal's own, and would then kill it at once. */
export const stopMessage = 'stop';

/** Serves as one of several workers until `signal` aborts or the supervisor stops it. */
export async function serveAsWorker(
  startService: () => Promise<Service>,
  signal: AbortSignal,
): Promise<void> {
  const stopped = new AbortController();
  process.on('message', (message) => {
    if (message === stopMessage) stopped.abort();
  });
  try {
    const service = await startService();
    process.send?.({ url: service.url } satisfies Listening);
    await untilAborted(AbortSignal.any([signal, stopped.signal]));
    await service.close();
  } finally {
    // The open channel would keep the process alive.
    cluster.worker?.disconnect();
  }
}
