import type { Dispatcher } from 'undici';
import { InvalidInputError } from '../protocol/errors.js';
import { isObject, kindOf } from '../protocol/fields.js';
import type { PlatformResultCodes } from '../protocol/result-code-table.js';
import { quoteName, textFault } from '../protocol/unsafe-text.js';
import type { UserInfo } from '../protocol/user-info.js';
import type { Signers } from '../signing/app-signatures.js';
import type { SigningRecipes } from '../signing/recipe.js';
import { Secret, secretLabel } from '../signing/secret.js';
import type { ClientHooks } from './hooks.js';
import type { ReadInput } from './request.js';

/**
 * Options of a client: deployment, credentials, timeouts.
 *
 * @example
 * const options: UserInfoClientOptions = {
 *   baseUrl: 'https://users.example.com',
 *   tenantCode: 'acme',
 *   channel: 'web',
 *   appKey: 'app-1',
 *   appSecret: async () => (await secrets.get('app-secret')).value,
 * };
 */
export interface UserInfoClientOptions extends ClientHooks {
  /** Base URL of the test or the production deployment (§1): everything before `/api/v1/`. */
  readonly baseUrl: string | URL;
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  /** The app secret, or a function that returns it, for each attempt anew: a secret that is rotated. */
  readonly appSecret: string | Secret | SecretProvider;
  /** How `app_sign` and `sign` are computed (§5.5, §5.6). Default: the default recipes. */
  readonly signing?: SigningRecipes | Signers;
  /** Maximum duration of a call with all its attempts, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Maximum time to open a connection, in milliseconds. Default: 5 seconds. */
  readonly connectTimeoutMs?: number;
  /** Maximum number of attempts. Default: 3. */
  readonly attempts?: number;
  /** Maximum number of open connections; further requests wait for one. Default: 128. */
  readonly connections?: number;
  /** Whether plain http to another machine is allowed. */
  readonly allowHttp?: boolean;
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly extraCa?: string;
  /**
   * Address of an http proxy, such as `http://user:password@proxy.example:3128`. Loopback addresses are reached
   * directly.
   */
  readonly proxy?: string;
  /**
   * A dispatcher of undici 7 or later to use instead of the client's own connections; `close` leaves it open.
   * `connections`, `connectTimeoutMs`, `extraCa` and `proxy` then have no effect.
   */
  readonly dispatcher?: Dispatcher;
  /**
   * The result codes of the platform (§7.2), in place of those of this project: retries, throttling, hints and
   * `error.means` depend on them.
   */
  readonly resultCodes?: PlatformResultCodes;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /** Returns a new `random` (§5.4). Default: from a cryptographic source. */
  readonly random?: () => string;
}

/**
 * Returns the current app secret. It is called for each attempt.
 *
 * @example
 * const appSecret: SecretProvider = async () => (await vault.read('app-secret')).value;
 */
export type SecretProvider = () => string | Secret | Promise<string | Secret>;

/**
 * The options of a client that `withOptions` can replace: all but those of its connections.
 *
 * @example
 * const forJobs: DerivedOptions = { timeoutMs: 60_000, attempts: 5 };
 * const patient = client.withOptions(forJobs);
 */
export type DerivedOptions = Partial<
  Omit<
    UserInfoClientOptions,
    'baseUrl' | 'allowHttp' | 'connectTimeoutMs' | 'connections' | 'extraCa' | 'proxy' | 'dispatcher'
  >
>;

/**
 * Options of one call.
 *
 * @example
 * const options: CallOptions = { timeoutMs: 2_000, attempts: 1, context: { job: 7 } };
 * await client.read({ code }, options);
 */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Maximum number of attempts. Default: that of the client. */
  readonly attempts?: number;
  /** Any value, such as the ID of a request of your own: hooks and traces of this call receive it. */
  readonly context?: unknown;
}

// Checks of arguments, for callers without TypeScript.

/** Returns why a value is invalid, in words that follow its name, or `null`. */
export type Check = (value: unknown) => string | null;

/** The members that an object of a caller may have. */
export interface Shape<Given = Readonly<Record<string, unknown>>> {
  /** Name of the object in messages. */
  readonly what: string;
  readonly members: Readonly<Record<keyof Given, Check>>;
  readonly required: readonly (keyof Given)[];
}

/** The maximum delay of a timer in Node. */
const maxMs = 2 ** 31 - 1;

function isA(wanted: string, isRight: (value: unknown) => boolean): Check {
  return (value) => (isRight(value) ? null : `is ${kindOf(value)}, not ${wanted}`);
}

const isText = isA('text', (value) => typeof value === 'string');
const isFilledText: Check = (value) => (value === '' ? 'is empty' : isText(value));
const isParameter: Check = (value) => isFilledText(value) ?? textFault(String(value));
const isFunction = isA('a function', (value) => typeof value === 'function');

