import { setTimeout as sleep } from 'node:timers/promises';
import type { CallClient } from '../client/client.js';
import { NoAnswerError, RejectedError } from '../client/errors.js';
import { isThrottled, parseRetryAfter } from '../client/retry.js';
import { randomString } from '../client/sender.js';
import { msgOf } from '../protocol/envelope.js';
import { isObject } from '../protocol/fields.js';
import { randomLength } from '../protocol/limits.js';
import type { Signers } from '../signing/app-signatures.js';
import type { Secret } from '../signing/secret.js';
import { jsonValueOf } from '../support/json-value.js';
import {
  alikeOf,
  type ConstantAnswer,
  isCarriedOut,
  maskSent,
  type Observation,
  saysTheSame,
} from './answer.js';
import { controlRead, type ProbeRequest } from './requests.js';

/** The connection and the credentials of a probe. */
export interface ProbeConnection {
  readonly client: CallClient;
  readonly signers: Signers;
  readonly secret: Secret;
  readonly signal: AbortSignal;
  /** Pause before each request, in milliseconds. It grows where the platform throttles. */
  readonly pauseMs: number;
  /** Maximum number of requests. */
  readonly maxRequests: number;
  /** Called for each request that is sent. */
  readonly onSent?: () => void;
}

/** The platform does not answer the control as at the start any more, or the requests are used up. */
export class StoppedError extends Error {
  /** The answer that came instead; `null` if the requests are used up. */
  readonly instead: Observation | null;

  constructor(instead: Observation | null) {
    super('the probe was stopped');
    this.instead = instead;
  }
}

/** Number of controls at the start, whose texts show what is constant. */
const firstControls = 4;
/** Maximum number of times that a request is sent which ends without an answer, and of repetitions of a pair. */
const maxTries = 3;
/** The first pause of a back-off, and all of them together, in pauses between two requests. */
const backOff = { first: 4, all: 400 };
/** Maximum factor by which the pause grows. */
const slowest = 8;
/** Maximum time for which the pauses are kept that the platform asks for, in milliseconds. */
const maxRequestedMs = 60_000;

/** Sends the requests of a probe one after the other, with the control between them. */
export class Exchange {
  readonly #connection: ProbeConnection;
  readonly observations: Observation[] = [];
  /** The answers to the control that are as at the start. */
  readonly #controls: Observation[] = [];
  /** Answers that came in place of others for a time: the platform throttled. */
  readonly throttled: Observation[] = [];
  #slowness = 1;
  #waited = { ownMs: 0, requestedMs: 0, times: 0, inRow: 0 };
  #sent = 0;
  #last: { readonly random: string; readonly now: number } | null = null;
  /** Correction of our clock for the platform's, in milliseconds. */
  skewMs = 0;

  constructor(connection: ProbeConnection) {
    this.#connection = connection;
  }

  /** The constant part of the answers to the control. */
  get control(): ConstantAnswer {
    return alikeOf(this.#controls) as ConstantAnswer;
  }

  /** Number of requests that may still be sent. */
  get left(): number {
    return this.#connection.maxRequests - this.#sent;
  }

  /**
   * Sends the control until a few answers are alike, so that limits of the rate show before anything is concluded.
   *
   * @throws NoAnswerError if no answer came, or the first is not an envelope; StoppedError
   */
  async begin(): Promise<void> {
    this.#controls.push(await this.ask(controlRead()));
    const { aheadBy } = this.#controls[0] as Observation;
    if (aheadBy !== null && Math.abs(aheadBy) > 2) {
      this.skewMs = aheadBy * 1000;
      // That may have been too soon: the first answer is what all others are compared with.
      await this.#wait(null);
      this.#controls.splice(0, 1, await this.ask(controlRead()));
    }
    while (this.#controls.length < firstControls) await this.controlled();
  }

  /**
   * Asks the same twice, with the control between, so that a limit of the rate cannot be both answers. What is carried
   * out is not asked again.
   *
   * @returns the constant part of the answers; `null` if there is none
   */
  twice(request: () => ProbeRequest): Promise<ConstantAnswer | null> {
    return this.#alike(() => this.ask(request()));
  }

  /** The same for copies of requests. */
  copied(request: () => ProbeRequest): Promise<ConstantAnswer | null> {
    return this.#alike(async () => {
      for (let tries = 1; ; tries += 1) {
        const { times } = this.#waited;
        await this.ask(request());
        const copy = await this.ask(request(), true);
        // A copy that had to wait may be refused for its age.
        if (this.#waited.times === times || tries === maxTries) return copy;
      }
    });
  }

  async #alike(ask: () => Promise<Observation>): Promise<ConstantAnswer | null> {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const first = await ask();
      if (isCarriedOut(first)) return alikeOf([first]);
      if (!(await this.controlled())) continue;
      const answer = alikeOf([first, await ask()]);
      if (answer !== null && (tries === maxTries || !this.#isThrottling(answer))) return answer;
      // One of the two may be a limit's answer, which meets the same of three requests each time unless the pace changes.
      await this.#untilControlled();
    }
    return null;
  }

  /** Whether such an answer came in place of others before. */
  #isThrottling(answer: ConstantAnswer): boolean {
    return this.throttled.some((one) => saysTheSame(one, answer));
  }

  /** Waits until the control is answered as at the start, and returns whether it was at once. */
  async controlled(): Promise<boolean> {
    const isControlled = await this.#isControlled();
    if (!isControlled) await this.#untilControlled();
    return isControlled;
  }

