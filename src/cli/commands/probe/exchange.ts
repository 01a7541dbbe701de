// Apart from index.ts: only a run of the command loads it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallClient } from '../../../client/client.js';
import { NoAnswerError, RejectedError } from '../../../client/errors.js';
import { isThrottled, parseRetryAfter } from '../../../client/retry.js';
import { isObject } from '../../../protocol/fields.js';
import { randomLength } from '../../../protocol/limits.js';
import { type ResultCodeName, resultCode } from '../../../protocol/result-codes.js';
import type { Signers } from '../../../signing/app-signatures.js';
import type { Secret } from '../../../signing/secret.js';
import type { ProbeRequest } from './requests.js';

/** An answer as far as the probe keeps it: no values of a user, no code, no secret. */
export interface Observation {
  readonly asked: ProbeRequest;
  readonly httpStatus: number;
  /** `code` of the envelope; `null` if the answer is not an envelope. */
  readonly code: number | null;
  /** The meaning of the code to the profile in use. */
  readonly known: ResultCodeName | undefined;
  /** Masked; empty for a request that names a user. */
  readonly msg: string;
  /** Whether something in `msg` was masked. */
  readonly isMasked: boolean;
  /** The members of the answer, if it is a JSON object. Their values are only looked at. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The lead of the platform's clock over ours, in whole seconds, by its `Date` header. */
  readonly aheadBy: number | null;
  /** Whether our clock showed the same second before and after it. */
  readonly isWithinSecond: boolean;
}

/** The connection and the credentials of a probe. */
export interface ProbeConnection {
  readonly client: CallClient;
  readonly signers: Signers;
  readonly secret: Secret;
  readonly signal: AbortSignal;
  /** Pause before each request, in milliseconds. */
  readonly pauseMs: number;
  /** Called for each request that is sent. */
  readonly onSent?: () => void;
}

/** Maximum number of times that a request is sent which is throttled, or ends without an answer. */
const maxTries = 3;
/** Minimum and maximum pause after a throttled request, in milliseconds. */
const throttledMs = { min: 1_000, max: 30_000 };

/** Sends the requests of a probe, one after the other, and keeps what their answers show. */
export class Exchange {
  readonly #connection: ProbeConnection;
  readonly observations: Observation[] = [];
  /** The answer to a throttled request, if there was one. */
  throttled: Observation | null = null;
  #last: { readonly random: string; readonly now: number } | null = null;

  constructor(connection: ProbeConnection) {
    this.#connection = connection;
  }

  /**
   * Sends a request, signed anew; `isCopy`: with `random` and `timestamp` of the one before.
   *
   * @throws NoAnswerError if no answer came, or the first is no envelope; RejectedError if the platform throttles;
   * CancelledError, AbortError
   */
  async send(asked: ProbeRequest, isCopy = false): Promise<Observation> {
    const { pauseMs, signal } = this.#connection;
    for (let number = 1; ; number += 1) {
      await sleep(pauseMs, undefined, { signal });
      if (asked.age !== undefined) await untilMidSecond(signal);
      const { observation, error, retryAfterMs } = await this.#sendOnce(asked, isCopy && number === 1);
      const isTooSoon = error !== undefined && isThrottled(error);
      if (observation !== undefined && !isTooSoon) {
        if (observation.code === null && this.observations.length === 0) throw error;
        this.observations.push(observation);
        return observation;
      }
      this.throttled = observation ?? this.throttled;
      if (number >= maxTries) throw error;
      const { min, max } = throttledMs;
      await sleep(isTooSoon ? Math.min(max, Math.max(min, retryAfterMs ?? 0)) : pauseMs, undefined, {
        signal,
      });
    }
  }

  async #sendOnce(asked: ProbeRequest, isCopy: boolean) {
    const { client, signers, secret, signal, onSent } = this.#connection;
    const { tenantCode, appKey, age = 0, sign, short, request } = asked;
    const { random, now } = (isCopy ? this.#last : null) ?? { random: freshRandom(), now: Date.now() };
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
    onSent?.();
    const seen = (
      httpStatus: number,
      body: Uint8Array,
      code: number | null,
      date: string | undefined,
      known?: ResultCodeName,
    ): Observation => {
      const members = membersOf(body);
      const shown = asked.isPersonal ? '' : textOf(members);
      const msg = mask(shown, [...hidden, secret.reveal()]);
      // A Date header has whole seconds: half a second is missing on average.
      const ahead = Math.round((Date.parse(date ?? '') + 500 - (sentAt + Date.now()) / 2) / 1000);
      const aheadBy = Number.isNaN(ahead) ? null : ahead;
      const isWithinSecond = Math.floor(sentAt / 1000) === Math.floor(Date.now() / 1000);
      return {
        asked,
        httpStatus,
        code,
        known,
        msg,
        isMasked: msg !== shown,
        members,
        aheadBy,
        isWithinSecond,
      };
    };
    try {
      const { httpStatus, body, date } = await sender.send(request, { signal, attempts: 1 });
      return { observation: seen(httpStatus, body, resultCode.ok, date) };
    } catch (error) {
      if (error instanceof RejectedError) {
        const { httpStatus, body, date, envelope, headers } = error.answer;
        const retryAfterMs = parseRetryAfter(headers, Date.now());
        return { observation: seen(httpStatus, body, envelope.code, date, error.means), error, retryAfterMs };
      }
      if (!(error instanceof NoAnswerError)) throw error;
      const { httpStatus, body, answer } = error;
      if (httpStatus === undefined || body === undefined) return { error };
      return { observation: seen(httpStatus, body, answer?.envelope.code ?? null, answer?.date), error };
    }
  }
}

/** Waits while a second is about to end or has just begun: the platform may count another one. */
async function untilMidSecond(signal: AbortSignal): Promise<void> {
  const ms = Date.now() % 1000;
  if (ms < 100) await sleep(100 - ms, undefined, { signal });
  if (ms > 700) await sleep(1100 - ms, undefined, { signal });
}

/** A random that a copy of the request has too. */
function freshRandom(): string {
  return randomUUID().replaceAll('-', '').slice(0, randomLength.max);
}

function membersOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
}

function textOf({ msg, message, error }: Readonly<Record<string, unknown>>): string {
  return String([msg, message, error].find((text) => typeof text === 'string') ?? '');
}

const mark = '…';
/** Maximum length of a text of the platform, in characters. */
const maxText = 100;

/** Masks what was sent, the secret, and what looks like an identifier or a digest in a text of the platform. */
function mask(text: string, hidden: readonly string[]): string {
  const plain = hidden
    .filter((value) => value !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, mark), text);
  const masked = plain.replace(/[\w+/=.-]{16,}|\d{6,}/g, (run) => (/\d/.test(run) ? mark : run));
  return masked.length <= maxText ? masked : `${masked.slice(0, maxText)}${mark}`;
}
