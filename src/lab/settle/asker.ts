import { setTimeout as sleep } from 'node:timers/promises';
import type { CallClient } from '../../client/call/call-client.js';
import { NoAnswerError, RejectedError } from '../../client/call/errors.js';
import type { DerivedOptions } from '../../client/call/options.js';
import { isThrottled } from '../../client/call/retry.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Signers } from '../../core/signing/app-signatures.js';
import { isObject } from '../../core/support/json.js';
import { type AnswerOrError, type Reply, StoppedAsking, sendOnce } from '../reply.js';
import type { HarmlessRequest } from './harmless-requests.js';

/** An answer to a harmless request, as far as it tells answers apart. */
export interface HarmlessReply extends Reply {
  readonly msg: string;
  readonly isCarriedOut: boolean;
  /** The words of the text that are neither sent values nor numbers or identifiers. */
  readonly words: string;
}

/** How requests are sent. */
export interface AskerOptions {
  readonly client: CallClient;
  readonly signal: AbortSignal;
  /** Pause before each request, in milliseconds. */
  readonly pauseMs: number;
  /** Number of requests that may be sent without asking for more. */
  readonly maxRequests: number;
  /** Called for each request that is sent. */
  readonly onSent?: () => void;
  /**
   * Asks for more requests when these are used up, and returns how many more may be sent; 0 for
   * none.
   */
  readonly more?: (sent: number) => Promise<number>;
}

/** What `random` and `timestamp` of a request are made of, if not as usual. */
export type MomentSource = Pick<DerivedOptions, 'random' | 'now'>;

/** Sends harmless requests, one after the other. */
export class Asker {
  readonly #options: AskerOptions;
  #maxRequests: number;
  /** Number of requests that are reserved for what comes later. */
  reserved = 0;
  /** Number of requests that were sent. */
  sent = 0;
  /** Whether equal requests are answered with equal texts: otherwise texts tell nothing. */
  #comparesTexts = true;

  constructor(options: AskerOptions) {
    this.#options = options;
    this.#maxRequests = options.maxRequests;
  }

  /** Number of requests that may be sent in all. */
  get maxRequests(): number {
    return this.#maxRequests;
  }

  /** Number of requests that may still be sent, without the reserved ones. */
  get unreserved(): number {
    return this.#maxRequests - this.sent - this.reserved;
  }

  /**
   * Sends a request once, signed by these signers.
   *
   * @throws StoppedAsking if the requests are used up, or the platform throttles
   * @throws NoAnswerError if no answer came; CancelledError, AbortError
   */
  async ask(
    { request }: HarmlessRequest,
    signing: Signers,
    momentSource: MomentSource = {},
  ): Promise<HarmlessReply> {
    const { client, signal, pauseMs, onSent, more } = this.#options;
    if (this.unreserved <= 0) this.#maxRequests += (await more?.(this.sent)) ?? 0;
    if (this.unreserved <= 0) throw new StoppedAsking('requests used up');
    if (this.sent > 0) await sleep(pauseMs, undefined, { signal });
    this.sent += 1;
    onSent?.();
    const sender = client.withOptions({ signing, ...momentSource });
    const outcome = await sendOnce(sender, request, signal);
    const reply = replyOf(outcome);
    if (!(outcome instanceof Error)) return reply;
    if (isThrottled(outcome)) throw new StoppedAsking('throttled', reply);
    if (outcome instanceof NoAnswerError && outcome.httpStatus === undefined) throw outcome;
    return reply;
  }

  /** Whether two answers say the same. */
  isAlike(first: HarmlessReply, second: HarmlessReply): boolean {
    if (!hasSameCode(first, second)) return false;
    return !this.#comparesTexts || first.words === second.words;
  }

  /**
   * Compares the answers to two equal requests. If their texts differ, no texts are compared from
   * now on.
   *
   * @throws StoppedAsking if their codes differ
   */
  compareTexts(first: HarmlessReply, second: HarmlessReply): void {
    if (!hasSameCode(first, second)) throw new StoppedAsking('other answer', second);
    if (first.words !== second.words) this.#comparesTexts = false;
  }
}

function hasSameCode(first: HarmlessReply, second: HarmlessReply): boolean {
  return first.code === second.code && first.httpStatus === second.httpStatus;
}

function replyOf(outcome: AnswerOrError): HarmlessReply {
  const answer = outcome instanceof Error ? outcome.answer : outcome;
  const { httpStatus = 0 } = answer ?? (outcome as NoAnswerError);
  const code = answer?.envelope.code ?? null;
  const msg = answer?.envelope.msg ?? '';
  const isRejected = outcome instanceof RejectedError;
  const data = answer?.envelope.data;
  const namesUser = isObject(data) && data.union_id !== undefined && data.union_id !== '';
  return {
    httpStatus,
    code,
    msg,
    means: isRejected ? outcome.means : undefined,
    // The client rejects no answer that names the user by a code that it does not know.
    isCarriedOut: !isRejected && code !== null && (code === resultCode.ok || namesUser),
    words: comparedWords(msg),
  };
}

/** The words of a text that do not look like an identifier, a time or a counter. */
function comparedWords(text: string): string {
  const words = text.split(/[^\p{L}\p{N}_]+/u);
  return words.filter((word) => !/\d/.test(word) && !/^[\da-f]{6,}$/i.test(word)).join(' ');
}
