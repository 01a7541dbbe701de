// Answers that a test sets for requests.
import { endpoints, type OperationName } from '../core/contract/endpoints.js';
import { jsonContentType, refusalData } from '../core/contract/envelope.js';
import { InvalidInputError } from '../core/contract/errors.js';
import { maxTimerMs } from '../core/contract/limits.js';
import {
  checkMembers,
  mustBe,
  mustBeCount,
  mustBeHttpStatus,
  mustBePlainObject,
  mustBeText,
  type Shape,
} from '../core/contract/members.js';
import { platformRefusal } from '../core/contract/result-code-table.js';
import {
  defaultMsg,
  type ResultCode,
  resultCode,
  resultCodes,
} from '../core/contract/result-codes.js';
import type { Fault } from './faults.js';
import type { HttpAnswer } from './http/exchange.js';
import type { CheckedSettings } from './settings.js';

/**
 * How requests fail. Without anything: they are answered with 50001, and not carried out.
 *
 * @example
 * const failure: TestFailure = { operation: 'passback', code: 1001, retryAfter: 1 };
 * testService.failNext(2, failure);
 */
export interface TestFailure {
  /** @default each operation */
  readonly operation?: OperationName;
  /**
   * A result code: one of this project becomes that of the platform with the same meaning.
   *
   * @default 50001
   */
  readonly code?: number;
  /** @default the first three digits of a code of this project, otherwise 200 */
  readonly httpStatus?: number;
  /** @default that of the code */
  readonly msg?: string;
  /** `Retry-After` of the answer, in seconds. */
  readonly retryAfter?: number;
  /**
   * Close the connection instead of an answer: `before` the request is carried out, or `after` it.
   */
  readonly cut?: 'before' | 'after';
  /** Delay before anything else, in milliseconds. */
  readonly delayMs?: number;
}

/**
 * An answer of your own; an object as `body` is sent as JSON.
 *
 * @example
 * const answer: TestAnswer = { httpStatus: 502, body: '<title>Bad Gateway</title>' };
 * testService.stub(answer, { times: 1 });
 */
export interface TestAnswer {
  /** @default 200 */
  readonly httpStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | object;
}

/** Which requests a stub answers. */
export interface StubLimits {
  /** @default each operation */
  readonly operation?: OperationName;
  /** @default unlimited */
  readonly times?: number;
}

const operations: readonly unknown[] = endpoints.map(({ operation }) => operation);
const mustBeOperation = mustBe(operations.join(' or '), (value) => operations.includes(value));

/** Of a Map or a Buffer, JSON holds something else than what is in it. */
const mustBeBody = mustBe(
  'text, a plain object or an array',
  (value) => typeof value === 'string' || Array.isArray(value) || mustBePlainObject(value) === null,
);

const failureMembers: Shape<TestFailure> = {
  what: 'a failure of failNext',
  members: {
    operation: mustBeOperation,
    code: mustBe('a whole number', Number.isSafeInteger),
    httpStatus: mustBeHttpStatus,
    msg: mustBeText,
    retryAfter: mustBe(
      'a whole number of seconds from 0',
      (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    ),
    cut: mustBe('before or after', (value) => value === 'before' || value === 'after'),
    delayMs: mustBe(
      `a number of milliseconds from 0 to ${maxTimerMs}`,
      (value) => typeof value === 'number' && value >= 0 && value <= maxTimerMs,
    ),
  },
};

const limitMembers: Shape<StubLimits> = {
  what: 'the limits of a stub',
  members: {
    operation: mustBeOperation,
    times: (value) => (value === Number.POSITIVE_INFINITY ? null : mustBeCount(value)),
  },
};

const answerMembers: Shape<TestAnswer> = {
  what: 'the answer of a stub',
  members: { httpStatus: mustBeHttpStatus, headers: mustBePlainObject, body: mustBeBody },
  required: ['body'],
};

/** @internal @throws InvalidInputError that names what is invalid, unknown, or without effect */
export function checkFailure(failure: TestFailure): void {
  checkMembers(failureMembers, failure);
  const { operation, delayMs, cut, ...answer } = failure;
  const [unused] = Object.entries(answer).find(([, value]) => value !== undefined) ?? [];
  if (cut === undefined || unused === undefined) return;
  throw new InvalidInputError(
    `a failure of failNext: with cut there is no answer, and thus no ${unused}`,
  );
}

/** @internal @throws InvalidInputError that names what is invalid or unknown */
export function checkStub(answer: unknown, limits: StubLimits): void {
  if (typeof answer !== 'function') checkMembers(answerMembers, answer);
  checkMembers(limitMembers, limits);
}

function isOurs(code: number): code is ResultCode {
  return (resultCodes as readonly number[]).includes(code);
}

/** @internal The treatment of a request that fails so. */
export function failureOf(
  { delayMs, cut, ...failure }: TestFailure,
  { platform }: Pick<CheckedSettings, 'platform'>,
): Fault {
  if (cut !== undefined) return { delayMs, cut };
  const refusal = refusalOf(failure.code ?? resultCode.internal, platform);
  const { msg = refusal.msg, httpStatus = refusal.httpStatus, retryAfter } = failure;
  const answer: TestAnswer = {
    httpStatus,
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    body: { code: refusal.code, msg, data: refusalData[platform.refusal_data] },
  };
  return { delayMs, answer: httpAnswer(answer) };
}

/** A code of this project as the platform sends it; any other one as it is. */
function refusalOf(code: number, { result_codes, http_status }: CheckedSettings['platform']) {
  if (!isOurs(code)) return { code, msg: 'error', httpStatus: 200 };
  const refusal = platformRefusal(code, result_codes, http_status);
  return { ...refusal, msg: refusal.msg ?? defaultMsg(code) };
}

/**
 * A code in no table: such a refusal is not retried, so that no later answer hides it from the
 * test.
 */
const brokenStub = -1;

/**
 * @internal The answer of a stub. What its function throws, or returns instead of an answer, is in
 * the `msg` that the client receives: the test sees it where its call fails.
 */
export async function stubbed(
  answer: TestAnswer | (() => unknown),
  settings: Pick<CheckedSettings, 'platform'>,
): Promise<Fault> {
  if (typeof answer !== 'function') return { answer: httpAnswer(answer) };
  try {
    const computed = await answer();
    checkMembers(answerMembers, computed);
    return { answer: httpAnswer(computed as TestAnswer) };
  } catch (error) {
    return failureOf({ code: brokenStub, msg: `stub: ${error}` }, settings);
  }
}

function httpAnswer({ httpStatus = 200, headers = {}, body }: TestAnswer): HttpAnswer {
  // In lower case, one of the test replaces one that every answer has.
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const answer = { status: httpStatus, headers: Object.fromEntries(entries) };
  if (typeof body === 'string') return { ...answer, type: 'text/plain; charset=utf-8', body };
  return { ...answer, type: jsonContentType, body: JSON.stringify(body) };
}
