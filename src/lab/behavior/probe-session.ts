import { setTimeout as sleep } from 'node:timers/promises';
import type { CallClient } from '../../client/call/call-client.js';
import { type NoAnswerError, RejectedError } from '../../client/call/errors.js';
import { isThrottled, parseRetryAfter } from '../../client/call/retry.js';
import { randomString } from '../../client/call/sender.js';
import type { WireRequest } from '../../client/call/sign-request.js';
import { msgOf } from '../../core/contract/envelope.js';
import { randomLength } from '../../core/contract/limits.js';
import type { Signers } from '../../core/signing/app-signatures.js';
import type { Secret } from '../../core/signing/secret.js';
import { isObject, jsonValueOf } from '../../core/support/json.js';
import { StoppedAsking, sendOnce } from '../reply.js';
import {
  alikeOf,
  type ConstantReply,
  hasSameCode,
  isAlike,
  isCarriedOut,
  isRefused,
  maskSent,
  type ProbeReply,
} from './probe-reply.js';
import { controlRead, inventCode, type ProbeRequest } from './requests.js';

/** The connection and the credentials of a probe. */
export interface ProbeConnection {
  readonly client: CallClient;
  readonly signers: Signers;
  readonly secret: Secret;
  readonly signal: AbortSignal;
  /** Pause before each request, in milliseconds. It grows where the platform throttles. */
  readonly pauseMs: number;
  /**
   * Maximum number of requests, with those that are reserved for the removal of the probe's key.
   */
  readonly maxRequests: number;
  /** Called for each request that is sent. */
  readonly onSent?: () => void;
}

/** A test user, whose data the probe may read and write. */
export interface ProbedUser {
  /** Codes that were issued for the user and not used. */
  readonly codes: readonly string[];
  readonly unionId: string | undefined;
  /** The key that is passed back. */
  readonly key: string;
}

/** The answers to a request, and to copies of it. */
interface CopiedReplies {
  readonly copies: ConstantReply | null;
  /** The last answer of a request that was copied. */
  readonly original: ProbeReply | null;
}

/** Number of controls at the start, whose texts show what is constant. */
const firstControls = 4;
/** Number of requests of `begin`: one more where the clocks differ. */
export const requestsOfBegin = firstControls + 1;
/** Number of requests of `twice`: the same two times, and the control between. */
export const requestsOfTwice = 3;
/** Number of requests of `copied`: two with a copy each, and the control between. */
export const requestsOfCopied = 5;
/**
 * Maximum number of times that a request is sent which ends without an answer, and of repetitions
 * of a pair.
 */
const maxTries = 3;
/** The first pause of a back-off, and all of them together, in pauses between two requests. */
const backOff = { first: 4, all: 400 };
/** Maximum factor by which the pause grows. */
const slowest = 8;
/** Maximum time for which the pauses are kept that the platform asks for, in milliseconds. */
const maxRequestedMs = 60_000;
/**
 * Number of requests that are reserved for the removal of the probe's key: nothing else uses them
 * up.
 */
export const reservedRequests = 4;

/** Sends the requests of a probe one after the other, with the control between them. */
export class ProbeSession {
  readonly #connection: ProbeConnection;
  readonly user: ProbedUser;
  readonly replies: ProbeReply[] = [];
  /** Requests that no envelope answered, or not yet: each may have been carried out. */
  readonly unanswered: ProbeRequest[] = [];
  /** The answers to the control that are as at the start. */
  readonly #controls: ProbeReply[] = [];
  /**
   * Answers that came in place of others for a time: a limit of the rate, or a fault of the
   * platform.
   */
  readonly throttled: ProbeReply[] = [];
  /** Answers that differed from the control since it last matched. */
  readonly #instead: ProbeReply[] = [];
  /** Factor of the pause between two requests. */
  #slowness = 1;
  /** Waits in all, and those in a row since the control last matched. */
  #waited = { ownMs: 0, requestedMs: 0, times: 0, inRow: 0 };
  /** Number of requests that may still be sent for each purpose. */
  readonly #left: { work: number; removal: number };
  /** What the last request was signed with, for a copy. */
  #lastMoment: { readonly random: string; readonly now: number } | null = null;
  /** Correction of our clock for the platform's, in milliseconds. */
  skewMs = 0;

