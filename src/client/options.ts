import type { Dispatcher } from 'undici';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import type { Signers } from '../signing/app-signatures.js';
import type { SigningRecipes } from '../signing/recipe.js';
import { Secret } from '../signing/secret.js';
import type { ClientHooks } from './hooks.js';
import type { PassbackInput, ReadInput } from './request.js';

/** Where a client sends its requests, as whom, and how patiently. */
export interface UserInfoClientOptions extends ClientHooks {
  /** Address of the test or the production deployment (§1): all of it that comes before `/api/v1/`. */
  readonly baseUrl: string | URL;
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly appSecret: string | Secret;
  /** How `app_sign` and `sign` are computed (§5.5, §5.6); the default recipes unless given. */
  readonly signing?: SigningRecipes | Signers;
  /** How long a whole call may take, further attempts included, in milliseconds. 10 seconds unless given. */
  readonly timeoutMs?: number;
  /** How long a connection may take to open, in milliseconds. 5 seconds unless given. */
  readonly connectTimeoutMs?: number;
  /** How often a request is sent at most. 3 unless given. */
  readonly attempts?: number;
  /** How many connections may be open at once; further requests wait for one of them. 128 unless given. */
  readonly connections?: number;
  /** Allows a base URL of plain http that leads to another machine. */
  readonly allowHttp?: boolean;
  /** PEM certificates of authorities to trust, beside those that Node trusts. */
  readonly extraCa?: string;
  /** Address of an http proxy, such as `http://user:password@proxy.example:3128`. This machine is reached without. */
  readonly proxy?: string;
  /**
   * A dispatcher of undici 7 or later, used in place of connections of the client's own, and left open by `close`.
   * `connections`, `connectTimeoutMs`, `extraCa` and `proxy` have no effect then.
   */
  readonly dispatcher?: Dispatcher;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: () => number;
  /** A new `random` of §5.4; from a cryptographic source unless given. */
  readonly random?: () => string;
}

/** What one call may change. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds, as in the client's options. */
  readonly timeoutMs?: number;
}

// What JavaScript callers give, checked: TypeScript has ruled out most of it.

/** Why a value is not what it should be, in words that follow its name; `null`: it is. */
export type Check = (value: unknown) => string | null;

/** What an object that callers give may hold. */
interface Shape<Given> {
  /** What it is, for messages. */
  readonly what: string;
  readonly members: Readonly<Record<keyof Given, Check>>;
  readonly required: readonly (keyof Given)[];
}

/** The longest that a timer of Node can wait. */
const maxMs = 2 ** 31 - 1;

const isText: Check = (value) => (typeof value === 'string' ? null : `is ${kindOf(value)}, not text`);
const isFilledText: Check = (value) => (value === '' ? 'is empty' : isText(value));
const isFunction: Check = (value) =>
  typeof value === 'function' ? null : `is ${kindOf(value)}, not a function`;

/** A whole number from 1. */
export const isCount: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 ? null : `is ${kindOf(value)}, not a whole number from 1`;

const isDuration: Check = (value) =>
  typeof value === 'number' && value >= 1 && value <= maxMs
    ? null
    : `is ${kindOf(value)}, not a number of milliseconds from 1 to ${maxMs}`;

/** How often a second. */
export const isRate: Check = (value) =>
  Number.isFinite(value) && Number(value) > 0 ? null : `is ${kindOf(value)}, not a number above 0`;

/** A signal of another realm or library is taken too. */
export const isSignal: Check = (value) =>
  hasMembers(value, { aborted: 'boolean', addEventListener: 'function', removeEventListener: 'function' })
    ? null
    : `is ${kindOf(value)}, not an AbortSignal`;

const isSecret: Check = (value) => {
  const text = value instanceof Secret ? value.reveal() : value;
  return text === '<secret>' ? 'is <secret>, which a Secret shows in place of itself' : isFilledText(text);
};

/**
 * An object that was not made by a class, and is no `arguments` object: what a class keeps elsewhere than in properties
 * would be lost, and what can be iterated over has its entries elsewhere.
 */
const isPlainObject: Check = (value) => {
  const prototype = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
  // Of any realm: the prototype of its plain objects has none of its own.
  const isPlain =
    prototype === null || (prototype !== undefined && Object.getPrototypeOf(prototype) === null);
  return isPlain && !(Symbol.iterator in (value as object))
    ? null
    : `is ${kindOf(value)}, not a plain object of keys and values`;
};

