import { defaultClockWindowSeconds, defaultMaxBodyBytes } from '../protocol/limits.js';
import { type AdminOperations, createAdmin } from './admin/admin.js';
import { randomHex } from './admin/admin-context.js';
import { Faults } from './faults.js';
import { startServer } from './http/server.js';
import { createSignersCache } from './http/service-context.js';
import { TokenBuckets } from './http/token-bucket.js';
import { foldRepeats, logFault } from './log.js';
import type { ServiceHost, ServiceSettings } from './settings.js';
import type { Store } from './store/store.js';

/** A running service. */
export interface Service extends AsyncDisposable {
  /** Its base URL. */
  readonly url: string;
  /** Operations on its apps, users and codes. */
  readonly admin: AdminOperations;
  /**
   * Stops accepting connections, answers the requests in flight and further ones on open connections, then closes
   * the store. A request that is incomplete or unanswered 5 s after `drainMs` is cut.
   */
  close(): Promise<void>;
  /** Removes all apps, users and codes. */
  reset(): Promise<void>;
}

/** Size of the ID of a process among those that share a database. */
const holderBytes = 16;

const defaultHost = '127.0.0.1';
const defaultRequestTimeoutMs = 30_000;
const defaultMaxConnections = 1000;

/**
 * Starts the service over a store, which it closes at its end.
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startService(
  store: Store,
  settings: ServiceSettings,
  host: ServiceHost,
): Promise<Service> {
  const { faults } = settings;
  const { log, end } = foldRepeats(settings.log ?? (() => {}));
  const { now, steadyNow } = host;
  const { rateLimit } = settings;
  const newLimit = () => (rateLimit === undefined ? null : new TokenBuckets(rateLimit, steadyNow));
  const unixSeconds = () => Math.floor(now() / 1000 + (faults?.skewSeconds ?? 0));
  const context = {
    store,
    log,
    now,
    steadyNow,
    unixSeconds,
    appLimit: newLimit(),
    clockWindowSeconds: settings.clockWindowSeconds ?? defaultClockWindowSeconds,
    signersOf: createSignersCache(),
  };
  const server = await startServer(context, {
    host: settings.host ?? defaultHost,
    port: settings.port ?? 0,
    maxBodyBytes: settings.maxBodyBytes ?? defaultMaxBodyBytes,
    requestTimeoutMs: settings.requestTimeoutMs ?? defaultRequestTimeoutMs,
    maxConnections: settings.maxConnections ?? defaultMaxConnections,
    failureLimit: newLimit(),
    faults: faults === undefined ? null : new Faults(faults),
    workbench: settings.page ?? null,
    drainMs: settings.drainMs ?? 0,
  });
  store.startPurge(randomHex(host, holderBytes), (error) => logFault(log, error));
  if (faults !== undefined) log({ event: 'faults', ...faults });
  log({ event: 'listening', url: server.url });

  let closed: Promise<void> | null = null;
  const close = async () => {
    await server.close();
    await store.close();
    end();
    log({ event: 'stopped' });
  };
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  return {
    url: server.url,
    admin: createAdmin({ store, ...host }),
    close: closeOnce,
    reset: () => store.reset(),
    [Symbol.asyncDispose]: closeOnce,
  };
}