export const isCount = isA(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
);

const isDuration = isA(
  `a number of milliseconds from 1 to ${maxMs}`,
  (value) => typeof value === 'number' && value >= 1 && value <= maxMs,
);

/** A number per second. */
export const isRate = isA('a number above 0', (value) => Number.isFinite(value) && Number(value) > 0);

/** Accepts the signals of other realms and libraries. */
export const isSignal = isA('an AbortSignal', (value) =>
  hasMembers(value, { aborted: 'boolean', addEventListener: 'function', removeEventListener: 'function' }),
);

export const isSecret: Check = (value) => {
  if (typeof value === 'function') return null;
  const text = value instanceof Secret ? value.reveal() : value;
  return text === secretLabel ? 'is <secret>, the placeholder that a Secret prints' : isFilledText(text);
};

/**
 * Refuses instances of classes, and iterable objects such as `arguments`: content outside of their named properties
 * would be lost.
 */
const isPlainObject = isA('a plain object of keys and values', (value) => {
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) return false;
  const prototype = Object.getPrototypeOf(value);
  // Works for any realm: the prototype of its plain objects has no prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
});

export const clientOptions: Shape<UserInfoClientOptions> = {
  what: 'the options of UserInfoClient',
  members: {
    baseUrl: (value) => (hasMembers(value, { href: 'string', origin: 'string' }) ? null : isText(value)),
    tenantCode: isParameter,
    channel: isParameter,
    appKey: isParameter,
    appSecret: isSecret,
    signing: isA('an object of app_sign and sign', (value) =>
      hasMembers(value, { app_sign: 'object', sign: 'object' }),
    ),
    resultCodes: () => null, // parseResultCodes checks them
    timeoutMs: isDuration,
    connectTimeoutMs: isDuration,
    attempts: isCount,
    connections: isCount,
    allowHttp: isA('true or false', (value) => typeof value === 'boolean'),
    extraCa: isText,
    proxy: isText,
    dispatcher: isA('a dispatcher of undici', (value) => hasMembers(value, { dispatch: 'function' })),
    now: isFunction,
    random: isFunction,
    onRequest: isFunction,
    onResponse: isFunction,
    onNoAnswer: isFunction,
  },
  required: ['baseUrl', 'tenantCode', 'channel', 'appKey', 'appSecret'],
};

const { baseUrl, allowHttp, connectTimeoutMs, connections, extraCa, proxy, dispatcher, ...derivable } =
  clientOptions.members;

export const derivedOptions: Shape<DerivedOptions> = {
  what: 'the options of withOptions',
  members: derivable,
  required: [],
};

export const callOptions: Shape<CallOptions> = {
  what: 'the options of a call',
  members: { signal: isSignal, timeoutMs: isDuration, attempts: isCount, context: () => null },
  required: [],
};

export const readInput: Shape<ReadInput> = {
  what: 'the input of a read',
  members: {
    code: isText,
    infoNames: (value) =>
      Array.isArray(value) && Array.from(value).every((name) => typeof name === 'string')
        ? null
        : `is ${Array.isArray(value) ? 'an array with values other than text' : kindOf(value)}, not an array of texts`,
    scope: isText,
  },
  required: ['code'],
};

export const passbackInput: Shape<{ unionId: string; primaryKey: string; userInfo: UserInfo }> = {
  what: 'the input of a passback',
  members: { unionId: isText, primaryKey: isText, userInfo: isPlainObject },
  required: ['userInfo'],
};

/**
 * Checks an object of a caller. A row of a bulk run may have further members (`isRow`).
 *
 * @throws InvalidInputError that names the invalid, missing or unknown member
 */
export function checkMembers<Given>(shape: Shape<Given>, given: unknown, isRow = false): void {
  const { what, members, required } = shape;
  if (!isObject(given)) {
    throw new InvalidInputError(`${what}: ${kindOf(given)} was given, not an object`, {
      hint: `Pass an object with ${Object.keys(members).join(', ')}.`,
    });
  }
  for (const name in members) {
    const value = given[name];
    const isMissing = value === undefined && required.includes(name);
    const fault = isMissing ? 'is missing' : value === undefined ? null : members[name](value);
    if (fault !== null) throw new InvalidInputError(`${what}: ${name} ${fault}`);
  }
  const unknown = isRow ? undefined : Object.keys(given).find((name) => !Object.hasOwn(members, name));
  if (unknown === undefined) return;
  throw new InvalidInputError(`${what}: ${quoteName(unknown)} is unknown`, {
    hint: `Known: ${Object.keys(members).join(', ')}.`,
  });
}

function hasMembers(value: unknown, types: Readonly<Record<string, string>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(types).every(([name, type]) => {
    const member = (value as Record<string, unknown>)[name];
    return typeof member === type && member !== null;
  });
}
