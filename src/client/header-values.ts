import { checkHeaderName, checkHeaderValue } from '../platform/headers.js';
import { InvalidInputError } from '../protocol/errors.js';
import { isObject } from '../protocol/fields.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { Secret } from '../signing/secret.js';
import { NoAnswerError, RejectedError } from './errors.js';
import type { HeaderProvider, UserInfoClientOptions } from './options.js';
import { RequestHeaders } from './request.js';
import { type AttemptOutcome, isSuccess, refusesCaller } from './retry.js';

/** Time for which a value is used before its function is called again, in milliseconds. */
const freshMs = 1_000;

/** The headers of every request: those with a fixed value, and those whose value a function returns. */
export class HeaderValues {
  readonly #fixed: ReadonlyMap<string, string>;
  readonly #functions: readonly (readonly [name: string, provide: HeaderProvider])[];
  readonly #check: (headers: RequestHeaders) => void;
  readonly #warn: (message: string) => void;
  /** Those in use; `null` before the first call of the functions. */
  known: RequestHeaders | null = null;
  /** When the functions were called, by `performance.now()`. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetch: Promise<void> | null = null;
  /** Whether the service refused the caller with the values in use. */
  #isRefused = false;
  /** Whether an answer showed, since the last refusal, that the values in use are good. */
  #isProven = true;

  /**
   * `needed` are the names that the platform needs, `given` the values. `check` throws for values that must not
   * be sent; `warn` is called where a function fails and its last value stays in use.
   *
   * @throws InvalidInputError for a header that is needed and is not given
   */
  constructor(
    needed: readonly string[],
    given: NonNullable<UserInfoClientOptions['headers']>,
    check: (headers: RequestHeaders) => void,
    warn: (message: string) => void,
  ) {
    const functions = Object.entries(given).filter((entry): entry is [string, HeaderProvider] => {
      checkHeaderName(entry[0], 'the option headers');
      return typeof entry[1] === 'function';
    });
    const names = Object.keys(given).map((name) => name.toLowerCase());
    const twice = Object.keys(given).find((name, index) => names.indexOf(name.toLowerCase()) < index);
    if (twice !== undefined)
      throw new InvalidInputError(`the option headers: ${quoteName(twice)} is given twice`);
    const fixed = Object.entries(given).filter(([, value]) => typeof value !== 'function');
    const missing = needed.find((name) => !names.includes(name.toLowerCase()));
    if (missing !== undefined) {
      throw new InvalidInputError(`the platform needs the header ${missing}`, {
        hint: `Give its value in the option headers: {${JSON.stringify(missing)}: value}.`,
      });
    }
    this.#fixed = new Map(fixed.map(([name, value]) => [name.toLowerCase(), textOf(name, value)]));
    this.#functions = functions;
    this.#check = check;
    this.#warn = warn;
    if (functions.length === 0) this.#use([]);
  }

  /**
   * The headers of the next request. Functions that were not called yet are, if they return the value itself.
   *
   * @throws NoAnswerError with the reason `secret` if one fails; InvalidInputError if it returns a promise
   */
  get current(): RequestHeaders {
    if (this.known !== null) return this.known;
    const values = this.#functions.map(([name, provide]) => {
      const value = called(name, () => provide(false));
      if (!isObject(value) || !('then' in value)) return provided(name, value);
      Promise.resolve(value).catch(() => {});
      throw new InvalidInputError(`the function of the header ${name} returns a promise: make a call first`);
    });
    return this.#use(values);
  }

  /**
   * Calls the functions whose values are not fresh, or are refused. Returns a promise if the next request has to wait
   * for them.
   *
   * @throws NoAnswerError with the reason `secret` if a function fails
   */
  prepare(): Promise<void> | undefined {
    const isNeeded = this.known === null || this.#isRefused;
    if (isNeeded || performance.now() - this.#fetchedAt >= freshMs) this.#fetch ??= this.#renew(isNeeded);
    return isNeeded ? (this.#fetch ?? undefined) : undefined;
  }

  async #renew(isNeeded: boolean): Promise<void> {
    try {
      const values = this.#functions.map(async ([name, provide]) => {
        const value = await called(name, () => provide(this.#isRefused));
        return provided(name, value);
      });
      this.#use(await Promise.all(values));
      this.#isRefused = false;
    } catch (error) {
      if (isNeeded) throw error;
      this.#warn(`${(error as Error).message}; its last value stays in use`);
    } finally {
      this.#fetchedAt = performance.now();
      this.#fetch = null;
    }
  }

  #use(values: readonly string[]): RequestHeaders {
    const named = values.map(
      (value, index) => [this.#functions[index]?.[0].toLowerCase() ?? '', value] as const,
    );
    const headers = new RequestHeaders(new Map([...this.#fixed, ...named]));
    this.#check(headers);
    this.known = headers;
    return headers;
  }

  /**
   * Whether a request that was sent at `sentAt` is to be sent again with new values: the service refused the caller, and
   * the values that were sent are old, or have proven good before.
   */
  isOutdated(outcome: AttemptOutcome, sentAt: number): boolean {
    if (this.#functions.length === 0) return false;
    if (!refusesCaller(outcome)) {
      this.#isProven ||= isSuccess(outcome) || outcome instanceof RejectedError;
      return false;
    }
    if (this.#isRefused || sentAt < this.#fetchedAt) return true;
    if (!this.#isProven) return false;
    this.#isProven = false;
    this.#isRefused = true;
    return true;
  }
}

function textOf(name: string, value: unknown): string {
  const label = `the option headers: ${quoteName(name)}`;
  const text = value instanceof Secret ? value.reveal() : value;
  if (typeof text !== 'string') throw new InvalidInputError(`${label} is neither text nor a function`);
  return checkHeaderValue(text, label);
}

function called<T>(name: string, call: () => T): T {
  const failed = (cause: unknown): never => {
    throw fault(name, 'failed', cause);
  };
  try {
    const value = call();
    return value instanceof Promise ? (value.catch(failed) as T) : value;
  } catch (cause) {
    return failed(cause);
  }
}

function provided(name: string, value: unknown): string {
  try {
    return textOf(name, value);
  } catch (cause) {
    throw fault(name, 'returned no value of a header', cause);
  }
}

/** No request can be sent without the value of a header. */
function fault(name: string, did: string, cause: unknown): NoAnswerError {
  return new NoAnswerError(`the function of the header ${name} ${did}`, {
    reason: 'secret',
    received: false,
    attempts: 0,
    hint: 'Its error is the cause; try again when it returns the value.',
    cause,
  });
}
