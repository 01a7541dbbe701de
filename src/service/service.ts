import { type AdminOperations, createAdmin } from './admin/admin.js';
import { randomHex } from './admin/admin-context.js';
import { startServer } from './http/server.js';
import { TokenBuckets } from './http/token-bucket.js';
import { foldRepeats, type Log, logFault } from './log.js';
import type { CheckedSettings, ServiceHost } from './settings.js';
import type { Store } from './store/store.js';
import type { ServerExtension } from './test-service.js';

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

/** What the answer to a request depends on besides the request. */
export interface ServiceContext extends ServiceHost {
  readonly store: Store;
  readonly settings: CheckedSettings;
  readonly log: Log;
  /** The Unix time in seconds. */
  readonly unixSeconds: () => number;
  /** Rate limit of each app, by its key; `null` for no limit. */
  readonly appLimit: TokenBuckets | null;
  /** The rate at which requests of an address may be refused before they are authenticated; `null` for no limit. */
  readonly failureLimit: TokenBuckets | null;
}

/** Size of the ID of a process among those that share a database. */
const holderBytes = 16;

/**
 * Starts the service over a store, which it closes at its end.
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startService(
  store: Store,
  settings: CheckedSettings,
  host: ServiceHost,
  extension?: ServerExtension,
): Promise<Service> {
  const { faults, rateLimit } = settings;
  const { log, end } = foldRepeats(settings.log ?? (() => {}));
  const newLimit = () => (rateLimit === undefined ? null : new TokenBuckets(rateLimit, host.steadyNow));
  const server = await startServer(
    {
      ...host,
      store,
      settings,
      log,
      unixSeconds: () => Math.floor(host.now() / 1000 + (faults?.skewSeconds ?? 0)),
      appLimit: newLimit(),
      failureLimit: newLimit(),
    },
    extension,
  );
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
