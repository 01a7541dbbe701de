import { endpoints } from './endpoints.js';
import { defaultClockWindowSeconds } from './limits.js';
import texts from './result-codes.json' with { type: 'json' };

/**
 * Result codes of the envelope, as the service of this project answers them. §7.1 defines 200; the
 * others are this project's, because the spec leaves them open: the HTTP status and two digits.
 * Other platforms have numbers of their own: a client decides by `means` of its error.
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

/** A code of the table. */
export type ResultCode = (typeof resultCode)[keyof typeof resultCode];

/** The name of a code of the table. */
export type ResultCodeName = keyof typeof resultCode;

/** Every code of the table, in ascending order. */
export const resultCodes: readonly ResultCode[] = Object.values(resultCode);

/** The values of `retry`. */
export const retryClasses = ['never', 'repeatable', 'always', 'later'] as const;

/** What a result code means, and what follows from it. */
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
   * Which requests may be retried unchanged, but signed anew: `always`, if they were turned away
   * unread; `later`, the same after a pause, which slows a run of many rows down; `repeatable`, if
   * it is unknown, and the operation may be carried out twice, as a passback may; `never`, if
   * something has to be fixed first.
   */
  readonly retry: (typeof retryClasses)[number];
  /** Whether it refuses one request, or all of the caller: that ends a run of many rows. */
  readonly refuses: 'request' | 'caller';
  /**
   * The parameter without which an operation is not answered with this code; `null`: no operation
   * is.
   *
   * @default undefined: every operation may be answered with it
   */
  readonly parameter?: string | null;
}

/** The result codes of a service. */
export type ResultCodeTable = ReadonlyMap<number, ResultCodeEntry>;

/** The HTTP status of a code: its first three digits. */
export function httpStatusOf(code: ResultCode): number {
  return Number(String(code).slice(0, 3));
}

/** The default `msg` of a code. */
export function defaultMsg(code: ResultCode): string {
  return texts[code].msg;
}

/**
 * Whether a request that was refused so may be sent again, if its operation is `repeatable` or not.
 */
export function mayRepeat(
  entry: Pick<ResultCodeEntry, 'retry'> | undefined,
  repeatable: boolean,
): boolean {
  switch (entry?.retry) {
    case 'always':
    case 'later':
      return true;
    case 'repeatable':
      return repeatable;
    default:
      return false;
  }
}

const names = new Map(
  Object.entries(resultCode).map(([name, code]) => [code, name as ResultCodeName]),
);

/** The name of a code. */
export function resultCodeName(code: ResultCode): ResultCodeName {
  return names.get(code) as ResultCodeName;
}

const methods = endpoints.map(({ operation, method }) => `${method} for a ${operation}`).join(', ');

/** The entry of a code of this project. */
export function resultCodeEntry(code: ResultCode): ResultCodeEntry {
  const { msg, meaning, hint } = texts[code];
  const fill = (text: string) =>
    text.replace('{seconds}', String(defaultClockWindowSeconds)).replace('{methods}', methods);
  return {
    ...usual,
    means: resultCodeName(code),
    msg,
    meaning: fill(meaning),
    hint: fill(hint),
    ...facts[code],
  };
}

/** What follows from most codes. */
const usual = { fix: 'caller', retry: 'never', refuses: 'request' } as const;

/** What follows from a code, where it is not what follows from most. */
const facts: Readonly<Partial<Record<ResultCode, Partial<ResultCodeEntry>>>> = {
  200: { fix: 'nobody' },
  40003: { parameter: 'user_info' },
  40004: { parameter: 'user_info' },
  40005: { parameter: 'primary_key' },
  40006: { parameter: 'primary_key' },
  40101: { fix: 'caller or operator', refuses: 'caller' },
  40102: { refuses: 'caller' },
  40103: { refuses: 'caller' },
  40104: { fix: 'caller or operator', refuses: 'caller' },
  40106: { parameter: 'code' },
  40301: { fix: 'caller or operator', refuses: 'caller' },
  40401: { parameter: 'union_id' },
  40402: { parameter: null, refuses: 'caller' },
  40501: { parameter: null },
  40801: { retry: 'always' },
  40901: { parameter: 'primary_key' },
  42901: { retry: 'later' },
  50001: { fix: 'operator', retry: 'repeatable' },
  50301: { fix: 'operator', retry: 'repeatable' },
};

/** The codes of this project (see `resultCode`). */
export const ownResultCodes: ResultCodeTable = new Map(
  resultCodes.map((code) => [code, resultCodeEntry(code)]),
);
