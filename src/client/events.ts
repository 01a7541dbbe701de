import type { Envelope } from '../protocol/envelope.js';
import { maskJson } from '../protocol/mask-json.js';
import { maskParameter } from '../protocol/personal-data.js';
import type { Answer } from './answer.js';
import type { NoAnswerError, NoAnswerReason } from './errors.js';
import type { SignedRequest, WireAnswer } from './transport.js';

/** An attempt that is about to be made. Nothing in it is secret, or about a person. */
export interface RequestEvent {
  readonly operation: 'read' | 'passback';
  readonly method: string;
  /** Scheme, host and path: no parameter is in it. */
  readonly url: string;
  /** 1 for the first. */
  readonly attempt: number;
  /**
   * What is sent, in its order: `app_sign` and `sign` shortened, `code` and what is about a person masked, each value
   * of `user_info` too.
   */
  readonly parameters: readonly (readonly [name: string, shown: string])[];
}

/** An attempt that was answered. */
export interface ResponseEvent extends RequestEvent {
  readonly httpStatus: number;
  /** `code` of the envelope; undefined where the answer is none. */
  readonly resultCode: number | undefined;
  /** Those that say how to take the answer. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The envelope as received, with every value in `data` but `union_id` masked; undefined where the answer is none. */
  readonly envelope: string | undefined;
  readonly durationMs: number;
}

/** An attempt that ended without an answer of any kind. */
export interface NoAnswerEvent extends RequestEvent {
  readonly reason: NoAnswerReason;
  /** Whether the service may have acted on this attempt. */
  readonly received: boolean;
  /** What went wrong, in one line. */
  readonly message: string;
  readonly durationMs: number;
}

/** Functions that are told of each attempt, for traces and metrics. They should not throw. */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Called after each attempt that was answered, be it with something else than an envelope. */
  readonly onResponse?: (event: ResponseEvent) => void;
  /** Called after each other attempt, unless the caller or the deadline ended it. */
  readonly onNoAnswer?: (event: NoAnswerEvent) => void;
}

/** How much of a signature is shown: enough to tell two apart. */
const shownDigits = 8;

/** The parameters of a signed request as they may be shown. */
export function showParameters({ target, body }: SignedRequest): [name: string, shown: string][] {
  const query = target.slice(target.indexOf('?'));
  const pairs = [...new URLSearchParams(query), ...new URLSearchParams(body ?? '')];
  return pairs.map(([name, value]) => [name, showParameter(name, value)]);
}

/** A parameter of a signed request as it may be shown. */
export function showParameter(name: string, value: string): string {
  if (name === 'app_sign' || name === 'sign') return `${value.slice(0, shownDigits)}…`;
  return maskParameter(name, value);
}

/** What may be told of an answer. */
export function showAnswer(
  { httpStatus, contentType, date, retryAfter, location }: WireAnswer,
  outcome: Answer<Envelope> | NoAnswerError,
): Pick<ResponseEvent, 'httpStatus' | 'resultCode' | 'headers' | 'envelope'> {
  const headers = {
    'content-type': contentType || undefined,
    date,
    'retry-after': retryAfter,
    location: location?.split('?')[0],
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (!('envelope' in outcome))
    return { httpStatus, headers: given, resultCode: undefined, envelope: undefined };
  const envelope = maskJson(new TextDecoder().decode(outcome.body), (key) => !openKeys.includes(key));
  return { httpStatus, headers: given, resultCode: outcome.envelope.code, envelope };
}

const openKeys: readonly string[] = ['code', 'msg', 'data', 'union_id'];
