import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isLoopback, urlHost } from '../core/contract/base-url.js';
import { atMost } from '../core/support/at-most.js';
import { DatabaseBusyError } from './database/errors.js';
import { InFlight, limitConnections, requestLimits } from './http/connections.js';
import type { HttpAnswer } from './http/exchange.js';
import { listen } from './http/listen.js';
import { type Log, logFault } from './log.js';
import type { CheckedSettings } from './settings.js';
import type { Store } from './store/store.js';
import { isOwnHost } from './workbench/routes.js';

/** What monitoring answers, by path. Only a port for admin has other requests than GET. */
export type Monitoring = ReadonlyMap<string, (request: IncomingMessage) => Promise<HttpAnswer>>;

const json = 'application/json; charset=utf-8';
const prometheus = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * `/livez`: the process answers. `/readyz`: it takes requests, as `isReady` says, and can write.
 * `/metrics`: for Prometheus.
 */
export function monitoringOf(
  isReady: () => Promise<boolean>,
  metrics: () => Promise<string>,
): Monitoring {
  return new Map([
    ['/livez', async () => statusAnswer(true)],
    ['/readyz', async () => statusAnswer(await isReady())],
    ['/metrics', async () => ({ status: 200, type: prometheus, body: await metrics() })],
  ]);
}

export function statusAnswer(isWell: boolean): HttpAnswer {
  const status = isWell ? 200 : 503;
  return { status, type: json, body: `{"status":"${isWell ? 'ok' : 'unavailable'}"}` };
}

/**
 * Starts a server for monitoring alone, with the limits of the service's own port. At a loopback
 * address it answers no request for another name: that of another site can lead to this machine
 * (DNS rebinding).
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startMonitoring(
  settings: CheckedSettings,
  port: number,
  answers: Monitoring,
  log: Log,
): Promise<{ readonly url: string; close(): void }> {
  const { host, requestTimeoutMs } = settings;
  const isHere = isLoopback(urlHost(host));
  const server = createServer(requestLimits(requestTimeoutMs), (request, reply) => {
    const isMeant = !isHere || request.headers.host === undefined || isOwnHost(request, true);
    void send(request, reply, isMeant ? answers : new Map());
  });
  const report = (problem: string) => log({ event: 'overload', problem: `admin port: ${problem}` });
  limitConnections(server, settings, report);
  new InFlight(server, report);
  const url = await listen(server, host, port);
  return {
    url,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function send(request: IncomingMessage, reply: ServerResponse, answers: Monitoring) {
  const path = request.url?.replace(/\?.*/s, '') ?? '';
  const found = await answers
    .get(path)?.(request)
    .catch(() => statusAnswer(false));
  const { status, type, body } = found ?? {
    status: 404,
    type: json,
    body: '{"status":"no such path"}',
  };
  reply.shouldKeepAlive &&= request.complete;
  if (status === 401) reply.setHeader('www-authenticate', 'Bearer');
  reply
    .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    .end(body);
}

/** Time for which no further probe is started, in milliseconds. */
const probeLastsMs = 1000;

/** Time for which the result of a probe is believed while no other one ends, in milliseconds. */
const believedMs = 10_000;

/**
 * Maximum wait for a probe once that time is over, in milliseconds: who asks is answered within a
 * second.
 */
const maxWaitMs = 900;

/**
 * Tells whether the store is writable, by the last probe. Whoever asks later than a second after it
 * starts the next one, and waits for it, for a moment, only if the last one is too old to be
 * believed. A probe that takes long, or finds its row locked or no connection free, is not a
 * failure: the processes share one database, and a slow one must not take out all of them. A probe
 * also compares `unixSeconds`, the clock of this process, with the database's, and logs if they are
 * more than `windowSeconds` apart. `now` returns milliseconds of a monotonic clock.
 */
export function probeStore(
  store: Store,
  log: Log,
  now: () => number,
  unixSeconds: () => number,
  windowSeconds: number,
): { readonly isWritable: () => Promise<boolean>; readonly isInTime: () => boolean } {
  const isInTime = () => Math.abs(store.clockDifference()) <= windowSeconds;
  const reportClock = () => {
    const difference = store.clockDifference();
    const where = difference > 0 ? 'ahead of' : 'behind';
    const problem = `the clock of this machine is ${Math.abs(difference)} s ${where} that of the database`;
    log({ event: 'clock', problem });
  };
  let last = { isWell: true, endedAt: Number.NEGATIVE_INFINITY };
  let probe: Promise<void> | null = null;
  const run = async () => {
    const wasInTime = isInTime();
    try {
      await store.check(unixSeconds);
      if (wasInTime && !isInTime()) reportClock();
      last = { isWell: true, endedAt: now() };
    } catch (error) {
      logFault(log, error);
      if (!(error instanceof DatabaseBusyError)) last = { isWell: false, endedAt: now() };
    } finally {
      probe = null;
    }
  };
  const isWritable = async () => {
    const isOver = (since: number, ms: number) => now() - since > ms;
    if (probe === null && isOver(last.endedAt, probeLastsMs)) probe = run();
    if (probe !== null && isOver(last.endedAt, believedMs)) {
      await atMost(maxWaitMs, probe);
      if (isOver(last.endedAt, believedMs)) return false;
    }
    return last.isWell;
  };
  return { isWritable, isInTime };
}
