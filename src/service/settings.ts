// Options are checked before the service is loaded.
import { isIP } from 'node:net';
import { parseBaseUrl } from '../core/contract/base-url.js';
import { InvalidInputError, quoteName } from '../core/contract/errors.js';
import { defaultMaxBodyBytes, maxTimerMs } from '../core/contract/limits.js';
import {
  checkMembers,
  mustBe,
  mustBeCount,
  mustBeDuration,
  mustBeFunction,
  mustBePlainObject,
  mustBeRate,
  mustBeText,
  mustBeTexts,
  mustBeWholeNumber,
  type Shape,
} from '../core/contract/members.js';
import { type Platform, type PlatformFile, parsePlatform } from '../core/platform/platform.js';
import { compileRecipes, type Signers } from '../core/signing/app-signatures.js';
import { Secret } from '../core/signing/secret.js';
import { checkFaults, type FaultSettings } from './fault-settings.js';
import type { Log } from './log.js';
import type { StoreOptions } from './store/store.js';

/** Settings of a service. Everything has a default. */
export interface ServiceSettings {
  /**
   * The address to listen on.
   *
   * @default 127.0.0.1
   */
  readonly host?: string;
  /**
   * The port to listen on; 0 selects a free one.
   *
   * @default 0
   */
  readonly port?: number;
  /**
   * What the spec leaves open, as the content of a platform file. Its recipes are those of apps
   * without their own.
   *
   * @default that of docs/spec.md
   */
  readonly platform?: PlatformFile;
  /**
   * Maximum number of requests per second of each app, and of refused, unauthenticated requests per
   * second of each client address; further ones are answered with 42901.
   *
   * @default no limit
   */
  readonly rateLimit?: number;
  /**
   * Maximum size of a body, in bytes.
   *
   * @default 65536
   */
  readonly maxBodyBytes?: number;
  /**
   * Maximum time for a request to arrive, in milliseconds.
   *
   * @default 30000
   */
  readonly requestTimeoutMs?: number;
  /**
   * Faults to inject.
   *
   * @default none
   */
  readonly faults?: FaultSettings;
  /**
   * Maximum number of open connections; further ones are closed. One other machine that
   * `trustProxy` does not name has at most a tenth of them.
   *
   * @default 1000
   */
  readonly maxConnections?: number;
  /**
   * Time for which an idle connection is kept, in milliseconds: longer than a balancer keeps it.
   *
   * @default 5000
   */
  readonly keepAliveMs?: number;
  /**
   * Whether `GET /` shows the last requests, with secrets and personal data masked, to anyone.
   *
   * @default only if the service listens on a loopback address
   */
  readonly page?: boolean;
  /**
   * Time for which `close` keeps idle connections open, in milliseconds. Requests on them are
   * answered with `Connection: close`.
   *
   * @default 0
   */
  readonly drainMs?: number;
  /**
   * Time for which `close` keeps serving after `/readyz` says that it stops, in milliseconds, so
   * that load balancers learn of it.
   *
   * @default 0
   */
  readonly drainDelayMs?: number;
  /**
   * A port on `host` for `/livez`, `/readyz` and `/metrics`.
   *
   * @default none: the service answers `/metrics` on its own port, to this machine alone. The other
   * two are there in any case.
   */
  readonly adminPort?: number;
  /**
   * Time for which a line of the audit is kept, in days.
   *
   * @default 365
   */
  readonly auditDays?: number;
  /**
   * With one of them, `POST /codes` on `adminPort` issues codes; at least 16 characters each.
   *
   * @default none: nobody can
   */
  readonly adminTokens?: readonly Secret[];
  /**
   * The base URL at which clients reach the service through a proxy, for recipes that sign the URL
   * (§5).
   *
   * @default that of the request
   */
  readonly publicUrl?: string;
  /**
   * Addresses of proxies whose `X-Forwarded-For` is believed, as `10.0.0.0/8`.
   *
   * @default none
   */
  readonly trustProxy?: readonly string[];
  /**
   * The version of the program, for `/metrics`.
   *
   * @default ''
   */
  readonly version?: string;
  /**
   * Receives the events of the service: see `createLog`.
   *
   * @default none
   */
  readonly log?: Log;
}

/**
 * The clocks of a service.
 *
 * @example
 * const host: Partial<ServiceHost> = { now: () => 1_700_000_000_000 };
 * const service = await createService(host);
 */
export interface ServiceHost {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly steadyNow: () => number;
}

/**
 * Options of a service.
 *
 * @example
 * const serviceOptions: ServiceOptions = { port: 8787, database: 'users.db' };
 */