  constructor(connection: ProbeConnection, user: ProbedUser) {
    this.#connection = connection;
    this.user = user;
    const removal = user.unionId === undefined ? 0 : reservedRequests;
    this.#left = { work: connection.maxRequests - removal, removal };
  }

  /** The constant part of the answers to the control. */
  get control(): ConstantReply {
    return alikeOf(this.#controls) as ConstantReply;
  }

  /** Number of requests that may still be sent, without those for the removal of the key. */
  get left(): number {
    return this.#left.work;
  }

  /** A code that was never issued, of the form of those of the user. */
  inventCode(): string {
    return inventCode(this.user.codes[0]);
  }

  /** A read that is correct except for its code. */
  readonly controlRead = (): ProbeRequest => controlRead(this.inventCode());

  /**
   * Sends the control until a few answers are alike, so that limits of the rate show before
   * anything is concluded.
   *
   * @throws NoAnswerError if no answer came, or the first is not an envelope; StoppedAsking
   */
  async begin(): Promise<void> {
    this.#controls.push(await this.ask(this.controlRead()));
    const { aheadBy } = this.#controls[0] as ProbeReply;
    if (aheadBy !== null && Math.abs(aheadBy) > 2) {
      this.skewMs = aheadBy * 1000;
      // That may have been too soon: the first answer is what all others are compared with.
      await this.#wait(null);
      this.#controls.splice(0, 1, await this.ask(this.controlRead()));
    }
    while (this.#controls.length < firstControls) await this.controlled();
  }

  /**
   * Asks the same twice, with the control between, so that a limit of the rate cannot be both
   * answers. What is carried out is not asked again.
   *
   * @returns the constant part of the answers; `null` if there is none
   */
  twice(request: () => ProbeRequest): Promise<ConstantReply | null> {
    return this.#askUntilAlike(() => this.ask(request()));
  }

  /** The same for copies of requests, each with `random` and `timestamp` of the one before. */
  async copied(request: () => ProbeRequest): Promise<CopiedReplies> {
    let original: ProbeReply | null = null;
    const copies = await this.#askUntilAlike(async () => {
      for (let tries = 1; ; tries += 1) {
        const { times } = this.#waited;
        original = await this.ask(request());
        const copy = await this.ask(request(), true);
        // A copy that had to wait may be refused for its age.
        if (this.#waited.times === times || tries === maxTries) return copy;
      }
    });
    return { copies, original };
  }

  async #askUntilAlike(ask: () => Promise<ProbeReply>): Promise<ConstantReply | null> {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const first = await ask();
      if (isCarriedOut(first)) return alikeOf([first]);
      if (!(await this.controlled())) continue;
      const second = await ask();
      if (isCarriedOut(second)) return alikeOf([second]);
      const answer = alikeOf([first, second]);
      if (answer !== null && (tries === maxTries || !this.#isThrottling(answer))) return answer;
      // One of the two may be a limit's answer, which meets the same of three requests each time
      // unless the pace changes.
      await this.#untilControlled();
    }
    return null;
  }

  /**
   * Asks for the removal of the key, with the requests that are reserved for it, until it is
   * carried out or refused twice alike. The pauses grow.
   *
   * @returns the last answer; `null` if none came
   * @throws AbortError
   */
  async remove(asked: ProbeRequest): Promise<ProbeReply | null> {
    const { pauseMs, signal } = this.#connection;
    let last: ProbeReply | null = null;
    for (let growth = 1; this.#left.removal > 0; growth *= backOff.first) {
      await sleep(pauseMs * Math.max(growth, this.#slowness), undefined, { signal });
      const { reply, error } = await this.#askOnce(asked, 'removal');
      if (reply === undefined) continue;
      this.replies.push(reply);
      if (isCarriedOut(reply)) return reply;
      const isLimit = error !== undefined && isThrottled(error);
      const isDecided = last !== null && isRefused(reply) && hasSameCode(reply, last);
      last = reply;
      if (isDecided && !isLimit && !this.isInstead(reply)) break;
    }
    return last;
  }

  /**
   * Whether such an answer came, or comes now, in place of others: it tells nothing of the request.
   */
  isInstead(answer: ProbeReply): boolean {
    return [...this.throttled, ...this.#instead].some((instead) => hasSameCode(instead, answer));
  }

  /** Whether such an answer came in place of others before. */
  #isThrottling(answer: ConstantReply): boolean {
    return this.throttled.some((throttled) => isAlike(throttled, answer));
  }

  /** Waits until the control is answered as at the start, and returns whether it was at once. */
  async controlled(): Promise<boolean> {
    const isControlled = await this.#isControlled();
    if (!isControlled) await this.#untilControlled();
    return isControlled;
  }

  /** Sends the control, and returns whether it is answered as at the start. */
  async #isControlled(): Promise<boolean> {
    const answer = await this.ask(this.controlRead());
    if (this.#isLikeControls(answer)) {
      this.#controls.push(answer);
      this.#waited.inRow = 0;
      return true;
    }
    this.#instead.push(answer);
    return false;
  }

  /**
   * Whether an answer is that of the control. The first ones are compared by status and code alone.
   * Later ones are compared whole: a limit may have the code of an unknown code, and a text of its
   * own.
   */
  #isLikeControls(answer: ProbeReply): boolean {
    if (this.#controls.length >= firstControls) return isAlike(answer, this.control);
    const { httpStatus, code } = this.#controls[0] as ProbeReply;
    return answer.httpStatus === httpStatus && answer.code === code;
  }

  /** Waits until the control is answered as at the start, and sends more slowly then. */
  async #untilControlled(): Promise<void> {
    for (;;) {
      await this.#wait(this.#instead.at(-1) ?? null);
      if (await this.#isControlled()) break;
    }
    this.throttled.push(...this.#instead.splice(0));
    this.#slowness = Math.min(slowest, this.#slowness * 2);
  }

  /**
   * Waits twice as long for each wait in a row, or as long as the platform asks for if that is
   * longer.
   *
   * @throws StoppedAsking where all waits together are too long
   */
  async #wait(instead: ProbeReply | null, requestedMs = 0): Promise<void> {
    const { pauseMs, signal } = this.#connection;
    const ownMs = pauseMs * backOff.first * 2 ** Math.min(6, this.#waited.inRow);
    const isRequested = requestedMs > ownMs;
    const waited = this.#waited;
    waited.times += 1;
    waited.inRow += 1;
    if (isRequested) waited.requestedMs += requestedMs;
    else waited.ownMs += ownMs;
    if (waited.ownMs > pauseMs * backOff.all || waited.requestedMs > maxRequestedMs)
      throw new StoppedAsking('throttled', instead);
    await sleep(isRequested ? requestedMs : ownMs, undefined, { signal });
  }

  /**
   * Sends a request, signed anew; `isCopy`: with `random` and `timestamp` of the one before.
   *
   * @throws NoAnswerError if no answer came, or the first is not an envelope; StoppedAsking;
   * CancelledError, AbortError
   */
  async ask(asked: ProbeRequest, isCopy = false): Promise<ProbeReply> {
    const { pauseMs, signal } = this.#connection;
    for (let tries = 1; ; tries += 1) {
      await sleep(pauseMs * this.#slowness, undefined, { signal });
      if (asked.age !== undefined) await untilMidSecond(signal, this.skewMs);
      const { reply, error, retryAfterMs } = await this.#askOnce(asked, 'work', isCopy);
      if (error !== undefined && isThrottled(error)) {
        if (reply !== undefined) this.throttled.push(reply);
        await this.#wait(reply ?? null, retryAfterMs).catch((stopped) => {
          throw stopped instanceof StoppedAsking && this.replies.length === 0 ? error : stopped;
        });
        this.#slowness = Math.min(slowest, this.#slowness * 2);
        continue;
      }
      if (reply?.code === null && this.replies.length === 0) throw error;
      const isEnvelope = reply !== undefined && reply.code !== null;
      if (!isEnvelope && tries < maxTries) continue;
      if (reply === undefined) throw error;
      const answer = { ...reply, unanswered: tries - 1 };
      this.replies.push(answer);
      return answer;
    }
  }

  async #askOnce(asked: ProbeRequest, purpose: 'work' | 'removal', isCopy = false) {
    const { signal, onSent } = this.#connection;
    if (this.#left[purpose] <= 0) throw new StoppedAsking('requests used up');
    const sender = this.#senderOf(asked, isCopy);
    const hidden = sentValues(sender.sign(asked.request));
    const sentAt = Date.now();
    this.#left[purpose] -= 1;
    this.unanswered.push(asked);
    onSent?.();
    const outcome = await sendOnce(sender, asked.request, signal);
    const error = outcome instanceof Error ? outcome : undefined;
    const answer = outcome instanceof Error ? outcome.answer : outcome;
    if (answer !== undefined || (error !== undefined && isThrottled(error))) this.unanswered.pop();
    const { httpStatus, body, headers = {} } = answer ?? (outcome as NoAnswerError);
    if (httpStatus === undefined || body === undefined) return { error };
    const members = membersOf(body);
    const msg = msgOf(members);
    const text = maskSent(msg, [...hidden, this.#connection.secret.reveal()]);
    const retryAfterMs = parseRetryAfter(headers, Date.now());
    const reply: ProbeReply = {
      asked,
      httpStatus,
      code: answer?.envelope.code ?? null,
      means: outcome instanceof RejectedError ? outcome.means : undefined,
      text,
      isMasked: text !== msg,
      members,
      saysTooMany: httpStatus === 429 || (retryAfterMs !== undefined && httpStatus < 500),
      unanswered: 0,
      aheadBy: this.#aheadBy(answer?.date, sentAt),
      seconds: (Date.now() - sentAt) / 1000,
    };
    return { reply, error, retryAfterMs };
  }

  /**
   * The client that signs a request as it is asked; a copy is signed at the moment of the request
   * before.
   */
  #senderOf(
    { tenantCode, appKey, age = 0, changeSigners, shortParameter }: ProbeRequest,
    isCopy: boolean,
  ): CallClient {
    const { client, signers } = this.#connection;
    const fresh = { random: randomString(), now: Date.now() + this.skewMs };
    const { random, now } = (isCopy ? this.#lastMoment : null) ?? fresh;
    this.#lastMoment = { random, now };
    return client.withOptions({
      tenantCode: tenantCode ?? client.options.tenantCode,
      appKey: appKey ?? client.options.appKey,
      signing: changeSigners?.(signers) ?? signers,
      random: () => (shortParameter === 'random' ? random.slice(0, randomLength.min - 1) : random),
      // A digit less.
      now: () => (shortParameter === 'timestamp' ? now / 10 : now - age * 1000),
    });
  }

  /** The lead of the platform's clock over the corrected one of ours, in seconds. */
  #aheadBy(date: string | undefined, sentAt: number): number | null {
    // A Date header has whole seconds: half a second is missing on average.
    const ours = (sentAt + Date.now()) / 2 + this.skewMs;
    const ahead = Math.round((Date.parse(date ?? '') + 500 - ours) / 1000);
    return Number.isNaN(ahead) ? null : ahead;
  }
}

/** What a request sends: texts of the platform are shown without it. */
function sentValues({ url, body, headers }: WireRequest): string[] {
  const parameters = [...url.searchParams, ...new URLSearchParams(body ?? '')];
  const values = [...parameters.map(([, value]) => value), ...Object.values(headers)];
  return values.filter((value) => value.length > 3);
}

/** Waits while a second is about to end or has just begun: the platform may count another one. */
async function untilMidSecond(signal: AbortSignal, skewMs: number): Promise<void> {
  const ms = (((Date.now() + skewMs) % 1000) + 1000) % 1000;
  if (ms < 100) await sleep(100 - ms, undefined, { signal });
  if (ms > 700) await sleep(1100 - ms, undefined, { signal });
}

function membersOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  const json = jsonValueOf(new TextDecoder().decode(body));
  return isObject(json) ? json : {};
}
