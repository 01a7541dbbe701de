import { InvalidInputError } from '../protocol/errors.js';
import { checkMembers } from '../protocol/members.js';
import type { ReadData } from '../protocol/read-data.js';
import { isPromise } from '../signing/signer.js';
import type { Answer } from './answer.js';
import { ClientCall } from './call.js';
import { NoAnswerError } from './errors.js';
import {
  type CallOptions,
  callMembers,
  type DerivedOptions,
  derivedMembers,
  type UserInfoClientOptions,
} from './options.js';
import type { PlainRequest } from './request.js';
import { Sender } from './sender.js';
import { toWireRequest, type WireRequest } from './wire-request.js';

/**
 * The answer of a read: its `data` has the requested names.
 *
 * @example
 * const answer: ReadAnswer<'mobile'> = await client.read({ code, infoNames: ['mobile'] });
 * const mobile: string | undefined = answer.data.mobile;
 */
export type ReadAnswer<Name extends string = never> = Answer<ReadData<Name>>;
/**
 * The answer of a passback: its `data` names the user that was written to.
 *
 * @example
 * const answer: PassbackAnswer = await client.passback({ unionId: 'u1', userInfo: { acme_level: 'gold' } });
 * answer.data.union_id; // 'u1'
 */
export type PassbackAnswer = Answer<{ readonly union_id: string }>;

/** A call or a bulk run that `close` waits for. */
interface UnderWay {
  /** Ends it now. */
  readonly end: AbortController;
  /** Ends a run once what it sent is answered. */
  readonly stop?: () => void;
}

/** The calls of a `UserInfoClient`: the command line makes them without the code of bulk runs. */
export class CallClient implements AsyncDisposable {
  readonly sender: Sender;
  /** The client that this one was derived from, and shares connections with. */
  readonly #origin: CallClient | undefined;
  /** The calls and runs under way, also those of derived clients. */
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();
  #closing: Promise<void> | null = null;

  /** @throws InvalidInputError, RecipeError as that of `UserInfoClient` */
  constructor(options: UserInfoClientOptions, origin?: CallClient) {
    this.sender = new Sender(options, origin?.sender);
    this.#origin = origin;
  }

  withOptions(options: DerivedOptions): CallClient {
    checkMembers(derivedMembers, options);
    return new CallClient({ ...this.sender.options, ...options }, this);
  }

  close({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    if (this.#closing === null) {
      for (const work of this.#underWay.keys()) work.stop?.();
      this.#closing = Promise.allSettled(this.#underWay.values()).then(() => this.sender.drop());
    }
    if (force) {
      for (const work of this.#underWay.keys()) work.end.abort(new Error('the client was closed'));
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Signs a request without sending it. */
  sign(request: PlainRequest): WireRequest {
    const { sender } = this;
    try {
      const signed = sender.sign(request);
      if (!isPromise(signed)) return toWireRequest(signed, sender.baseUrl, sender.headersWith(undefined));
      signed.then(undefined, () => {});
      throw new InvalidInputError('a signer returns a promise: a request is not signed by it alone');
    } catch (error) {
      if (error instanceof NoAnswerError) error.withDetails({ operation: request.endpoint.operation });
      throw error;
    }
  }

  /** Sends a request, with further attempts where they are safe. */
  async send(request: PlainRequest, options: CallOptions = {}): Promise<Answer> {
    checkMembers(callMembers, options);
    this.refuseIfClosed();
    const call = new ClientCall(this.sender, request, options);
    const outcome = call.run();
    this.track(call, outcome);
    try {
      return await outcome;
    } finally {
      this.track(call, null);
    }
  }

  /** @throws InvalidInputError if this client was closed, or the one that it was derived from */
  refuseIfClosed(): void {
    this.#origin?.refuseIfClosed();
    if (this.#closing === null) return;
    throw new InvalidInputError('the client is closed: nothing was sent', { hint: 'Create a new client.' });
  }

  /** Has `close` wait for work; `null`: it is over. A client waits for that of derived clients too. */
  track(work: UnderWay, outcome: Promise<unknown> | null): void {
    if (outcome === null) this.#underWay.delete(work);
    else this.#underWay.set(work, outcome);
    this.#origin?.track(work, outcome);
  }
}
