import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../core/platform/platform.js';
import { type AdminOperations, createAdmin } from './administration/admin.js';
import { answerCodes } from './administration/post-codes.js';
import { type ServerExtension, startServer } from './http/server.js';
import { limitRate } from './http/token-bucket.js';
import { foldRepeats, logFault } from './log.js';
import { countEvents, observeStore, ownMetrics } from './metrics.js';
import { monitoringOf, startMonitoring } from './monitoring.js';
import type { CheckedSettings, ServiceHost } from './settings.js';
import type { Store } from './store/store.js';
import { StoreProbe } from './store/store-probe.js';

/** A running service. */
export interface Service extends AsyncDisposable {
  /** Its base URL. */
  readonly url: string;
  /** Operations on its apps, users and codes. */
  readonly admin: AdminOperations;
  /**
   * Stops accepting connections, answers the requests in flight and further ones on open
   * connections, then closes the store. A request that is incomplete or unanswered 5 s after
   * `drainMs` is cut. A second call ends `drainDelayMs`, and changes nothing else.
   */
  close(): Promise<void>;
  /** Removes all apps, users and codes. */
  reset(): Promise<void>;
}

const secondsOfDay = 86_400;

/** By how much clocks may differ in either direction, in seconds; infinite without a limit. */
function narrowestWindow({ clock_window_seconds, clock_ahead_seconds }: Platform): number {
  const windows = [clock_window_seconds, clock_ahead_seconds];
  return Math.min(...windows.filter((seconds) => typeof seconds === 'number'));
}

/**
 * @internal Starts the service over a store, which it closes at its end.
 *
 * @throws StartError if it cannot listen on the address
 */
export async function startService(
  store: Store,
  settings: CheckedSettings,
  host: ServiceHost,
  extension?: ServerExtension,
): Promise<Service> {
  const { faults, rateLimit, adminPort, adminTokens = [], version } = settings;
  const { log, end } = foldRepeats(countEvents(settings.log ?? (() => {}), version));
  const { platform } = settings;
  const newLimit = () => {
    if (rateLimit === undefined) return () => 0;
    return limitRate(rateLimit, host.steadyNow);
  };
  const unixSeconds = () => Math.floor(host.now() / 1000 + (faults?.skewSeconds ?? 0));
  const probe = new StoreProbe(store, {
    log,
    now: host.steadyNow,
    unixSeconds,
    windowSeconds: narrowestWindow(platform),
  });
  let isStopping = false;
  const isReady = async () => !isStopping && (await probe.isWritable()) && probe.isInTime();
  const monitoring = monitoringOf(isReady, () => {
    // For the next scrape: this one does not wait for a database that is away.
    void probe.isWritable();
    return ownMetrics();
  });
  const adminOf = (actor: string) => createAdmin({ store, actor, platform, ...host });
  const ofAdmin = new Map(monitoring);
  if (adminTokens.length > 0)
    ofAdmin.set('/codes', answerCodes(adminTokens, settings.host, adminOf('POST /codes'), log));
  const adminServer =
    adminPort === undefined ? null : await startMonitoring(settings, adminPort, ofAdmin, log);
  const context = {
    ...host,
    store,
    settings,
    log,
    unixSeconds,
    appLimit: newLimit(),
    failureLimit: newLimit(),
    isWritable: () => probe.isWritable(),
  };
  const server = await startServer(context, monitoring, extension).catch((error) => {
    adminServer?.close();
    throw error;
  });
  const unobserve = observeStore(store);
  const auditSeconds = settings.auditDays * secondsOfDay;
  store.startPurge(auditSeconds, (error) => logFault(log, error));
  if (faults !== undefined) log({ event: 'faults', ...faults });
  if (adminServer !== null) log({ event: 'monitoring', url: adminServer.url });
  log({ event: 'listening', url: server.url });

  const close = closeOnce(async (hurried) => {
    isStopping = true;
    await wait(settings.drainDelayMs, undefined, { signal: hurried }).catch(() => {});
    await server.close();
    adminServer?.close();
    unobserve();
    await store.close();
    end();
    log({ event: 'stopped' });
  });
  return {
    url: server.url,
    admin: adminOf('the service'),
    close,
    reset: () => store.reset(),
    [Symbol.asyncDispose]: close,
  };
}

/** Closes by `close`, once; a further call of what this returns aborts the signal of the first. */
function closeOnce(close: (hurried: AbortSignal) => Promise<void>): () => Promise<void> {
  const hurry = new AbortController();
  let closed: Promise<void> | null = null;
  return () => {
    if (closed !== null) hurry.abort();
    closed ??= close(hurry.signal);
    return closed;
  };
}
