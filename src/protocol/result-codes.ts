import { endpoints } from './endpoints.js';
import { defaultClockWindowSeconds } from './limits.js';

/**
 * Result codes of the envelope, as the service of this project answers them. §7.1 defines 200; the others are this
 * project's, because the spec leaves them open: the HTTP status and two digits. Other platforms have numbers of their
 * own: a client decides by `means` of its error.
 *
 * @example
 * testService.failNext(1, { code: resultCode.noSuchUser });
 */
export const resultCode = {
  ok: 200,
  missingParameter: 40001,
  malformedParameter: 40002,
  reservedKey: 40003,
  userInfoNotFlat: 40004,
  userNotNamed: 40005,
  primaryKeyNotInUserInfo: 40006,
  unknownAppKey: 40101,
  wrongAppSign: 40102,
  wrongSign: 40103,
  timestampOutsideWindow: 40104,
  randomReplayed: 40105,
  codeNotValid: 40106,
  appNotAllowed: 40301,
  noSuchUser: 40401,
  noSuchPath: 40402,
  wrongMethod: 40501,
  tooSlow: 40801,
  ambiguousPrimaryKey: 40901,
  tooLarge: 41301,
  tooManyRequests: 42901,
  internal: 50001,
  storeUnavailable: 50301,
} as const;

/**
 * A code of the table.
 *
 * @example
 * const mine: ResultCode = 40401;
 */
export type ResultCode = (typeof resultCode)[keyof typeof resultCode];

/**
 * The name of a code of the table.
 *
 * @example
 * const means: ResultCodeName = 'tooManyRequests';
 */
export type ResultCodeName = keyof typeof resultCode;

/** Every code of the table, in ascending order. */
export const resultCodes: readonly ResultCode[] = Object.values(resultCode);

/** The values of `retry`. */
export const retryClasses = ['never', 'repeatable', 'always', 'later'] as const;

/**
 * What a result code means, and what follows from it.
 *
 * @example
 * const retry: ResultCodeEntry['retry'] = 'repeatable';
 */
export interface ResultCodeEntry {
  /** The code of this project with the same meaning. */
  readonly means?: ResultCodeName | undefined;
  /** `msg` of the envelope, unless the service has a more specific one. */
  readonly msg: string;
  /** The event, in one sentence. */
  readonly meaning: string;
  /** Who can fix it. */
  readonly fix: 'nobody' | 'caller' | 'operator' | 'caller or operator';
  /** The next step of the caller. */
  readonly hint: string;
  /**
   * Which requests may be retried unchanged, but signed anew: `always`, if they were turned away unread; `later`, the
   * same after a pause, which slows a run of many rows down; `repeatable`, if it is unknown, and the operation may be
   * carried out twice, as a passback may; `never`, if something has to be fixed first.
   */
  readonly retry: (typeof retryClasses)[number];
  /** Whether it refuses one request, or all of the caller: that ends a run of many rows. */
  readonly refuses: 'request' | 'caller';
  /** The parameter without which an operation is not answered with it; `null`: no operation is. Default: each is. */
  readonly parameter?: string | null;
}

/** The result codes of a service. */
export type ResultCodeTable = ReadonlyMap<number, ResultCodeEntry>;

/** The HTTP status of a code: its first three digits. */
export function httpStatusOf(code: ResultCode): number {
  return Number(String(code).slice(0, 3));
}

/** The default `msg` of a code. */
export function messageOf(code: ResultCode): string {
  return entries[code].msg;
}

/** Whether an operation with these parameters can be answered with a code of this project. */
export function canAnswer(
  { parameter }: ResultCodeEntry,
  parameters: readonly { readonly name: string }[],
): boolean {
  return parameter === undefined || parameters.some(({ name }) => name === parameter);
}

/** Whether a request that was refused so may be sent again, if its operation is `repeatable` or not. */
export function mayRepeat(entry: Pick<ResultCodeEntry, 'retry'> | undefined, repeatable: boolean): boolean {
  const retry = entry?.retry ?? 'never';
  return retry === 'repeatable' ? repeatable : retry !== 'never';
}

const names = new Map(Object.entries(resultCode).map(([name, code]) => [code, name as ResultCodeName]));

/** The name of a code. */
export const nameOf = (code: ResultCode) => names.get(code) as ResultCodeName;

/** The entry of a code of this project. */
export function entryOf(code: ResultCode): ResultCodeEntry {
  return { ...defaults, means: nameOf(code), ...entries[code] };
}

const defaults = { fix: 'caller', retry: 'never', refuses: 'request' } as const;

type Entry = Omit<ResultCodeEntry, keyof typeof defaults> & Partial<ResultCodeEntry>;

