import { emitWarning } from 'node:process';
import type { Envelope } from '../protocol/envelope.js';
import { maskJson, maskParameter } from '../protocol/masking.js';
import { quoteName } from '../protocol/text.js';
import type { Answer, WireAnswer } from './answer.js';
import type { NoAnswerError, NoAnswerReason } from './errors.js';
import type { SignedRequest } from './request.js';

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
  /** Milliseconds since `onRequest`, by a clock that only goes forward. */
  readonly durationMs: number;
}

/** An attempt that ended without an answer of any kind. */
export interface NoAnswerEvent extends RequestEvent {
  /** `timeout` where the time of the call was over, `cancelled` where its signal was aborted. */
  readonly reason: NoAnswerReason | 'cancelled';
  /** Whether the service may have acted on this attempt. */
  readonly received: boolean;
  /** What went wrong, in one line. */
  readonly message: string;
  /** Milliseconds since `onRequest`, by a clock that only goes forward. */
  readonly durationMs: number;
}

/**
 * Functions for traces and metrics. Each attempt calls `onRequest`, and at its end exactly one of the other two.
 *
 * What a hook throws, or the promise of an async one rejects with, has no effect on the call: the first such error of
 * a client is reported as a process warning named `UserInfoHookWarning`, with the code `USERINFO_HOOK`.
 */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Called after each attempt that was answered, be it with something else than an envelope. */
  readonly onResponse?: (event: ResponseEvent) => void;
  /** Called after each other attempt: no connection, no valid HTTP, a time-out, or cancelled by the caller. */
  readonly onNoAnswer?: (event: NoAnswerEvent) => void;
}

/** The hooks of one client, called so that nothing they do ends a call, a run or the process. */
export class Hooks {
  readonly #hooks: ClientHooks;
  #hasWarned = false;

  constructor(hooks: ClientHooks) {
    this.#hooks = hooks;
  }

  /** Calls a hook, where there is one, with what `event` returns. */
  tell<Name extends keyof ClientHooks>(
    name: Name,
    event: () => Parameters<Required<ClientHooks>[Name]>[0],
  ): void {
    if (this.#hooks[name] === undefined) return;
    try {
      const call = this.#hooks[name] as (event: unknown) => unknown;
      const returned = call.call(this.#hooks, event());
      // Of another realm, too: no instanceof.
      if (typeof returned === 'object' && returned !== null && 'then' in returned) {
        Promise.resolve(returned).catch((error: unknown) => this.#warn(name, error));
      }
    } catch (error) {
      this.#warn(name, error);
    }
  }

  #warn(name: keyof ClientHooks, error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    emitWarning(`the hook ${name} of a UserInfoClient failed: ${textOf(error)}; its calls go on`, {
      type: 'UserInfoHookWarning',
      code: 'USERINFO_HOOK',
    });
  }
}

function textOf(error: unknown): string {
  try {
    return quoteName(String((error as { message?: unknown } | null | undefined)?.message ?? typeof error));
  } catch {
    return 'with an error that has no text';
  }
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
