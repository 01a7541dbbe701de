import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log, Service, ServiceOptions } from '../../service/index.js';
import { ReportedError } from '../exit-status.js';
import { untilAborted } from '../io.js';

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

export interface Supervision {
  readonly count: number;
  /** The command line that each worker is started with. */
  readonly args: readonly string[];
  /** What they listen on; port 0 for a free one. */
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  /** Milliseconds that only go forward. */
  readonly steadyNow: () => number;
  /** Ends the workers. */
  readonly signal: AbortSignal;
}

interface Running {
  readonly worker: Worker;
  /** Resolves once it serves. */
  readonly url: Promise<string>;
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
}

/** The pause before a worker is started in place of one that ended, in milliseconds; it doubles up to the longest. */
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** None of the workers serves, and each has failed to start so often: that takes some 3 seconds, and is given up. */
const failedStarts = 5;

/** How long a worker may take to stop, in milliseconds: longer than a service of its own takes. */
const longestStopMs = 10_000;

/** A worker that lived so long, in milliseconds, is not one of a row that cannot start. */
const steadyAfterMs = 10_000;

/**
 * Runs workers that share a port until the signal, starting another where one ends. Throws a ReportedError where the
 * first one cannot start, or later none can any more: they have said why.
 */
export async function supervise(given: Supervision): Promise<void> {
  const { count, log } = given;
  const hopeless = new AbortController();
  const signal = AbortSignal.any([given.signal, hopeless.signal]);
  const port = given.port === 0 ? await freePort(given.host) : given.port;
  cluster.setupPrimary({ args: [...given.args, '--port', String(port)] });
  const first = start(signal);
  const url = await Promise.race([first.url, first.ended.then(() => null)]);
  if (url === null && !signal.aborted) throw new ReportedError(first.worker.process.exitCode || 1);
  if (url !== null) {
    log({ event: 'listening', url });
    const others = Array.from({ length: count - 1 }, () => start(signal));
    const starts = new Starts(count, hopeless);
    await Promise.all(
      [first, ...others].map((running) => keepRunning(running, starts, { ...given, signal })),
    );
    if (hopeless.signal.aborted) throw new ReportedError(starts.lastStatus);
  }
  log({ event: 'stopped' });
}

function start(signal: AbortSignal): Running {
  const worker = cluster.fork();
  return { worker, url: urlOf(worker), ended: endOf(worker, signal) };
}

/** Which workers serve, and how many could not start, one after the other. */
class Starts {
  /** The exit status of the last worker that could not start. */
  lastStatus = 1;
  readonly #maxFailed: number;
  readonly #hopeless: AbortController;
  readonly #serving = new Set<Worker>();
  #failed = 0;

  /** `hopeless` is aborted once none of `count` workers serves, and none can start. */
  constructor(count: number, hopeless: AbortController) {
    this.#maxFailed = count * failedStarts;
    this.#hopeless = hopeless;
  }

  /** Follows a worker to its end, and gives the reason of it. */
  async follow({ worker, url, ended }: Running): Promise<string> {
    const onServing = () => {
      this.#serving.add(worker);
      this.#failed = 0;
    };
    url.then(onServing, () => {}); // `ended` fails alike
    const reason = await ended;
    if (this.#serving.delete(worker)) return reason;
    this.#failed += 1;
    // One that is stopped while it starts ends with 0.
    this.lastStatus = worker.process.exitCode || this.lastStatus;
    if (this.#serving.size === 0 && this.#failed >= this.#maxFailed) this.#hopeless.abort();
    return reason;
  }
}

async function keepRunning(
  first: Running,
  starts: Starts,
  { signal, log, steadyNow }: Supervision,
): Promise<void> {
  let pauseMs = firstPauseMs;
  for (let running = first; !signal.aborted; running = start(signal)) {
    const startedAt = steadyNow();
    const reason = await starts.follow(running);
    if (steadyNow() - startedAt >= steadyAfterMs) pauseMs = firstPauseMs;
    if (signal.aborted) return;
    log({ event: 'worker_ended', pid: running.worker.process.pid ?? 0, reason, restart_ms: pauseMs });
    await wait(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

/** A worker is asked to end when the signal comes. */
async function endOf(worker: Worker, signal: AbortSignal): Promise<string> {
  // One that has just ended cannot be told any more: its exit is on the way.
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

/** One that every worker is told: those too that start when no other is left to share its port. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** What a worker tells once it listens. */
export interface Listening {
  readonly url: string;
}

/** Tells a worker to end well. A signal could come on top of the terminal's own, and would then end it at once. */
export const stopMessage = 'stop';

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
