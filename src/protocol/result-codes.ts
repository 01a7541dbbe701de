import { type ResultCodeText, resultCodeTexts } from './result-code-texts.js';

/**
 * Result codes of the envelope. §7.1 gives 200; the others are this project's (design.md, "The gaps of the
 * spec"): five digits, the HTTP status and a serial.
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

export type ResultCode = (typeof resultCode)[keyof typeof resultCode];

/** Every code of the table, in ascending order. */
export const resultCodes: readonly ResultCode[] = Object.values(resultCode);

/** What is known of a code of the table; `undefined` for a code that is not in it. */
export function describeResultCode(code: number): ResultCodeText | undefined {
  return Object.hasOwn(resultCodeTexts, code) ? resultCodeTexts[code as ResultCode] : undefined;
}

/** The HTTP status that goes with a code: its first three digits. */
export function httpStatusOf(code: ResultCode): number {
  return Number(String(code).slice(0, 3));
}

/** What the table says of a code, as `msg` of an envelope. */
export function messageOf(code: ResultCode): string {
  return resultCodeTexts[code].msg;
}