const clientOptions: Shape<UserInfoClientOptions> = {
  what: 'the options of UserInfoClient',
  members: {
    baseUrl: (value) => (hasMembers(value, { href: 'string', origin: 'string' }) ? null : isText(value)),
    tenantCode: isFilledText,
    channel: isFilledText,
    appKey: isFilledText,
    appSecret: isSecret,
    signing: (value) =>
      hasMembers(value, { app_sign: 'object', sign: 'object' })
        ? null
        : `is ${kindOf(value)}, not an object of app_sign and sign`,
    timeoutMs: isDuration,
    connectTimeoutMs: isDuration,
    attempts: isCount,
    connections: isCount,
    allowHttp: (value) => (typeof value === 'boolean' ? null : `is ${kindOf(value)}, not true or false`),
    extraCa: isText,
    proxy: isText,
    dispatcher: (value) =>
      hasMembers(value, { dispatch: 'function' }) ? null : `is ${kindOf(value)}, not a dispatcher of undici`,
    now: isFunction,
    random: isFunction,
    onRequest: isFunction,
    onResponse: isFunction,
    onNoAnswer: isFunction,
  },
  required: ['baseUrl', 'tenantCode', 'channel', 'appKey', 'appSecret'],
};

const callOptions: Shape<CallOptions> = {
  what: 'the options of a call',
  members: { signal: isSignal, timeoutMs: isDuration },
  required: [],
};

const readInput: Shape<ReadInput> = {
  what: 'the input of a read',
  members: {
    code: isText,
    infoNames: (value) =>
      Array.isArray(value) && Array.from(value).every((name) => typeof name === 'string')
        ? null
        : `is ${Array.isArray(value) ? 'an array with other things than text' : kindOf(value)}, not an array of texts`,
    scope: isText,
  },
  required: ['code'],
};

const passbackInput: Shape<PassbackInput> = {
  what: 'the input of a passback',
  members: { unionId: isText, primaryKey: isText, userInfo: isPlainObject },
  required: ['userInfo'],
};

/**
 * Checks the options of a client, or of what takes `more` options than that; `what` names them.
 *
 * @throws InvalidInputError that names the option at fault
 */
export function checkClientOptions(
  given: unknown,
  what = clientOptions.what,
  more: Readonly<Record<string, Check>> = {},
): void {
  const shape = { ...clientOptions, what, members: { ...clientOptions.members, ...more } };
  refuseUnknown(shape, checkShape(shape, given));
}

/** @throws InvalidInputError that names the option at fault */
export function checkCallOptions(given: unknown): void {
  refuseUnknown(callOptions, checkShape(callOptions, given));
}

/**
 * Checks what a read is given. A row of many may hold further members: `isRow`.
 *
 * @throws InvalidInputError that names the member at fault
 */
export function checkReadInput(given: unknown, isRow: boolean): void {
  const input = checkShape(readInput, given);
  if (!isRow) refuseUnknown(readInput, input);
}

/**
 * Checks what a passback is given. A row of many may hold further members: `isRow`.
 *
 * @throws InvalidInputError that names the member at fault
 */
export function checkPassbackInput(given: unknown, isRow: boolean): void {
  const input = checkShape(passbackInput, given);
  if (!isRow) refuseUnknown(passbackInput, input);
}

function checkShape<Given>({ what, members, required }: Shape<Given>, given: unknown): object {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidInputError(`${what}: ${kindOf(given)} was given, not an object`, {
      hint: `Give an object of ${Object.keys(members).join(', ')}.`,
    });
  }
  for (const name in members) {
    const value = (given as Record<string, unknown>)[name];
    const isMissing = value === undefined && required.includes(name);
    const fault = isMissing ? 'is missing' : value === undefined ? null : members[name](value);
    if (fault !== null) throw new InvalidInputError(`${what}: ${name} ${fault}`);
  }
  return given;
}

function refuseUnknown<Given>({ what, members }: Shape<Given>, given: object): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(members, name));
  if (unknown === undefined) return;
  throw new InvalidInputError(`${what}: ${quoteName(unknown)} is unknown`, {
    hint: `Known are ${Object.keys(members).join(', ')}.`,
  });
}

function hasMembers(value: unknown, types: Readonly<Record<string, string>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(types).every(([name, type]) => {
    const member = (value as Record<string, unknown>)[name];
    return typeof member === type && member !== null;
  });
}

/** What a value is, in words that give nothing of it away but a number. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return 'text';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const { name } = value.constructor ?? {};
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? `an instance of ${quoteName(name).slice(1, -1)}`
    : 'an object';
}