const entries: Readonly<Record<ResultCode, Entry>> = {
  200: {
    msg: 'ok',
    meaning: 'The request was carried out.',
    hint: 'Nothing to do.',
    fix: 'nobody',
  },
  40001: {
    msg: 'missing parameter',
    meaning: 'A required parameter was not sent, or is empty.',
    hint: 'Send the parameter that msg names.',
  },
  40002: {
    msg: 'malformed parameter',
    meaning:
      'A parameter is invalid: its length, its form, its place, or text that cannot be stored; or it is sent twice, or unknown to the operation.',
    hint: 'Correct the parameter that msg names.',
  },
  40003: {
    msg: 'reserved key in user_info',
    meaning: 'user_info holds a key that must not be passed back.',
    hint: 'Leave union_id and channel out of user_info.',
    parameter: 'user_info',
  },
  40004: {
    msg: 'user_info is not a flat JSON object',
    meaning: 'user_info is not JSON, is empty, or holds an object or an array.',
    hint: 'Send one level of key/value pairs: text, numbers, true, false or null.',
    parameter: 'user_info',
  },
  40005: {
    msg: 'neither union_id nor primary_key',
    meaning: 'Nothing in the request says which user it is for.',
    hint: 'Name the user by one of the two.',
    parameter: 'primary_key',
  },
  40006: {
    msg: 'primary_key is not in user_info',
    meaning:
      'user_info has no value for the key that should identify the user, or one that is empty, true or false.',
    hint: 'Add the key that primary_key names to user_info, or name the user by union_id.',
    parameter: 'primary_key',
  },
  40101: {
    msg: 'unknown app_key',
    meaning: 'This deployment has no application with that key.',
    hint: 'Check the app key, and that it belongs to this deployment (test or production).',
    fix: 'caller or operator',
    refuses: 'caller',
  },
  40102: {
    msg: 'app_sign is wrong',
    meaning: 'The service computes another app_sign: with another secret, or by another recipe.',
    hint: 'Check the app secret and the app_sign recipe.',
    refuses: 'caller',
  },
  40103: {
    msg: 'sign is wrong',
    meaning: 'The service computes a different sign for these parameters, though app_sign was right.',
    hint: 'Check the sign recipe; app_sign was right, and so is the secret.',
    refuses: 'caller',
  },
  40104: {
    msg: 'timestamp is outside the allowed window',
    meaning: `The clocks of caller and service differ by more than is allowed: ${defaultClockWindowSeconds} s by default.`,
    hint: 'Set the clock of this machine; compare it with the Date header of the answer.',
    fix: 'caller or operator',
    refuses: 'caller',
  },
  40105: {
    msg: 'random was used before',
    meaning: 'A request with the same app_key and random came before: this one is a copy of it.',
    hint: 'Sign every request anew: a pair of app_key and random is accepted once.',
  },
  40106: {
    msg: 'code is unknown, expired or used',
    meaning: 'Application and signatures were accepted; the authorization code was not.',
    hint: 'Have a new code issued to the user: most codes work once and for a few minutes. A code is not a user ID.',
    parameter: 'code',
  },
  40301: {
    msg: 'the app is not allowed for this tenant or channel',
    meaning: 'The application exists, but for another tenant or channel.',
    hint: 'Check the tenant code and the channel.',
    fix: 'caller or operator',
    refuses: 'caller',
  },
  40401: {
    msg: 'no such user',
    meaning: 'The tenant has no user with that union_id, or with that value of the primary key.',
    hint: 'Check union_id or the primary key: no user is created.',
    parameter: 'union_id',
  },
  40402: {
    msg: 'no such path',
    meaning: 'The address is not that of an operation.',
    hint: 'Check the base URL: the operations live under /api/v1/server/user/.',
    parameter: null,
    refuses: 'caller',
  },
  40501: {
    msg: 'wrong method',
    meaning: 'The operation at this address has another method.',
    hint: `Use its method: ${endpoints.map(({ operation, method }) => `${method} for a ${operation}`).join(', ')}.`,
    parameter: null,
  },
  40801: {
    msg: 'the request took too long',
    meaning: 'The request did not arrive completely in time; it was not processed.',
    hint: 'Try again, and send the request without a pause.',
    retry: 'always',
  },
  40901: {
    msg: 'the primary key matches several users',
    meaning: 'More than one user of the tenant has that value; nothing was written.',
    hint: 'Name the user by union_id, or by a key that only one user has.',
    parameter: 'primary_key',
  },
  41301: {
    msg: 'the request is too large',
    meaning:
      "The body, the address with its parameters, or the user's record with what was passed back, is larger than the service accepts.",
    hint: 'Send less: fewer or shorter values.',
  },
  42901: {
    msg: 'too many requests',
    meaning: 'More requests came in a second than the service allows; this one was not carried out.',
    hint: 'Wait as Retry-After says, then try again.',
    retry: 'later',
  },
  50001: {
    msg: 'internal error',
    meaning: 'The service failed; whether it acted on the request is not known.',
    hint: "A fault of the service: its operator's log says more.",
    fix: 'operator',
    retry: 'repeatable',
  },
  50301: {
    msg: 'the store is unavailable',
    meaning: 'The database of the service is locked, full or down.',
    hint: 'Try again in a moment.',
    fix: 'operator',
    retry: 'repeatable',
  },
};

/** The codes of this project (see `resultCode`). */
export const ownResultCodes: ResultCodeTable = new Map(resultCodes.map((code) => [code, entryOf(code)]));
