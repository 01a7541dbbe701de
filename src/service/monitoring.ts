import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isLoopback, urlHost } from '../core/contract/base-url.js';
import { jsonContentType } from '../core/contract/envelope.js';
import { InFlight, limitConnections, requestLimits } from './http/connections.js';
import type { HttpAnswer } from './http/exchange.js';
import { listen } from './http/listen.js';
import type { Log } from './log.js';
import type { CheckedSettings } from './settings.js';
import { isOwnHost } from './workbench/routes.js';

/** What monitoring answers, by path. Only a port for admin has other requests than GET. */
export type Monitoring = ReadonlyMap<string, (request: IncomingMessage) => Promise<HttpAnswer>>;

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
  if (isWell) return { status: 200, type: jsonContentType, body: '{"status":"ok"}' };
  return { status: 503, type: jsonContentType, body: '{"status":"unavailable"}' };
}

const noSuchPath: HttpAnswer = {
  status: 404,
  type: jsonContentType,
  body: '{"status":"no such path"}',
};

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
  const answer = answers.get(path)?.(request) ?? noSuchPath;
  const { status, type, body } = await Promise.resolve(answer).catch(() => statusAnswer(false));
  reply.shouldKeepAlive &&= request.complete;
  if (status === 401) reply.setHeader('www-authenticate', 'Bearer');
  reply
    .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    .end(body);
}
