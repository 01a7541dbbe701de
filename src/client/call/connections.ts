import { setMaxListeners } from 'node:events';
import { request } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';
import { isLoopback } from '../../core/contract/base-url.js';
import type { Dispatcher } from './dispatcher.js';
import { clientDefaults, type UserInfoClientOptions } from './options.js';
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
export function openConnections(baseUrl: string, options: UserInfoClientOptions): Connections {
  const { cert, proxy: address } = options;
  const {
    connectTimeoutMs = clientDefaults.connectTimeoutMs,
    connections = clientDefaults.connections,
  } = options;
  if (options.dispatcher !== undefined) {
    const { dispatcher } = options;
    const drop = async () => {};
    return {
      dispatcher,
      proxy: null,
      isForwarded: false,
      mayWantCertificate: false,
      isOwn: false,
      drop,
    };
  }
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const { signal } = ended;
  const service = new URL(baseUrl);
  const isHere = isLoopback(service.hostname);
  const connect = {
    timeout: connectTimeoutMs,
    signal,
    rejectUnauthorized: true, // explicit: the default depends on NODE_TLS_REJECT_UNAUTHORIZED
    ...(isHere ? { lookup: lookUpLoopback } : {}),
    secureContext: secureContextWith(options),
  };
  const given = address === undefined ? null : parseProxy(address);
  const proxy = isHere ? null : given;
  const isForwarded = proxy !== null && service.protocol === 'http:';
  const pool = new Pool(isForwarded ? proxy.url : service.origin, {
    ...limits,
    connections,
    connect: proxy === null || isForwarded ? connect : tunnelThrough(proxy, service, connect),
  });
  return {
    dispatcher: isForwarded ? forwardedBy(proxy, service, pool) : pool,
    proxy,
    isForwarded,
    mayWantCertificate: service.protocol === 'https:' && cert === undefined,
    isOwn: true,
    async drop() {
      ended.abort();
      await pool.destroy();
    },
  };
}

/** Sends requests to a proxy that forwards them: they name the whole URL (RFC 9112, 3.2.2). */
function forwardedBy(
  { token }: HttpProxy,
  { origin, host }: URL,
  pool: Pool,
): Connections['dispatcher'] {
  const added = ['host', host, ...(token === undefined ? [] : ['proxy-authorization', token])];
  return {
    dispatch({ path, headers, ...options }, handler) {
      const allHeaders = [...(headers as string[]), ...added];
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
  options: buildConnector.BuildOptions & { readonly timeout: number },
): buildConnector.connector {
  const open = buildConnector(options);
  const { protocol, host, hostname, port } = new URL(proxy.url);
  const address = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return (target, done) => {
    const fail = (error: Error) => done(error, null);
    open(address, (error, socket) => {
      if (error !== null) return fail(isConnectionLoss(error) ? closedUnanswered(error) : error);
      askForTunnel(
        socket,
        `${service.hostname}:${service.port || 443}`,
        proxy,
        options.timeout,
      ).then(() => {
        open({ ...target, httpSocket: socket }, (fault, secured) => {
          if (fault === null) done(null, secured);
          else
            fail(
              isConnectionLoss(fault)
                ? new TunnelError('opened a tunnel and closed it', fault)
                : fault,
            );
        });
      }, fail);
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
  { token }: HttpProxy,
  limitMs: number,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const connection = { connection: 'keep-alive', 'proxy-connection': 'keep-alive' };
    const credentials = token === undefined ? {} : { 'proxy-authorization': token };
    const headers = { host: authority, ...connection, ...credentials };
    const asked = request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: authority,
      headers,
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
    asked.on('error', (cause) =>
      fail(
        isConnectionLoss(cause)
          ? closedUnanswered(cause)
          : new TunnelError('answered with something that is not HTTP', cause),
      ),
    );
    asked.on('connect', ({ statusCode = 0 }, _, head) => {
      if (statusCode < 200 || statusCode > 299) return fail(TunnelError.refused(statusCode));
      clearTimeout(limit);
      socket.unshift(head);
      resolve();
    });
    asked.end();
  });
}

function closedUnanswered(cause: Error): TunnelError {
  return new TunnelError('closed the connection without an answer', cause);
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
