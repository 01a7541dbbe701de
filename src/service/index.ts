/**
 * The service of the spec, and its test double.
 *
 * @module userinfo-exchange/service
 */

import { InvalidInputError } from '../core/contract/errors.js';
import { checkMembers, mustBeFunction, type Shape } from '../core/contract/members.js';
import { defaultPlatform } from '../core/platform/platform.js';
import { type AdminOperations, createAdmin } from './administration/admin.js';
import { systemUser } from './administration/admin-context.js';
import type { ServerExtension } from './http/server.js';
import type { Service } from './service.js';
import {
  type AdminOptions,
  checkAdminOptions,
  checkOptions,
  checkSettings,
  type ServiceHost,
  type ServiceOptions,
} from './settings.js';
import { openStore } from './store/store.js';
import type { TestService, TestServiceOptions } from './test-service.js';

export {
  type ResultCode,
  type ResultCodeEntry,
  resultCode,
} from '../core/contract/result-codes.js';
export type { PlatformFile } from '../core/platform/platform.js';
export type { AdminOperations } from './administration/admin.js';
export { NotFoundError } from './administration/admin-context.js';
export type { AppCredentials, ListedApp, NewApp } from './administration/apps.js';
export type { CodeKey, NewCode } from './administration/codes.js';
export type { UserKey } from './administration/users.js';
export { StartError, type StartFault, StoreUnavailableError } from './database/errors.js';
export type { FaultSettings } from './fault-settings.js';
export {
  createLog,
  type Log,
  type LogEvent,
  type LogFormat,
  type LogLevel,
  type LogOptions,
} from './log.js';
export type { Service } from './service.js';
export type { AdminOptions, ServiceHost, ServiceOptions, ServiceSettings } from './settings.js';
export type { AuditFilter, AuditLine, NamedUser } from './store/audit.js';
export type { Code } from './store/codes.js';
export type { StoreOptions } from './store/store.js';
export type { DeletedRows } from './store/users.js';
export type { StubLimits, TestAnswer, TestFailure } from './test-answers.js';
export type {
  TestApp,
  TestRequest,
  TestService,
  TestServiceOptions,
  TestUser,
} from './test-service.js';

/** The admin operations on a store. */
export interface Admin extends AdminOperations {
  /** Closes the store. */
  close(): Promise<void>;
}

function hostOf({
  now = Date.now,
  steadyNow = () => performance.now(),
}: Partial<ServiceHost>): ServiceHost {
  return { now, steadyNow };
}

/**
 * Starts the service of the spec, to test against; by default on a free port of this machine, in
 * memory.
 *
 * @throws StartError if it cannot be started
 * @throws InvalidInputError for an invalid option
 * @example
 * await using service = await createService();
 * const app = await service.admin.createApp({ tenantCode: 'acme', channel: 'web' });
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  checkOptions(options);
  return start(options);
}

async function start(options: ServiceOptions, extension?: ServerExtension): Promise<Service> {
  const settings = checkSettings(options);
  // The admin needs no HTTP server: it does not load one.
  const { startService } = await import('./service.js');
  const store = await openStore(options.database ?? ':memory:', options);
  try {
    return await startService(store, settings, hostOf(options), extension);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Starts the service of the spec as a test double: with one app, whose `clientOptions` a
 * UserInfoClient takes, and with failures, answers and a clock that a test decides on.
 *
 * @throws StartError, InvalidInputError as `createService` does
 * @example
 * const users = [{ union_id: 'u1', basic_info: { mobile: '13800001111' } }];
 * const service = await createTestService({ users });
 * const client = new UserInfoClient(service.clientOptions);
 * service.failNext(2, { operation: 'passback', code: 50301 });
 * await client.passback({ unionId: 'u1', userInfo: { acme_level: 'gold' } });
 * service.requests.length; // 3
 */
export async function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { startTestService } = await import('./test-service.js');
  return startTestService(options, start);
}

/**
 * The hooks of a test runner: those of vitest and jest, or `beforeEach` and `after` of node:test.
 */
export interface TestHooks {
  beforeEach(prepare: () => Promise<void>): void;
  afterAll?(end: () => Promise<void>): void;
  after?(end: () => Promise<void>): void;
}

const hookMembers: Shape<TestHooks> = {
  what: 'the hooks of a test runner',
  members: { beforeEach: mustBeFunction, afterAll: mustBeFunction, after: mustBeFunction },
  required: ['beforeEach'],
};

/**
 * The same for all tests of a file: started before the first one, reset before each, closed after
 * the last one. Use what it returns inside of tests.
 *
 * @example
 * import { afterAll, beforeEach } from 'vitest';
 * import { useTestService } from 'userinfo-exchange/service';
 * const service = useTestService({ beforeEach, afterAll });
 */
export function useTestService(hooks: TestHooks, options: TestServiceOptions = {}): TestService {
  checkMembers(hookMembers, hooks, true);
  let service: TestService | undefined;
  hooks.beforeEach(async () => {
    if (service === undefined) service = await createTestService(options);
    else await service.reset();
  });
  const end = hooks.afterAll ?? hooks.after;
  end?.(async () => service?.close());
  const started = (): TestService => {
    if (service !== undefined) return service;
    throw new InvalidInputError('the test service is not started yet: use it inside of a test');
  };
  return new Proxy({} as TestService, {
    get: (_, name) => Reflect.get(started(), name),
    set: (_, name, value) => Reflect.set(started(), name, value),
  });
}

/**
 * Opens the store of a service without HTTP, whether the service is running or not.
 *
 * @throws StartError if the database cannot be used
 * @throws InvalidInputError for an invalid option
 * @example
 * const admin = await openAdmin({ database: 'users.db' });
 * await admin.createApp({ tenantCode: 'acme', channel: 'web' });
 * await admin.close();
 */
export async function openAdmin(options: AdminOptions): Promise<Admin> {
  checkAdminOptions(options);
  const store = await openStore(options.database, options);
  const { actor = systemUser() } = options;
  const admin = createAdmin({ store, actor, platform: defaultPlatform, ...hostOf(options) });
  return { ...admin, close: () => store.close() };
}
