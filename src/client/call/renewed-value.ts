import { InvalidInputError } from '../../core/contract/errors.js';
import { isPromise } from '../../core/signing/signer.js';
import { NoAnswerError } from './errors.js';

/**
 * Pause after a failed fetch before the next one that no request waits for, in milliseconds.
 */
const afterFailureMs = 1_000;

/** A value that stays. */
export interface FixedValue<T> {
  readonly fixed: T;
}

/** Fetches a value, and limits how long it is used; times in milliseconds. */
export interface ValueSource<T> {
  /**
   * Calls the function of the caller; `isRefused`: the service refused the value in use.
   *
   * @throws NoAnswerError with the reason `secret`
   */
  readonly fetch: (isRefused: boolean) => T | PromiseLike<T>;
  /** The name of the function in errors. */
  readonly functionName: string;
  /** Age from which a value is renewed while requests still use it. */
  readonly freshMs: number;
  /** Age from which requests wait for the next value. */
  readonly lifetimeMs: number;
  /** Maximum duration of a fetch. */
  readonly limitMs: number;
  /** Receives the error of a fetch that no request waits for. */
  readonly warn: (message: string) => void;
}

/** What an answer shows of the value that its request was sent with. */
export type ValueVerdict = 'refused' | 'accepted' | 'nothing';

/**
 * The app secret, or the values of headers: fixed, or returned by a function of the caller, which
 * is called by one request at a time, when its value is old, and again when the service refuses it.
 * A fetch is one call of that function.
 */
export class RenewedValue<T> {
  readonly #source: ValueSource<T> | null;
  #inUse: T | null;
  /** When it came, by `performance.now()`. */
  #since = Number.NEGATIVE_INFINITY;
  /** When the value is fetched again though no request has to wait. */
  #renewalAt = Number.NEGATIVE_INFINITY;
  #fetched: Promise<void> | null = null;
  /** Number of fetches so far. */
  #fetches = 0;
  /** The number of the fetch that returned the value in use. */
  #usedFetch = 0;
  /** Whether the service refused the value in use. */
  #isRefused = false;
  /** Whether the service accepted a value since the last refusal. */
  #isProven = true;

  constructor(source: ValueSource<T> | FixedValue<T>) {
    if ('fetch' in source) {
      this.#source = source;
      this.#inUse = null;
    } else {
      this.#source = null;
      this.#inUse = source.fixed;
    }
  }

  /** The value in use; `null` before a fetch returned one. */
  get inUse(): T | null {
    return this.#inUse;
  }

  /**
   * The value of the next request.
   *
   * @throws NoAnswerError as `fetch` does, or InvalidInputError if it returns a promise and no
   * value was fetched yet
   */
  get current(): T {
    if (this.#inUse !== null || this.#source === null) return this.#inUse as T;
    const value = this.#source.fetch(false);
    if (isPromise(value)) {
      value.then(undefined, () => {});
      throw new InvalidInputError(
        `${this.#source.functionName} returns a promise: a request is not signed by it alone`,
        { hint: 'Make a call first, or use a function that returns the value itself.' },
      );
    }
    return value;
  }

  /**
   * Renews a value that is old. Returns a promise if the next request has to wait for it.
   *
   * @throws NoAnswerError with the reason `secret` if the function fails or takes too long
   */
  prepare(): Promise<void> | undefined {
    if (this.#source === null) return undefined;
    const now = performance.now();
    const isTooOld = now - this.#since >= this.#source.lifetimeMs;
    const isNeeded = this.#inUse === null || this.#isRefused || isTooOld;
    if (!isNeeded && now < this.#renewalAt) return undefined;
    this.#fetched ??= this.#renew(this.#source, isNeeded);
    return isNeeded ? this.#fetched : undefined;
  }

  async #renew(
    { fetch, functionName, freshMs, limitMs, warn }: ValueSource<T>,
    isNeeded: boolean,
  ): Promise<void> {
    this.#fetches += 1;
    const fetchNumber = this.#fetches;
    const use = (value: T) => {
      if (fetchNumber < this.#usedFetch) return;
      this.#usedFetch = fetchNumber;
      this.#since = performance.now();
      this.#renewalAt = this.#since + freshMs;
      this.#isRefused = false;
      this.#inUse = value;
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(didNotReturn(functionName, limitMs)), limitMs).unref();
    });
    try {
      // A value that comes too late is used by later requests.
      await Promise.race([(async () => fetch(this.#isRefused))().then(use), late]);
    } catch (error) {
      this.#renewalAt = performance.now() + afterFailureMs;
      if (isNeeded) throw error;
      warn(`${(error as Error).message}; its last value stays in use`);
    } finally {
      clearTimeout(timer);
      this.#fetched = null;
    }
  }

  /**
   * Learns from the answer to a request that was sent at `sentAt`, of `performance.now()`.
   *
   * @returns whether the request is to be sent again with another value: the service refused the
   * one that was sent, which is old, or was accepted before
   */
  noteAnswer(verdict: ValueVerdict, sentAt: number): 'send again' | 'settled' {
    if (this.#source === null || verdict === 'nothing') return 'settled';
    if (verdict === 'accepted') {
      this.#isProven = true;
      return 'settled';
    }
    // Another request was refused before, or a newer value is in use.
    if (this.#isRefused || sentAt < this.#since) return 'send again';
    if (!this.#isProven) return 'settled';
    this.#isProven = false;
    this.#isRefused = true;
    return 'send again';
  }
}

/**
 * Calls a function of the caller, and parses what it returns, at once if it can.
 *
 * @throws NoAnswerError with the reason `secret` if it fails; what `parse` throws
 */
export function fetchFrom<T>(
  functionName: string,
  provide: () => unknown,
  parse: (value: unknown) => T,
): T | Promise<T> {
  const failed = (cause: unknown): never => {
    const hint = 'Its error is the cause; try again when it returns the value.';
    throw notProvided(functionName, 'failed', hint, cause);
  };
  let value: unknown;
  try {
    value = provide();
  } catch (cause) {
    failed(cause);
  }
  return isPromise(value) ? Promise.resolve(value).then(parse, failed) : parse(value);
}

/** The error of a function that took too long. */
export function didNotReturn(functionName: string, limitMs: number): NoAnswerError {
  return notProvided(
    functionName,
    `did not return within ${Math.ceil(limitMs)} ms`,
    'Try again; give the function a shorter time-out of its own, which says what it waits for.',
  );
}

/**
 * A function of the caller did not provide a value: no request can be signed or sent. Nothing was
 * sent, unless by earlier attempts of the call. `fault` says what the function did.
 */
export function notProvided(
  functionName: string,
  fault: string,
  hint: string,
  cause?: unknown,
): NoAnswerError {
  return new NoAnswerError(`${functionName} ${fault}`, {
    reason: 'secret',
    received: false,
    attempts: 0,
    hint,
    cause,
  });
}
