import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../service/index.js';
import { ReportedError } from '../reported-error.js';
import { type Listening, stopMessage } from './messages.js';

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
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
}

/** The pause before a worker is started in place of one that ended, in milliseconds; it doubles up to the longest. */
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** A worker that lived so long, in milliseconds, is not one of a row that cannot start. */
const steadyAfterMs = 10_000;

/**
 * Runs workers that share a port until the signal, starting another where one ends. Throws a ReportedError where
 * the first one cannot start: it has said why.
 */
export async function supervise(given: Supervision): Promise<void> {
  const { count, signal, log } = given;
  const port = given.port === 0 ? await freePort(given.host) : given.port;
  cluster.setupPrimary({ args: [...given.args, '--port', String(port)] });
  const first = start(signal);
  const url = await Promise.race([urlOf(first.worker), first.ended.then(() => null)]);
  if (url === null && !signal.aborted) throw new ReportedError(first.worker.process.exitCode ?? 1);
  if (url !== null) {
    log({ event: 'listening', url });
    const others = Array.from({ length: count - 1 }, () => start(signal));
    await Promise.all([first, ...others].map((running) => keepRunning(running, given)));
  }
  log({ event: 'stopped' });
}

function start(signal: AbortSignal): Running {
  const worker = cluster.fork();
  return { worker, ended: endOf(worker, signal) };
}

async function keepRunning(first: Running, { signal, log, steadyNow }: Supervision): Promise<void> {
  let pauseMs = firstPauseMs;
  for (let running = first; ; running = start(signal)) {
    const startedAt = steadyNow();
    const reason = await running.ended;
    if (signal.aborted) return;
    if (steadyNow() - startedAt >= steadyAfterMs) pauseMs = firstPauseMs;
    log({ event: 'worker_ended', pid: running.worker.process.pid ?? 0, reason, restart_ms: pauseMs });
    await wait(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

/** A worker is asked to end when the signal comes. */
async function endOf(worker: Worker, signal: AbortSignal): Promise<string> {
  // One that has just ended cannot be told any more: its exit is on the way.
  const stop = () => worker.send(stopMessage, undefined, () => {});
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const [status, killedBy] = (await once(worker, 'exit')) as [number | null, string | null];
  signal.removeEventListener('abort', stop);
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
