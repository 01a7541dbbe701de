import { lookup } from 'node:dns/promises';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { StartError } from '../../database/errors.js';
import { isLoopback, urlHost } from '../../protocol/base-url.js';
import { addFaults, type Faults } from '../faults.js';
import { RequestRing } from '../workbench/request-ring.js';
import type { Workbench } from '../workbench/routes.js';
import { ArrivingBodies, InFlight, limitConnections } from './connections.js';
import { Unparsed } from './parser-errors.js';
import { Responder } from './responder.js';
import { addRoutes, refuseUnrouted } from './routes.js';
import type { ServiceContext } from './service-context.js';
import type { TokenBuckets } from './token-bucket.js';

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** In bytes. */
  readonly maxBodyBytes: number;
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Open at once. */
  readonly maxConnections: number;
  /** How often requests of an address may be refused before they are known to be an app's; `null` for no limit. */
  readonly failureLimit: TokenBuckets | null;
  /** What goes wrong on purpose. */
  readonly faults: Faults | null;
  /** Whether the workbench is shown; `null` where that is up to the address: on one of this machine alone. */
  readonly workbench: boolean | null;
  /** How long closing keeps connections open on which nothing is asked, in milliseconds. */
  readonly drainMs: number;
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more connections, answers what still comes on those that are open, and closes them. */
  close(): Promise<void>;
}

/** How long an idle connection is kept, in milliseconds. */
const keepAliveTimeoutMs = 72_000;

/** How long closing waits for a request that is not answered, or has not arrived whole, in milliseconds. */
const closeGraceMs = 5000;

/** Starts answering. Throws a StartError where the address cannot be listened on. */
export async function startServer(context: ServiceContext, options: ServerOptions): Promise<HttpServer> {
  const { requestTimeoutMs } = options;
  const app = fastify({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: requestTimeoutMs + keepAliveTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
      // §4: no request header is required.
      requireHostHeader: false,
    },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // The parameters are read from the request's target, which keeps their order and what is wrong with them.
    routerOptions: { querystringParser: () => ({}) },
    rewriteUrl: ({ url }) => originForm(url ?? '/'),
    frameworkErrors: (_, request, reply) => refuseUnrouted(request, reply, responder),
    clientErrorHandler: (error, socket) => unparsed.refuse(error, socket),
  });
  const tellOverload = (problem: string) => context.log({ event: 'overload', problem });
  limitConnections(app.server, options.maxConnections, tellOverload);
  const bodies = new ArrivingBodies(options.maxBodyBytes, tellOverload);
  const inFlight = new InFlight(app.server, context.steadyNow);
  const host = urlHost(options.host);
  const workbench = workbenchOn(host, options.workbench, context.now);
  const responder = new Responder(
    context.log,
    (answer) => inFlight.ageOf(answer),
    workbench?.ring ?? null,
    options.failureLimit,
  );
  const unparsed = new Unparsed(app.server, inFlight, responder, context.now);
  if (options.faults !== null) addFaults(app, options.faults, responder);
  addRoutes(app, context, responder, bodies, workbench);
  app.addHook('onSend', (_, reply, payload, done) => {
    // Not before: who was told to would connect anew, and be cut off with the connections that wait to be taken.
    if (!app.server.listening && inFlight.isLast(reply.raw)) reply.header('connection', 'close');
    done(null, payload);
  });
  const port = await listen(app, options);
  return {
    url: `http://${host}:${port}`,
    close: () => close(app, inFlight, options.drainMs),
  };
}

/** `host` is written as in a URL. */
function workbenchOn(host: string, asked: boolean | null, now: () => number): Workbench | null {
  const isHere = isLoopback(host);
  return (asked ?? isHere) ? { ring: new RequestRing(now), isOpen: !isHere } : null;
}

/**
 * RFC 9112 §3.2.2: a server takes a whole URL as the target of a request too. A fragment is never sent: the router
 * would cut off what looks like one.
 */
function originForm(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*\/?/i, '/').replaceAll('#', '%23');
}

/** Gives the port. */
async function listen(app: FastifyInstance, { host, port }: ServerOptions): Promise<number> {
  try {
    // Of a name with several addresses, fastify would listen on all, each with a port of its own.
    const { address } = await lookup(host);
    await app.listen({ host: address, port });
    return (app.server.address() as AddressInfo).port;
  } catch (error) {
    await app.close();
    throw listenFault(error, host, port);
  }
}

function listenFault(error: unknown, host: string, port: number): StartError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new StartError('PORT_IN_USE', `port ${port} of ${host} is in use`, {
      hint: 'Stop what listens there, or choose another port; 0 picks a free one.',
      cause: error,
    });
  }
  const hint = 'Choose an address of this machine, such as 127.0.0.1, and a port that you may use.';
  return new StartError('CANNOT_LISTEN', `cannot listen on ${host}, port ${port}: ${code ?? message}`, {
    hint,
    cause: error,
  });
}

/** Takes `drainMs` and `closeGraceMs` at most. */
async function close(app: FastifyInstance, inFlight: InFlight, drainMs: number): Promise<void> {
  const drained = AbortSignal.timeout(drainMs);
  await acceptWaiting(inFlight, drained);
  // The HTTP server's own `close` would cut idle connections at once, and with them a request that is on its way.
  NetServer.prototype.close.call(app.server);
  await Promise.race([inFlight.allClosed(), untilAborted(drained)]);
  app.server.closeIdleConnections();
  inFlight.closeUnused();
  await Promise.race([inFlight.allClosed(), untilAborted(AbortSignal.timeout(closeGraceMs))]);
  app.server.closeAllConnections();
  await app.close();
}

/** Takes the connections that wait to be taken, and may carry a request already: at least one a turn. */
async function acceptWaiting(inFlight: InFlight, end: AbortSignal): Promise<void> {
  for (let before = -1; before !== inFlight.accepted && !end.aborted; ) {
    before = inFlight.accepted;
    await nextTurn();
    await nextTurn();
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
