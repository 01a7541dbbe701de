import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isLoopback, urlHost } from '../../core/contract/base-url.js';
import { maxTimerMs } from '../../core/contract/limits.js';
import { atMost } from '../../core/support/at-most.js';
import type { ServiceContext } from '../context.js';
import { faultDrawer, injectFaults } from '../faults.js';
import type { Monitoring } from '../monitoring.js';
import type { Store } from '../store/store.js';
import { RequestRing } from '../workbench/request-ring.js';
import type { Workbench } from '../workbench/routes.js';
import { InFlight, limitConnections, requestLimits } from './connections.js';
import { HttpExchange } from './exchange.js';
import { listen } from './listen.js';
import { answerParserErrors } from './parser-errors.js';
import { Responder } from './responder.js';
import { answerByRoute, type Intercept, routesOf } from './routes.js';

/** Makes what a test double does with requests. */
export type ServerExtension = (responder: Responder, store: Store) => Intercept;

/** Time for which closing waits for a request that is unanswered or incomplete, in milliseconds. */
const closeGraceMs = 5000;

/**
 * Starts the server.
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startServer(
  context: ServiceContext,
  monitoring: Monitoring,
  extension?: ServerExtension,
) {
  const { settings } = context;
  const { requestTimeoutMs, keepAliveMs } = settings;
  const server = createServer({
    ...requestLimits(requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
  });
  // One that neither sends nor reads is closed.
  server.setTimeout(Math.min(requestTimeoutMs + keepAliveMs, maxTimerMs));
  const reportOverload = (problem: string) => context.log({ event: 'overload', problem });
  limitConnections(server, settings, reportOverload);
  const inFlight = new InFlight(server, reportOverload);
  const workbench = workbenchOf(context);
  const responder = new Responder(context, workbench?.ring ?? null);
  server.on('clientError', answerParserErrors(server, inFlight, responder, context.now));
  const { faults } = settings;
  const intercept =
    extension?.(responder, context.store) ??
    (faults && injectFaults(responder, faultDrawer(faults)));
  const answer = answerByRoute(
    routesOf(context, responder, workbench, monitoring, intercept),
    responder,
  );
  // Not earlier: a client that reconnects would be cut off with the connections in the backlog.
  const isLast = (reply: ServerResponse) => !server.listening && inFlight.isLast(reply);
  server.on('request', (request, reply) => {
    void answer(new HttpExchange(request, reply, context.steadyNow(), isLast));
  });
  const url = await listen(server, settings.host, settings.port);
  return { url, close: () => close(server, inFlight, settings.drainMs) };
}

/** `null` where the page is not shown. */
function workbenchOf({ settings, now }: ServiceContext): Workbench | null {
  const isHere = isLoopback(urlHost(settings.host));
  const isShown = settings.page ?? isHere;
  return isShown ? { ring: new RequestRing(now), isOpen: !isHere } : null;
}

/**
 * Stops accepting connections, answers the requests on open ones, and closes them: in `drainMs` and
 * `closeGraceMs` at most.
 */
async function close(server: Server, inFlight: InFlight, drainMs: number): Promise<void> {
  // Bun's server is another class, which closes by itself.
  if (!((server as object) instanceof NetServer)) {
    return await new Promise((resolve) => server.close(() => resolve()));
  }
  const drainedAt = performance.now() + Math.max(1, drainMs);
  await acceptWaiting(inFlight, drainedAt);
  // The HTTP server's own `close` would cut idle connections at once, and with them requests in
  // transit.
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  await atMost(drainedAt - performance.now(), closed);
  server.closeIdleConnections();
  inFlight.closeUnused();
  await atMost(closeGraceMs, closed);
  server.closeAllConnections();
  await closed;
  // Ends its check of the connections.
  server.close();
}

/**
 * Accepts the connections in the backlog, which may carry requests already: at least one per turn
 * of the event loop. `end` is a time of `performance.now()`.
 */
async function acceptWaiting(inFlight: InFlight, end: number): Promise<void> {
  for (let before = -1; before !== inFlight.acceptedCount && performance.now() < end; ) {
    before = inFlight.acceptedCount;
    await nextTurn();
    await nextTurn();
  }
}
