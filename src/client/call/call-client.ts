import { InvalidInputError } from '../../core/contract/errors.js';
import { checkMembers } from '../../core/contract/members.js';
import { isPromise } from '../../core/signing/signer.js';
import type { Answer } from './answer.js';
import { makeCall } from './call.js';
import { NoAnswerError } from './errors.js';
import {
  type CallOptions,
  callMembers,
  type DerivedOptions,
  derivedMembers,
  type SenderOptions,
} from './options.js';
import type { PlainRequest } from './request.js';
import { Sender } from './sender.js';
import { toWireRequest, type WireRequest } from './sign-request.js';

/** A call or a bulk run that `close` waits for. */
export interface UnderWay {
  /** Ends it now. */
  readonly end: AbortController;
  /** Ends a run once what it sent is answered. */
  readonly stop?: () => void;
}

/** What is behind a `UserInfoClient`: the command line uses it without the code of bulk runs. */
export class CallClient extends Sender implements AsyncDisposable {
  /** The client that this one was derived from, and shares connections with. */
  readonly #origin: CallClient | undefined;
  /** The calls and runs under way, also those of derived clients. */
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();
  #closing: Promise<void> | null = null;

  /** @throws InvalidInputError, RecipeError as that of `UserInfoClient` */
  constructor(options: SenderOptions, origin?: CallClient) {
    super(options, origin);
    this.#origin = origin;
  }

  /** @throws InvalidInputError, RecipeError as `withOptions` of `UserInfoClient` */
  withOptions(options: DerivedOptions): CallClient {
    checkMembers(derivedMembers, options);
    return new CallClient({ ...this.options, ...options }, this);
  }

  /** Waits for the calls and runs under way, then closes the connections; `force` ends them now. */
  close({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    if (this.#closing === null) {
      for (const work of this.#underWay.keys()) work.stop?.();
      this.#closing = Promise.allSettled(this.#underWay.values()).then(() => this.drop());
    }
    if (force) {
      for (const work of this.#underWay.keys()) work.end.abort(new Error('the client was closed'));
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Signs a request without sending it.
   *
   * @throws InvalidInputError, also if a signer returns a promise; NoAnswerError if a function of
   * the caller fails
   */
  sign(request: PlainRequest): WireRequest {
    try {
      const signed = this.signAttempt(request);
      if (!isPromise(signed))
        return toWireRequest(signed, this.baseUrl, this.headersWith(undefined).additional);
      signed.then(undefined, () => {});
      throw new InvalidInputError(
        'a signer returns a promise: a request is not signed by it alone',
      );
    } catch (error) {
      if (error instanceof NoAnswerError)
        error.setDetails({ operation: request.endpoint.operation });
      throw error;
    }
  }

  /**
   * Sends a request, with further attempts where they are safe.
   *
   * @throws InvalidInputError, RejectedError, NoAnswerError, CancelledError
   */
  async send(request: PlainRequest, options: CallOptions = {}): Promise<Answer> {
    checkMembers(callMembers, options);
    this.refuseIfClosed();
    const call = { end: new AbortController() };
    const outcome = makeCall(this, request, options, call.end);
    this.track(call, outcome);
    try {
      return await outcome;
    } finally {
      this.untrack(call);
    }
  }

  /** @throws InvalidInputError if this client was closed, or the one that it was derived from */
  refuseIfClosed(): void {
    this.#origin?.refuseIfClosed();
    if (this.#closing === null) return;
    throw new InvalidInputError('the client is closed: nothing was sent', {
      hint: 'Create a new client.',
    });
  }

  /** Makes `close` wait for work, until `untrack`. A client waits for that of derived clients too. */
  track(work: UnderWay, outcome: Promise<unknown>): void {
    this.#underWay.set(work, outcome);
    this.#origin?.track(work, outcome);
  }

  /** The work is over. */
  untrack(work: UnderWay): void {
    this.#underWay.delete(work);
    this.#origin?.untrack(work);
  }
}
