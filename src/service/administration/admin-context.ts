import { userInfo } from 'node:os';
import {
  InvalidInputError,
  quoteName,
  UserInfoError,
  type UserInfoErrorOptions,
} from '../../core/contract/errors.js';
import { maxSeconds } from '../../core/contract/limits.js';
import type { ResultCode } from '../../core/contract/result-codes.js';
import { textFault } from '../../core/contract/unsafe-text.js';
import type { Platform } from '../../core/platform/platform.js';
import type { NewAuditLine } from '../store/audit.js';
import type { Records } from '../store/operations.js';
import type { Store } from '../store/store.js';

/** The dependencies of the admin operations. */
export interface AdminContext {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who acts, for the audit. */
  readonly actor: string;
  /** Default validity and number of uses of a code. */
  readonly platform: Pick<Platform, 'code_uses' | 'code_ttl_seconds'>;
}

type Line = Omit<NewAuditLine, 'actor'>;

/**
 * Does work in a transaction that also stores a line for the audit, unless there was nothing to
 * change: then the work returns `null` or `false`, or a line that is made of its result is `null`.
 */
export function audited<T>(
  { store, actor }: AdminContext,
  line: Line | ((result: T) => Line | null),
  work: (records: Records) => Promise<T>,
): Promise<T> {
  return store.write(async (records) => {
    const result = await work(records);
    if (result === null || result === false) return result;
    const added = typeof line === 'function' ? line(result) : line;
    if (added !== null) await records.audit.add({ actor, ...added });
    return result;
  });
}

/** Who acts by default; a container may run under a number without a name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

/**
 * The store has no such user, app or code.
 *
 * @example
 * await service.admin.getUser({ tenantCode: 'acme', unionId: 'u1' }).catch((error: unknown) => {
 *   if (!(error instanceof NotFoundError)) throw error;
 * });
 */
export class NotFoundError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'NotFoundError';
  readonly code = 'NOT_FOUND';
  /**
   * The code with which a request for it is answered: 40401 for a user, 40101 for an app, 40106 for
   * a code.
   */
  readonly resultCode: ResultCode;

  constructor(resultCode: ResultCode, message: string, options?: UserInfoErrorOptions) {
    super(message, options);
    this.resultCode = resultCode;
  }
}

/**
 * Maximum length of a key of the store, in characters: PostgreSQL indexes at most some 2700 bytes.
 */
const maxKeyLength = 255;

/**
 * Checks a text that is a key, or a part of one.
 *
 * @throws InvalidInputError that names it
 */
export function checkKey(name: string, text: string): string {
  if (typeof text !== 'string' || text === '') throw new InvalidInputError(`${name} is missing`);
  const fault = textFault(text);
  if (fault !== null) throw new InvalidInputError(`${name} ${quoteName(text)} ${fault}`);
  if (text.length > maxKeyLength) {
    throw new InvalidInputError(
      `${name} has ${text.length} characters; the maximum is ${maxKeyLength}`,
    );
  }
  return text;
}

/**
 * Checks a count.
 *
 * @throws InvalidInputError that names it
 */
export function checkCount(name: string, count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidInputError(`${name} is ${count}; it must be a whole number above 0`);
}

/**
 * Checks a time in seconds.
 *
 * @throws InvalidInputError that names it
 */
export function checkSeconds(name: string, seconds: number): number {
  if (checkCount(`${name} in seconds`, seconds) <= maxSeconds) return seconds;
  throw new InvalidInputError(`${name} in seconds is ${seconds}; the maximum is ${maxSeconds}`);
}

const pageSize = 500;

/**
 * Lists everything page by page: it is never held whole, and no transaction stays open between two
 * pages. `after` is the key of the last item, `first` at first.
 */
export async function* listAll<T, Key = string>(
  readPage: (after: Key, limit: number) => Promise<readonly T[]>,
  keyOf: (item: T) => Key,
  first = '' as Key,
): AsyncGenerator<T, void, undefined> {
  let after = first;
  for (;;) {
    const page = await readPage(after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = keyOf(last);
  }
}