export interface ServiceOptions extends ServiceSettings, Partial<ServiceHost>, StoreOptions {}

/** Options of `openAdmin`. */
export interface AdminOptions extends StoreOptions, Partial<ServiceHost> {
  readonly database: string;
  /**
   * Who acts, for the audit.
   *
   * @default the user of the operating system
   */
  readonly actor?: string;
}

const mustBeBoolean = mustBe('true or false', (value) => typeof value === 'boolean');
const mustBePort = mustBeWholeNumber(0, 65_535);
const mustBeTime = mustBeWholeNumber(0, maxTimerMs);
const mustBeSecrets = mustBe(
  'an array of Secret',
  (value) => Array.isArray(value) && value.every((secret) => secret instanceof Secret),
);

/** The settings that have a number for a default. */
const defaults = {
  port: 0,
  maxBodyBytes: defaultMaxBodyBytes,
  requestTimeoutMs: 30_000,
  maxConnections: 1000,
  keepAliveMs: 5000,
  drainMs: 0,
  drainDelayMs: 0,
  auditDays: 365,
};

const storeMembers: Shape<Required<StoreOptions & ServiceHost>>['members'] = {
  database: mustBeText,
  masterKeys: mustBeSecrets,
  poolSize: mustBeCount,
  create: mustBeBoolean,
  upgrade: mustBeBoolean,
  now: mustBeFunction,
  steadyNow: mustBeFunction,
};

/** The options of a service. `checkSettings` checks what they say. */
export const serviceMembers: Shape<ServiceOptions>['members'] = {
  ...storeMembers,
  host: mustBeText,
  port: mustBePort,
  platform: mustBePlainObject,
  rateLimit: mustBeRate,
  maxBodyBytes: mustBeCount,
  requestTimeoutMs: mustBeDuration,
  faults: mustBePlainObject,
  maxConnections: mustBeCount,
  keepAliveMs: mustBeDuration,
  page: mustBeBoolean,
  drainMs: mustBeTime,
  drainDelayMs: mustBeTime,
  adminPort: mustBePort,
  auditDays: mustBeWholeNumber(1, 1_000_000),
  adminTokens: mustBeSecrets,
  publicUrl: mustBeText,
  trustProxy: mustBeTexts,
  version: mustBeText,
  log: mustBeFunction,
};

/** @throws InvalidInputError that names an option that is unknown or invalid */
export function checkOptions(options: ServiceOptions): void {
  checkMembers({ what: 'the options of the service', members: serviceMembers }, options);
}

/** @throws InvalidInputError that names an option that is unknown, invalid or missing */
export function checkAdminOptions(options: AdminOptions): void {
  const members = { ...storeMembers, actor: mustBeText };
  checkMembers<AdminOptions>(
    { what: 'the options of openAdmin', members, required: ['database'] },
    options,
  );
}

/** Settings that were checked, with the defaults of those that have a value for one. */
export type CheckedSettings = Omit<ServiceSettings, 'platform'> &
  Required<Pick<ServiceSettings, keyof typeof defaults | 'host' | 'version'>> & {
    readonly platform: Platform;
    /** The signers of apps without recipes of their own. */
    readonly signers: Signers;
  };

/** @throws InvalidInputError that names an invalid setting */
export function checkSettings(settings: ServiceSettings): CheckedSettings {
  const present = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  );
  const { host = '127.0.0.1' } = settings;
  // An IPv6 address may stand in brackets, as in a URL.
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const checked = {
    version: '',
    ...defaults,
    ...present,
    host: address,
    ...servedPlatform(settings),
  } as CheckedSettings;
  const { faults } = checked;
  if (faults !== undefined) checkFaults(faults);
  if (checked.publicUrl !== undefined) parseBaseUrl(checked.publicUrl, 'publicUrl');
  const invalid = checked.trustProxy?.find((range) => !isAddressRange(range));
  if (invalid === undefined) return checked;
  throw new InvalidInputError(`${quoteName(invalid)} is not an address or a range of addresses`, {
    hint: 'Write it as 10.0.0.7, 10.0.0.0/8 or fd00::/8.',
  });
}

/** @throws InvalidInputError for an invalid platform */
function servedPlatform(settings: ServiceSettings): Pick<CheckedSettings, 'platform' | 'signers'> {
  const platform = parsePlatform(settings.platform ?? {}, 'platform');
  return { platform, signers: compileRecipes(platform.signing) };
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix = '1', ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  const bits = version === 6 ? 128 : 32;
  // Not /0: whoever connects could then give any address.
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits;
}