  /** Sends the control, and returns whether it is answered as at the start. */
  async #isControlled(): Promise<boolean> {
    const answer = await this.ask(controlRead());
    const { httpStatus, code } = this.#controls[0] as Observation;
    // A limit may have the code of an unknown code, and a text of its own.
    const isAlike =
      this.#controls.length < firstControls
        ? answer.httpStatus === httpStatus && answer.code === code
        : saysTheSame(answer, this.control);
    if (isAlike) {
      this.#controls.push(answer);
      this.#waited.inRow = 0;
      return true;
    }
    this.#instead.push(answer);
    return false;
  }

  readonly #instead: Observation[] = [];

  /** Waits until the control is answered as at the start, and sends more slowly then. */
  async #untilControlled(): Promise<void> {
    for (;;) {
      await this.#wait(this.#instead.at(-1) ?? null);
      if (await this.#isControlled()) break;
    }
    this.throttled.push(...this.#instead.splice(0));
    this.#slowness = Math.min(slowest, this.#slowness * 2);
  }

  async #wait(instead: Observation | null, requestedMs = 0): Promise<void> {
    const { pauseMs, signal } = this.#connection;
    const ownMs = pauseMs * backOff.first * 2 ** Math.min(6, this.#waited.inRow);
    const isRequested = requestedMs > ownMs;
    const waited = this.#waited;
    waited.times += 1;
    waited.inRow += 1;
    if (isRequested) waited.requestedMs += requestedMs;
    else waited.ownMs += ownMs;
    if (waited.ownMs > pauseMs * backOff.all || waited.requestedMs > maxRequestedMs)
      throw new StoppedError(instead);
    await sleep(isRequested ? requestedMs : ownMs, undefined, { signal });
  }

  /**
   * Sends a request, signed anew; `isCopy`: with `random` and `timestamp` of the one before.
   *
   * @throws NoAnswerError if no answer came, or the first is not an envelope; StoppedError; CancelledError, AbortError
   */
  async ask(asked: ProbeRequest, isCopy = false): Promise<Observation> {
    const { pauseMs, signal } = this.#connection;
    for (let tries = 1; ; tries += 1) {
      await sleep(pauseMs * this.#slowness, undefined, { signal });
      if (asked.age !== undefined) await untilMidSecond(signal, this.skewMs);
      const { observation, error, retryAfterMs } = await this.#askOnce(asked, isCopy);
      if (error !== undefined && isThrottled(error)) {
        if (observation?.code != null) this.throttled.push(observation);
        await this.#wait(observation ?? null, retryAfterMs).catch((stopped) => {
          throw stopped instanceof StoppedError && this.observations.length === 0 ? error : stopped;
        });
        this.#slowness = Math.min(slowest, this.#slowness * 2);
        continue;
      }
      if (observation?.code === null && this.observations.length === 0) throw error;
      const isAnswer = observation !== undefined && observation.code !== null;
      if (!isAnswer && tries < maxTries) continue;
      if (observation === undefined) throw error;
      this.observations.push(observation);
      return observation;
    }
  }

  async #askOnce(asked: ProbeRequest, isCopy: boolean) {
    const { client, signers, secret, signal, onSent, maxRequests } = this.#connection;
    if (this.#sent >= maxRequests) throw new StoppedError(null);
    const { tenantCode, appKey, age = 0, sign, short, request } = asked;
    const fresh = { random: randomString(), now: Date.now() + this.skewMs };
    const { random, now } = (isCopy ? this.#last : null) ?? fresh;
    this.#last = { random, now };
    const sender = client.withOptions({
      ...(tenantCode !== undefined && { tenantCode }),
      ...(appKey !== undefined && { appKey }),
      signing: sign?.(signers) ?? signers,
      random: () => (short === 'random' ? random.slice(0, randomLength.min - 1) : random),
      // A digit less.
      now: () => (short === 'timestamp' ? now / 10 : now - age * 1000),
    });
    const wire = sender.sign(request);
    const values = [...wire.url.searchParams, ...new URLSearchParams(wire.body ?? '')].map(
      ([, value]) => value,
    );
    const hidden = [...values, ...Object.values(wire.headers)].filter((value) => value.length > 3);
    const sentAt = Date.now();
    this.#sent += 1;
    onSent?.();
    const outcome = await sender.send(request, { signal, attempts: 1 }).catch((failure: unknown) => {
      if (failure instanceof RejectedError || failure instanceof NoAnswerError) return failure;
      throw failure;
    });
    const error = outcome instanceof Error ? outcome : undefined;
    const answer = outcome instanceof Error ? outcome.answer : outcome;
    const { httpStatus, body, headers = {} } = answer ?? (outcome as NoAnswerError);
    if (httpStatus === undefined || body === undefined) return { error };
    const members = membersOf(body);
    const shown = asked.isPersonal ? '' : msgOf(members);
    const msg = maskSent(shown, [...hidden, secret.reveal()]);
    // A Date header has whole seconds: half a second is missing on average.
    const ours = (sentAt + Date.now()) / 2 + this.skewMs;
    const ahead = Math.round((Date.parse(answer?.date ?? '') + 500 - ours) / 1000);
    const observation: Observation = {
      asked,
      httpStatus,
      code: answer?.envelope.code ?? null,
      known: outcome instanceof RejectedError ? outcome.means : undefined,
      msg,
      isMasked: msg !== shown,
      members,
      aheadBy: Number.isNaN(ahead) ? null : ahead,
      seconds: (Date.now() - sentAt) / 1000,
    };
    return { observation, error, retryAfterMs: parseRetryAfter(headers, Date.now()) };
  }
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
