import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { isLoopback, urlHost } from '../../protocol/host.js';
import { StartError } from '../errors.js';
import { addFaults } from '../faults/add-faults.js';
import type { Faults } from '../faults/faults.js';
import { RequestRing } from '../workbench/request-ring.js';
import { InFlight } from './in-flight.js';
import { ArrivingBodies, limitConnections } from './overload.js';
import { refuseUnrouted } from './refuse-request.js';
import { Responder } from './responder.js';
import { addRoutes } from './routes.js';
import type { ServiceContext } from './service-context.js';
import type { TokenBuckets } from './token-bucket.js';
import { Unparsed } from './unparsed.js';
import type { Workbench } from './workbench.js';

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
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more requests, answers those in flight, and closes every connection. */
  close(): Promise<void>;
}

/** How long an idle connection is kept, in milliseconds. */
const keepAliveTimeoutMs = 72_000;

/** How long closing waits for a request that is still arriving, in milliseconds. */
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
  const port = await listen(app, options);
  return { url: `http://${host}:${port}`, close: () => close(app, inFlight) };
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

async function close(app: FastifyInstance, inFlight: InFlight): Promise<void> {
  const closed = app.close();
  const grace = setTimeout(() => app.server.closeAllConnections(), closeGraceMs);
  await inFlight.ended();
  clearTimeout(grace);
  // Connections that never sent a request would keep it open.
  app.server.closeAllConnections();
  await closed;
}
