import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import type * as undici from 'undici';
// undici's index takes longer to load than a request takes, for parts that are not used here (fetch, web
// sockets).
// @ts-expect-error: undici declares types for its index alone
import openTunnel from 'undici/lib/api/api-connect.js';
// @ts-expect-error
import UndiciPool from 'undici/lib/dispatcher/pool.js';
// @ts-expect-error
import UndiciProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { isLoopback } from '../protocol/base-url.js';
import type { UserInfoClientOptions } from './options.js';
import { type HttpProxy, parseProxy } from './proxy.js';
import { secureContextWith } from './tls-trust.js';

const Pool: typeof undici.Pool = UndiciPool;
const ProxyAgent: typeof undici.ProxyAgent = UndiciProxyAgent;

/** Only the deadline of the call limits how long an answer may take. */
const limits = { headersTimeout: 0, bodyTimeout: 0 };

/** The connections of a client, kept open between requests. */
export interface Connections {
  readonly dispatcher: Pick<undici.Dispatcher, 'dispatch'>;
  readonly proxy: HttpProxy | null;
  /** Closes all connections, also those that are still being opened. */
  drop(): Promise<void>;
}

/**
 * The caller's own dispatcher, which is not closed, or new connections to the host of the base URL.
 *
 * @throws InvalidInputError for an invalid address of a proxy, or an invalid certificate
 */
export function openConnections(baseUrl: string, options: UserInfoClientOptions): Connections {
  const { connectTimeoutMs = 5_000, extraCa, proxy: address, connections = 128 } = options;
  if (options.dispatcher !== undefined) {
    return { dispatcher: options.dispatcher, proxy: null, drop: async () => {} };
  }
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const { signal } = ended;
  const shared = { ...limits, connections };
  const { hostname, origin } = new URL(baseUrl);
  const isHere = isLoopback(hostname);
  const connect = {
    timeout: connectTimeoutMs,
    signal,
    rejectUnauthorized: true, // explicit: the default depends on NODE_TLS_REJECT_UNAUTHORIZED
    ...(isHere ? { lookup: lookUpLoopback } : {}),
    ...(extraCa === undefined ? {} : { secureContext: secureContextWith(extraCa) }),
  };
  const proxy = address === undefined || isHere ? null : parseProxy(address);
  const dispatcher =
    proxy === null
      ? new Pool(origin, { ...shared, connect })
      : new ProxyAgent({
          ...shared,
          uri: proxy.url,
          ...(proxy.token === undefined ? {} : { token: proxy.token }),
          proxyTls: connect,
          requestTls: connect,
          // Only undici's index adds this method.
          clientFactory: (url, options) => Object.assign(new Pool(url, options), { connect: openTunnel }),
          proxyTunnel: false, // a tunnel only for https: few proxies allow one to port 80
        });
  return {
    dispatcher,
    proxy,
    async drop() {
      ended.abort();
      await dispatcher.destroy();
    },
  };
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
