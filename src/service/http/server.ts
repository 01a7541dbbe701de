import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { isLoopback, urlHost } from '../../protocol/base-url.js';
import { maxTimerMs } from '../../protocol/limits.js';
import type { ServiceContext } from '../context.js';
import { faultDrawer, injectFaults } from '../faults.js';
import { type AnswerMonitoring, listenFault } from '../monitoring.js';
import type { CheckedSettings } from '../settings.js';
import type { Store } from '../store/store.js';
import { RequestRing } from '../workbench/request-ring.js';
import { InFlight, limitConnections, requestLimits } from './connections.js';
import { answerParserErrors } from './parser-errors.js';
import { Responder, traceOf } from './responder.js';
import { addRoutes, refuseUnrouted } from './routes.js';

interface HttpServer {
  readonly url: string;
  /** Stops accepting connections, answers the requests on open ones, and closes them. */
  close(): Promise<void>;
}

const noCompiler = () => () => {
  throw new TypeError('no route has a schema');
};

/** Adds hooks of a test double before the routes are added. */
export type ServerExtension = (app: FastifyInstance, responder: Responder, store: Store) => void;

/** Time for which closing waits for a request that is unanswered or incomplete, in milliseconds. */
const closeGraceMs = 5000;

/**
 * Starts the server.
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startServer(
  context: ServiceContext,
  monitoring: AnswerMonitoring,
  extension?: ServerExtension,
): Promise<HttpServer> {
  const { settings } = context;
  const { requestTimeoutMs, maxBodyBytes, keepAliveMs } = settings;
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: Math.min(requestTimeoutMs + keepAliveMs, maxTimerMs),
    keepAliveTimeout: keepAliveMs,
    http: requestLimits(requestTimeoutMs),
    exposeHeadRoutes: false,
    // No route has a schema: without compilers of its own, fastify loads ajv and fast-json-stringify.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    return503OnClosing: false,
    // The parameters are parsed from the request's target, which keeps their order and their errors.
    routerOptions: { querystringParser: () => ({}) },
    genReqId: ({ headers }) => requestIdOf(headers),
    ...(settings.trustProxy === undefined ? {} : { trustProxy: [...settings.trustProxy] }),
    rewriteUrl: ({ url }) => originForm(url ?? '/'),
    frameworkErrors: (_, request, reply) => refuseUnrouted(request, reply, responder),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket),
  });
  const reportOverload = (problem: string) => context.log({ event: 'overload', problem });
  limitConnections(app.server, settings, reportOverload);
  const inFlight = new InFlight(app.server, context.steadyNow, reportOverload);
  const host = urlHost(settings.host);
  const isHere = isLoopback(host);
  const workbench =
    (settings.page ?? isHere) ? { ring: new RequestRing(context.now), isOpen: !isHere } : null;
  const responder = new Responder(context, (answer) => inFlight.ageOf(answer), workbench?.ring ?? null);
  const refuseConnection = answerParserErrors(app.server, inFlight, responder, context.now);
  extension?.(app, responder, context.store);
  if (settings.faults !== undefined) {
    injectFaults(app, responder, faultDrawer(settings.faults));
  }
  addRoutes(app, context, responder, workbench, monitoring);
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id);
    const { traceparent } = traceOf(request.headers);
    if (traceparent !== undefined) reply.header('traceparent', traceparent);
    // Not earlier: a client that reconnects would be cut off with the connections in the backlog.
    if (!app.server.listening && inFlight.isLast(reply.raw)) reply.header('connection', 'close');
    done(null, payload);
  });
  const port = await listen(app, settings);
  return {
    url: `http://${host}:${port}`,
    close: () => close(app, inFlight, settings.drainMs),
  };
}

/** The ID that the client gave, else that of its trace, else a new one. */
function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && /^[\w.:/+=-]{1,128}$/.test(given)) return given;
  return traceOf(headers).id ?? randomUUID();
}

/**
 * RFC 9112 §3.2.2: the target of a request may be a whole URL. Fragments are never sent: the router would cut off
 * what looks like one.
 */
function originForm(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*\/?/i, '/').replaceAll('#', '%23');
}

/** Returns the port. */
async function listen(
  app: FastifyInstance,
  { host, port }: Pick<CheckedSettings, 'host' | 'port'>,
): Promise<number> {
  try {
    // If a name has several addresses, fastify would listen on all of them, each with its own port.
    const { address } = await lookup(host);
    await app.listen({ host: address, port });
    return (app.server.address() as AddressInfo).port;
  } catch (error) {
    await app.close();
    throw listenFault(error, host, port);
  }
}

/** Takes at most `drainMs` and `closeGraceMs`. */
async function close(app: FastifyInstance, inFlight: InFlight, drainMs: number): Promise<void> {
  // Bun's server is another class, which closes by itself.
  if (!(app.server instanceof NetServer)) return await app.close();
  const drainedAt = performance.now() + Math.max(1, drainMs);
  await acceptWaiting(inFlight, drainedAt);
  // The HTTP server's own `close` would cut idle connections at once, and with them requests in transit.
  const closed = once(app.server, 'close');
  NetServer.prototype.close.call(app.server);
  await atMost(drainedAt - performance.now(), closed);
  app.server.closeIdleConnections();
  inFlight.closeUnused();
  await atMost(closeGraceMs, closed);
  app.server.closeAllConnections();
  await app.close();
}

/**
 * Accepts the connections in the backlog, which may carry requests already: at least one per turn of the event
 * loop. `end` is a time of `performance.now()`.
 */
async function acceptWaiting(inFlight: InFlight, end: number): Promise<void> {
  for (let before = -1; before !== inFlight.accepted && performance.now() < end; ) {
    before = inFlight.accepted;
    await nextTurn();
    await nextTurn();
  }
}

/** Waits for something, at most `ms`. */
async function atMost(ms: number, something: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([something, wait(Math.max(0, ms), undefined, { signal: ended.signal })]);
  ended.abort();
}
