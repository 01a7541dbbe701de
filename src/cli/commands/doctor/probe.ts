import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as secureSocket } from 'node:tls';
import { lookUpLoopback } from '../../../client/connections.js';
import { CancelledError } from '../../../client/errors.js';
import type { HttpProxy } from '../../../client/proxy.js';
import { secureContextWith } from '../../../client/tls-trust.js';
import { toNoAnswerError } from '../../../client/transport-errors.js';
import { isLoopback } from '../../../protocol/base-url.js';

/** The route to a service, checked step by step. Each step throws a NoAnswerError as a request would. */
export interface Route {
  readonly url: URL;
  /** `null`: a direct connection. */
  readonly proxy: HttpProxy | null;
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly extraCa: string | undefined;
  /** Maximum duration of a step, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the step with a CancelledError. */
  readonly signal: AbortSignal;
}

/** The addresses of the host to connect to: the proxy, if there is one. */
export async function findAddresses(route: Route): Promise<string[]> {
  const { host } = firstHop(route);
  const found = await attempt(route, () => lookup(host, { all: true }));
  return [...new Set(found.map(({ address }) => address))];
}

/** Opens a connection to the service; for https through a proxy, a tunnel. */
export function openConnection(route: Route): Promise<Socket> {
  return attempt(route, async (limit) => {
    const { url, proxy } = route;
    if (proxy !== null && url.protocol === 'https:') return openTunnel(route, proxy, limit);
    const look = isLoopback(url.hostname) ? { lookup: lookUpLoopback } : {};
    return established(connect({ ...firstHop(route), ...look }), 'connect', limit);
  });
}

/** Starts TLS on a connection; returns its version, such as `TLSv1.3`, and the certificate of the service. */
export function secure(socket: Socket, route: Route) {
  return attempt(route, async (limit) => {
    const host = bareHost(route.url);
    const name = isIP(host) === 0 ? { servername: host } : {};
    const options = { socket, host, ...name, ...trustOf(route) };
    const secured = await established(secureSocket(options), 'secureConnect', limit);
    return { protocol: secured.getProtocol() ?? 'unknown', certificate: secured.getPeerCertificate() };
  });
}

/** Certificates are checked even if NODE_TLS_REJECT_UNAUTHORIZED is 0. */
function trustOf({ extraCa }: Route): Pick<ConnectionOptions, 'rejectUnauthorized' | 'secureContext'> {
  return {
    rejectUnauthorized: true,
    ...(extraCa === undefined ? {} : { secureContext: secureContextWith(extraCa) }),
  };
}

async function openTunnel(route: Route, proxy: HttpProxy, limit: AbortSignal): Promise<Socket> {
  const { url } = route;
  const authority = `${url.hostname}:${portOf(url)}`;
  const { protocol } = new URL(proxy.url);
  const request: ClientRequest = (protocol === 'https:' ? httpsRequest : httpRequest)(proxy.url, {
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(proxy.token === undefined ? {} : { 'proxy-authorization': proxy.token }),
    },
    signal: limit,
    ...(protocol === 'https:' ? trustOf(route) : {}),
  });
  request.end();
  const [answer, socket] = (await once(request, 'connect')) as [IncomingMessage, Socket];
  if (answer.statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`the proxy answered (${answer.statusCode})`);
}

/** Waits until a connection is established; destroys it if it fails. */
async function established<S extends Socket>(socket: S, event: string, limit: AbortSignal): Promise<S> {
  try {
    await once(socket, event, { signal: limit });
    socket.on('error', () => {});
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function attempt<T>(route: Route, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(route.timeoutMs);
  try {
    route.signal.throwIfAborted();
    return await work(AbortSignal.any([route.signal, timeout]));
  } catch (error) {
    if (route.signal.aborted) throw new CancelledError(route.signal.reason, false);
    const cause = timeout.aborted
      ? Object.assign(new Error('timed out'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
      : error;
    throw toNoAnswerError(cause, { host: route.url.host, proxy: route.proxy, started: false });
  }
}

function firstHop({ url, proxy }: Route): { readonly host: string; readonly port: number } {
  const stop = proxy === null ? url : new URL(proxy.url);
  return { host: bareHost(stop), port: portOf(stop) };
}

/** Removes the brackets of an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}
