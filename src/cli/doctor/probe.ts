import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, type PeerCertificate, connect as secureSocket } from 'node:tls';
import { lookUpHere } from '../../client/connections.js';
import { CancelledError } from '../../client/errors.js';
import type { HttpProxy } from '../../client/proxy.js';
import { trustAlso } from '../../client/tls-trust.js';
import { toNoAnswerError } from '../../client/transport-errors.js';
import { isLoopback } from '../../protocol/base-url.js';

/** The way to a service, to be gone step by step. Each step throws a NoAnswerError as a request would. */
export interface Way {
  readonly url: URL;
  /** `null`: straight. */
  readonly proxy: HttpProxy | null;
  /** PEM certificates of authorities to trust beside Node's. */
  readonly extraCa: string | undefined;
  /** How long each step may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the step with a CancelledError. */
  readonly signal: AbortSignal;
}

/** The addresses of the host that a connection goes to: of the proxy, where there is one. */
export async function findAddresses(way: Way): Promise<string[]> {
  const { host } = firstStop(way);
  const found = await attempt(way, () => lookup(host, { all: true }));
  return [...new Set(found.map(({ address }) => address))];
}

/** A connection to the service; for https through a proxy, the tunnel there. */
export function openConnection(way: Way): Promise<Socket> {
  return attempt(way, async (limit) => {
    const { url, proxy } = way;
    if (proxy !== null && url.protocol === 'https:') return openTunnel(way, proxy, limit);
    const isHere = isLoopback(url.hostname);
    return established(
      connect({ ...firstStop(way), ...(isHere ? { lookup: lookUpHere } : {}) }),
      'connect',
      limit,
    );
  });
}

/** How a connection is secured. */
export interface Security {
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
  /** The service's. */
  readonly certificate: PeerCertificate;
}

/** Secures a connection as https does. */
export function secure(socket: Socket, way: Way): Promise<Security> {
  return attempt(way, async (limit) => {
    const host = bareHost(way.url);
    const options = {
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...trustOf(way),
    };
    const secured = await established(secureSocket(options), 'secureConnect', limit);
    return { protocol: secured.getProtocol() ?? 'unknown', certificate: secured.getPeerCertificate() };
  });
}

/** Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
function trustOf({ extraCa }: Way): Pick<ConnectionOptions, 'rejectUnauthorized' | 'secureContext'> {
  return {
    rejectUnauthorized: true,
    ...(extraCa === undefined ? {} : { secureContext: trustAlso(extraCa) }),
  };
}

async function openTunnel(way: Way, proxy: HttpProxy, limit: AbortSignal): Promise<Socket> {
  const { url } = way;
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
    ...(protocol === 'https:' ? trustOf(way) : {}),
  });
  request.end();
  const [answer, socket] = (await once(request, 'connect')) as [IncomingMessage, Socket];
  if (answer.statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`the proxy answered (${answer.statusCode})`);
}

/** Waits until a connection is there; one that does not come to be is given up. */
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

async function attempt<T>(way: Way, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(way.timeoutMs);
  try {
    way.signal.throwIfAborted();
    return await work(AbortSignal.any([way.signal, timeout]));
  } catch (error) {
    if (way.signal.aborted) throw new CancelledError(way.signal.reason, false);
    const cause = timeout.aborted
      ? Object.assign(new Error('timed out'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
      : error;
    throw toNoAnswerError(cause, { host: way.url.host, proxy: way.proxy, started: false });
  }
}

function firstStop({ url, proxy }: Way): { readonly host: string; readonly port: number } {
  const stop = proxy === null ? url : new URL(proxy.url);
  return { host: bareHost(stop), port: portOf(stop) };
}

/** Without the brackets that an IPv6 address has in a URL. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}
