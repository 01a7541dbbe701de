import { setMaxListeners } from 'node:events';
import { request } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';
import type { ServiceAddress } from '../../core/contract/base-url.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { Dispatcher } from './dispatcher.js';
import { clientDefaults, type SenderOptions } from './options.js';
import { type HttpProxy, parseProxy } from './proxy.js';
import { secureContextWith } from './tls-trust.js';
import { TunnelError } from './transport-errors.js';

/** Only the deadline of the call limits how long an answer may take. */
const limits = { headersTimeout: 0, bodyTimeout: 0 };

/** The connections of a client, kept open between requests. */
export interface Connections {
  readonly dispatcher: Dispatcher;
  readonly proxy: HttpProxy | null;
  /**
   * Whether the proxy reads and forwards the requests: for plain http, few proxies allow a tunnel.
   */
  readonly isForwarded: boolean;
  /** Whether the service may close connections because they show no client certificate. */
  readonly mayWantCertificate: boolean;
  /** Whether errors are those of its own sockets, not of a dispatcher of the caller. */
  readonly isOwn: boolean;
  /** Closes all connections, also those that are still being opened. */
  drop(): Promise<void>;
}

/**
 * The caller's own dispatcher, which is not closed, or new connections to the host of the base URL.
 *
 * @throws InvalidInputError for an invalid address of a proxy, or an invalid certificate or key
 */
export function openConnections(address: ServiceAddress, options: SenderOptions): Connections {
  if (options.dispatcher !== undefined) return connectionsOf(options.dispatcher);
  const {
    connectTimeoutMs = clientDefaults.connectTimeoutMs,
    connections = clientDefaults.connections,
  } = options;
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const connect = withoutUndefined({
    timeout: connectTimeoutMs,
    signal: ended.signal,
    rejectUnauthorized: true, // explicit: the default depends on NODE_TLS_REJECT_UNAUTHORIZED
    lookup: address.isLoopback ? lookUpLoopback : undefined,
    secureContext: secureContextWith(options),
  });
  const configured = options.proxy === undefined ? null : parseProxy(options.proxy);
  const proxy = address.isLoopback ? null : configured;
  const { pool, dispatcher, isForwarded } = openPool(address.url, proxy, connections, connect);
  return {
    dispatcher,
    proxy,
    isForwarded,
    mayWantCertificate: address.url.protocol === 'https:' && options.cert === undefined,
    isOwn: true,
    async drop() {
      ended.abort();
      await pool.destroy();
    },
  };
}

/** The connections of a dispatcher of the caller, which is not closed. */
function connectionsOf(dispatcher: Dispatcher): Connections {
  return {
    dispatcher,
    proxy: null,
    isForwarded: false,
    mayWantCertificate: false,
    isOwn: false,
    async drop() {},
  };
}

type ConnectOptions = buildConnector.BuildOptions & { readonly timeout: number };

/** A pool of connections, and the dispatcher that sends the requests of the client over it. */
interface OpenPool extends Pick<Connections, 'dispatcher' | 'isForwarded'> {
  readonly pool: Pool;
}

/** Opens a pool to the service: directly, through a proxy that forwards, or through its tunnels. */
function openPool(
  service: URL,
  proxy: HttpProxy | null,
  connections: number,
  connect: ConnectOptions,
): OpenPool {
  if (proxy === null) {
    const pool = new Pool(service.origin, { ...limits, connections, connect });
    return { pool, dispatcher: pool, isForwarded: false };
  }
  if (service.protocol === 'http:') {
    const pool = new Pool(proxy.url, { ...limits, connections, connect });
    return { pool, dispatcher: forwardedBy(proxy, service, pool), isForwarded: true };
  }
  const tunnel = tunnelThrough(proxy, service, connect);
  const pool = new Pool(service.origin, { ...limits, connections, connect: tunnel });
  return { pool, dispatcher: pool, isForwarded: false };
}

/** Sends requests to a proxy that forwards them: they name the whole URL (RFC 9112, 3.2.2). */
function forwardedBy(
  { authorization }: HttpProxy,
  { origin, host }: URL,
  pool: Pool,
): Connections['dispatcher'] {
  const additional = ['host', host];
  if (authorization !== undefined) additional.push('proxy-authorization', authorization);
  return {
    dispatch({ path, headers, ...options }, handler) {
      const allHeaders = [...headers, ...additional];
      return pool.dispatch({ ...options, path: origin + path, headers: allHeaders }, handler);
    },
  };
}

/**
 * Opens connections through a tunnel of the proxy, with one CONNECT each. Not by undici's
 * ProxyAgent: when the proxy closes the connection, that sends the next CONNECT at once, for as
 * long as the call takes.
 */
function tunnelThrough(
  proxy: HttpProxy,
  service: URL,
  options: ConnectOptions,
): buildConnector.connector {
  const connect = buildConnector(options);
  const { protocol, host, hostname, port } = new URL(proxy.url);
  const proxyAddress = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  const authority = `${service.hostname}:${service.port || 443}`;
  return (target, done) => {
    const fail = (error: Error) => done(error, null);
    connect(proxyAddress, (connectError, socket) => {
      if (connectError !== null) {
        fail(orTunnelError(connectError, closedUnanswered));
        return;
      }
      const secure = () =>
        connect({ ...target, httpSocket: socket }, (secureError, secured) => {
          if (secureError === null) done(null, secured);
          else fail(orTunnelError(secureError, closedTunnel));
        });
      askForTunnel(socket, authority, proxy, options.timeout).then(secure, fail);
    });
  };
}

/**
 * Sends a CONNECT (RFC 9110, 9.3.6) and waits until the socket is a tunnel; otherwise it is
 * destroyed.
 */
function askForTunnel(
  socket: Socket,
  authority: string,
  { authorization }: HttpProxy,
  limitMs: number,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const connectRequest = request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: authority,
      headers: withoutUndefined({
        host: authority,
        connection: 'keep-alive',
        'proxy-connection': 'keep-alive',
        'proxy-authorization': authorization,
      }),
    });
    const limit = setTimeout(
      () => fail(new TunnelError(`did not answer within ${limitMs} ms`)),
      limitMs,
    );
    const fail = (error: Error) => {
      clearTimeout(limit);
      socket.destroy();
      reject(error);
    };
    connectRequest.on('error', (cause) => {
      if (isConnectionLoss(cause)) fail(closedUnanswered(cause));
      else fail(new TunnelError('answered with something that is not HTTP', cause));
    });
    connectRequest.on('connect', ({ statusCode = 0 }, _, head) => {
      if (statusCode < 200 || statusCode > 299) {
        fail(TunnelError.refused(statusCode));
        return;
      }
      clearTimeout(limit);
      socket.unshift(head);
      resolve();
    });
    connectRequest.end();
  });
}

/** The error of a connection; that of one which the proxy closed says so. */
function orTunnelError(error: Error, closed: (cause: Error) => TunnelError): Error {
  return isConnectionLoss(error) ? closed(error) : error;
}

function closedUnanswered(cause: Error): TunnelError {
  return new TunnelError('closed the connection without an answer', cause);
}

function closedTunnel(cause: Error): TunnelError {
  return new TunnelError('opened a tunnel and closed it', cause);
}

function isConnectionLoss({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** Resolves loopback names without DNS: an answer from the network could lead elsewhere. */
const lookUpLoopback: LookupFunction = (_hostname, { all }, done) => {
  const address = '127.0.0.1';
  if (all)
    done(null, [
      { address, family: 4 },
      { address: '::1', family: 6 },
    ]);
  else done(null, address, 4);
};
