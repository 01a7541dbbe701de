// Apart from run.ts: only --workers needs it.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { answerCodes } from '../../../service/admin/post-codes.js';
import type { Admin, Log, Service, ServiceOptions } from '../../../service/index.js';
import { answerMonitoring, listenFault, startMonitoring } from '../../../service/monitoring.js';
import type { Secret } from '../../../signing/secret.js';
import { loadPart } from '../../../support/errors.js';
import type { CliContext } from '../../context.js';
import { ReportedError } from '../../exit-status.js';
import type { ServeOptions } from './options.js';

/** The delay before a worker is replaced, in milliseconds; it doubles while workers cannot start. */
const firstPauseMs = 100;
const longestPauseMs = 10_000;

/** Give up after this many failed starts in succession per worker while none serves: about 3 seconds. */
const maxFailedStarts = 5;

/** Maximum time for a worker to stop, in milliseconds; a service takes less. */
const longestStopMs = 10_000;

/** Maximum time for a worker to answer a probe, in milliseconds: after that the service is not ready. */
const longestProbeMs = 10_000;

/** Asks a worker to stop. A signal could arrive in addition to the terminal's own, and would then kill it at once. */
const stopMessage = 'stop';

interface Supervision {
  readonly context: CliContext;
  readonly options: ServeOptions;
  readonly log: Log;
  /** The admin token, for codes on the admin port. */
  readonly token: Secret | undefined;
}

/**
 * Serves with several processes that share a port. The primary process replaces workers that end; each worker runs the
 * same command line again.
 *
 * @throws ReportedError if the first worker cannot start, or later none can: they have reported why
 */
export async function runWorkers(
  supervision: Supervision,
  startService: (options: ServiceOptions) => Promise<Service>,
): Promise<void> {
  if (cluster.isPrimary) return await supervise(supervision);
  const { log, context } = supervision;
  const stopped = new AbortController();
  process.on('message', (message) => {
    if (message === stopMessage) stopped.abort();
    else sendSamples();
  });
  try {
    // The primary process logs these events for all workers.
    const service = await startService({
      log: (event) => {
        if (event.event !== 'listening' && event.event !== 'stopped') log(event);
      },
    });
    process.send?.({ url: service.url });
    const end = AbortSignal.any([context.signal, stopped.signal]);
    if (!end.aborted) await once(end, 'abort');
    await service.close();
  } finally {
    // The open channel would keep the process alive.
    cluster.worker?.disconnect();
  }
}

/** Sends the metrics of this worker to the primary process. */
async function sendSamples(): Promise<void> {
  const { ownSamples } = await loadPart(() => import('../../../service/metrics.js'));
  const samples = await ownSamples();
  // It may have ended.
  process.send?.({ samples }, undefined, undefined, () => {});
}

async function supervise(supervision: Supervision): Promise<void> {
  const { context, options, log } = supervision;
  const { workers, host, drainDelay = 0 } = options;
  const port = options.port === 0 ? await freePort(host) : options.port;
  cluster.setupPrimary({ args: [...context.args, '--port', String(port)] });
  const givenUp = new AbortController();
  const stop = AbortSignal.any([context.signal, givenUp.signal]);
  const others: Promise<void>[] = [];
  let maxFailed = 1;
  let failed = 0;
  let serving = 0;
  let status = 1;
  let serviceUrl = '';
  const isReady = async () =>
    !stop.aborted &&
    serving > 0 &&
    (await fetch(`${serviceUrl}/healthz`, { signal: AbortSignal.timeout(longestProbeMs) })).ok;
  const admin = await monitor(supervision, isReady);
  const onServing = (url: string) => {
    serving += 1;
    failed = 0;
    if (maxFailed > 1) return;
    maxFailed = workers * maxFailedStarts;
    if (admin !== null) log({ event: 'monitoring', url: admin.url });
    log({ event: 'listening', url });
    serviceUrl = url;
    for (let other = 1; other < workers; other += 1) others.push(keepRunning());
  };
  const keepRunning = async () => {
    for (let pauseMs = firstPauseMs; !stop.aborted; ) {
      const worker = cluster.fork();
      let hasServed = false;
      worker.on('message', ({ url }: { url?: string }) => {
        if (url === undefined) return;
        hasServed = true;
        onServing(url);
      });
      const reason = await endOf(worker, stop, longestStopMs + drainDelay);
      if (hasServed) {
        serving -= 1;
        pauseMs = firstPauseMs;
      } else {
        failed += 1;
        // A worker that is stopped while it starts exits with 0.
        status = worker.process.exitCode || status;
        if (serving === 0 && failed >= maxFailed) givenUp.abort();
      }
      if (stop.aborted) return;
      log({ event: 'worker_ended', pid: worker.process.pid ?? 0, reason, restart_ms: pauseMs });
      await wait(pauseMs, undefined, { signal: stop }).catch(() => {});
      if (!hasServed) pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  };
  await keepRunning();
  await Promise.all(others);
  await admin?.close();
  if (givenUp.signal.aborted) throw new ReportedError(status);
  log({ event: 'stopped' });
}

/** Serves probes and the metrics of all workers, and issues codes, if there is a port for them. */
async function monitor({ context, options, log, token }: Supervision, isReady: () => Promise<boolean>) {
  const { adminPort, database, host, maxConnections, requestTimeout } = options;
  if (adminPort === undefined) return null;
  const { sumOfWorkers } = await loadPart(() => import('../../../service/metrics.js'));
  let opened: Promise<Admin> | undefined;
  const open = () => {
    opened ??= context.openAdmin(database, { create: false });
    // The next request tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  const monitored = {
    isReady,
    metrics: sumOfWorkers(),
    codes: token && answerCodes(token, host, open, log),
  };
  const limits = { host, maxConnections, requestTimeoutMs: requestTimeout } as ServiceOptions;
  const server = await startMonitoring(limits, adminPort, answerMonitoring(monitored), log);
  return {
    url: server.url,
    async close() {
      server.close();
      await (await opened)?.close();
    },
  };
}

/** Waits for a worker to end, and stops it when the signal aborts; returns the reason. */
async function endOf(worker: Worker, signal: AbortSignal, stopMs: number): Promise<string> {
  let kill: NodeJS.Timeout | undefined;
  const stop = () => {
    worker.send(stopMessage);
    kill = setTimeout(() => worker.process.kill('SIGKILL'), stopMs);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  // Not events.once, which rejects at an error event: a message to a worker that has just ended causes one (EPIPE).
  const [status, killedBy] = await new Promise<[number | null, string | null]>((resolve) => {
    worker.on('error', () => {}).once('exit', (...reason) => resolve(reason));
  });
  signal.removeEventListener('abort', stop);
  clearTimeout(kill);
  return killedBy || `exit status ${status}`;
}

/** A free port for all workers, including those that start when no other is left to share its port. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw listenFault(error, host, 0);
  });
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
