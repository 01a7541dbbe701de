import type { Obstacle } from './apps.js';
import type {
  AppRequest,
  PassbackRequest,
  PassbackResult,
  ReadResult,
  Records,
} from './operations.js';
import type { Store } from './store.js';

/**
 * The store for one authenticated request: each method uses up its random (§5.4) in the transaction
 * of its work. An operation has no other way to the records, and so cannot be replayed.
 */
export class RequestStore {
  readonly #store: Store;
  readonly #request: AppRequest;
  #isRandomUsed = false;

  constructor(store: Store, request: AppRequest) {
    this.#store = store;
    this.#request = request;
  }

  get isRandomUsed(): boolean {
    return this.#isRandomUsed;
  }

  /** Carries out a read (§4.1). */
  readUser(code: string): Promise<ReadResult> {
    return this.#noting(this.#store.readUser({ ...this.#request, code }));
  }

  /** Carries out a passback (§4.2). */
  passBack(passback: Omit<PassbackRequest, keyof AppRequest>): Promise<PassbackResult> {
    return this.#noting(this.#store.passBack({ ...this.#request, ...passback }));
  }

  /** Runs work in a transaction: if it throws, nothing is stored. */
  write<T>(work: (records: Records) => Promise<T>): Promise<T | Obstacle> {
    const { app, random, deadline } = this.#request;
    const written = this.#store.write(
      async (records) => (await records.apps.useRandom(app, random)) ?? work(records),
      deadline,
    );
    return this.#noting(written);
  }

  /** Uses up the random; returns why that is not possible. */
  useRandom(): Promise<Obstacle | null> {
    return this.write(async () => null);
  }

  #noting<T>(work: Promise<T | Obstacle>): Promise<T | Obstacle> {
    return work.then((result) => {
      this.#isRandomUsed = result !== 'random used' && result !== 'app changed';
      return result;
    });
  }
}
