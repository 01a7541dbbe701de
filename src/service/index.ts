import { randomBytes as cryptoBytes } from 'node:crypto';
import { loadPart } from '../support/errors.js';
import { type AdminOperations, createAdmin } from './admin/admin.js';
import type { Service } from './service.js';
import { checkSettings, type ServiceHost, type ServiceSettings } from './settings.js';
import { openStore } from './store/store.js';

export { StartError, type StartFault, StoreUnavailableError } from '../database/errors.js';
export { MissingPackageError } from '../support/errors.js';
export type { AdminOperations } from './admin/admin.js';
export { NotFoundError } from './admin/admin-context.js';
export type { AppCredentials, ListedApp, NewApp } from './admin/apps.js';
export type { CodeKey, NewCode } from './admin/codes.js';
export { recipeWarnings } from './admin/recipe-warnings.js';
export type { UserKey } from './admin/users.js';
export type { FaultSettings } from './faults.js';
export { createLog, type Log, type LogEvent, type LogFormat, type LogOptions } from './log.js';
export type { Service } from './service.js';
export type { ServiceHost, ServiceSettings } from './settings.js';
export type { Code } from './store/codes.js';

/** How a service behaves, and where it keeps what it knows. */
export interface ServiceOptions extends ServiceSettings, Partial<ServiceHost>, StoreOptions {}

/** Where the store is. */
export interface StoreOptions {
  /** A SQLite file, which is made where there is none, `:memory:`, the default, or the URL of a PostgreSQL database. */
  readonly database?: string;
  /** With PostgreSQL: how many connections there are at the most; 10 unless given. */
  readonly poolSize?: number;
}

/** The admin's operations over a store that it opened. */
export interface Admin extends AdminOperations {
  /** Closes the store. */
  close(): Promise<void>;
}

function hostOf({
  now = Date.now,
  steadyNow = () => performance.now(),
  randomBytes = cryptoBytes,
}: Partial<ServiceHost>): ServiceHost {
  return { now, steadyNow, randomBytes };
}

/**
 * Starts the service of the spec, to test against: on a free port of this machine and in memory, unless the
 * options say otherwise. Throws a StartError where it cannot be started, and an InvalidInputError for an option
 * that makes no sense, a MissingPackageError where fastify or the package of the database is not installed.
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  checkSettings(options);
  // The admin does without the HTTP server: it should not wait for one to be loaded.
  const { startService } = await loadPart(() => import('./service.js'));
  const store = await openStore(options.database ?? ':memory:', options);
  try {
    return await startService(store, options, hostOf(options));
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What `openAdmin` takes. */
export interface AdminOptions extends StoreOptions, Partial<ServiceHost> {
  readonly database: string;
  /** Whether the database, or its tables, are made where there are none, as they are unless told otherwise. */
  readonly create?: boolean;
}

/** Opens the store of a service without HTTP, while the service runs or not. Throws a StartError, or a MissingPackageError. */
export async function openAdmin(options: AdminOptions): Promise<Admin> {
  const store = await openStore(options.database, options);
  return { ...createAdmin({ store, ...hostOf(options) }), close: () => store.close() };
}
