import { tracingChannel } from 'node:diagnostics_channel';
import type { OperationName } from '../../core/contract/endpoints.js';
import { quoteName } from '../../core/contract/errors.js';
import { maskJson, maskParameter } from '../../core/contract/masking.js';
import { type Answer, headerOf, type WireAnswer } from './answer.js';
import type { NoAnswerError, NoAnswerReason, RejectedError } from './errors.js';
import { type AttemptOutcome, isSuccess } from './retry.js';
import type { SignedRequest } from './sign-request.js';

/** An attempt that is about to start. It holds no secrets and no personal data. */
export interface RequestEvent {
  /** The operation that is called. */
  readonly operation: OperationName;
  /** The HTTP method. */
  readonly method: string;
  /** Scheme, host and path, without parameters. */
  readonly url: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** `random` of the request (§5.4): it joins the events of an attempt. */
  readonly requestId: string;
  /** `context` of the call's options. */
  readonly context: unknown;
  /**
   * The parameters in the order in which they are sent: `app_sign` and `sign` shortened, `code`,
   * personal data and each value of `user_info` masked.
   */
  readonly parameters: readonly (readonly [name: string, shown: string])[];
}

/** An attempt that was answered. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status of the answer. */
  readonly httpStatus: number;
  /** `code` of the envelope; undefined if the answer is not an envelope. */
  readonly resultCode: number | undefined;
  /** `Content-Type`, `Date`, `Retry-After` and `Location`, if present. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /**
   * The envelope as received, with every value in `data` but `union_id` masked, and in `msg` what
   * may be personal; undefined if the answer is not an envelope.
   */
  readonly envelope: string | undefined;
  /** Milliseconds since `onRequest`, by a monotonic clock. */
  readonly durationMs: number;
}

/** An attempt that ended without any answer. */
export interface NoAnswerEvent extends RequestEvent {
  /** `timeout`: the time of the call was over. `cancelled`: its signal was aborted. */
  readonly reason: NoAnswerReason | 'cancelled';
  /** Whether the service may have acted on this attempt. */
  readonly received: boolean;
  /** The error in one line. */
  readonly message: string;
  /** Milliseconds since `onRequest`, by a monotonic clock. */
  readonly durationMs: number;
}

/** An attempt that is repeated after a pause. */
export interface RetryEvent extends Pick<RequestEvent, 'operation' | 'context'> {
  /** Number of attempts so far. */
  readonly attempt: number;
  /** `random` of the last request (§5.4); undefined if none was signed. */
  readonly requestId: string | undefined;
  /**
   * The pause before the next attempt, in milliseconds: as `Retry-After` asks, otherwise longer and
   * longer.
   */
  readonly delayMs: number;
  /** Why the attempt is repeated. */
  readonly error: RejectedError | NoAnswerError;
}

/**
 * Functions for traces and metrics. Each attempt calls `onRequest`, and at its end exactly one of
 * `onResponse` and `onNoAnswer`.
 *
 * An error that a hook throws, or a rejected promise that it returns, does not affect the call: the
 * first one of a client is reported as a process warning `UserInfoHookWarning` with the code
 * `USERINFO_HOOK`.
 *
 * @example
 * const hooks: ClientHooks = { onResponse: (event) => metrics.time(event.operation, event.durationMs) };
 * const watched = new UserInfoClient({ ...options, ...hooks });
 */
export interface ClientHooks {
  /** Called before each attempt. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Called after each attempt that was answered, also by something other than an envelope. */
  readonly onResponse?: (event: ResponseEvent) => void;
  /**
   * Called after each attempt that was not: no connection, invalid HTTP, a timeout, or cancelled by
   * the caller.
   */
  readonly onNoAnswer?: (event: NoAnswerEvent) => void;
  /** Called before the pause between two attempts of a call or of a row. */
  readonly onRetry?: (event: RetryEvent) => void;
}

/**
 * A logger with the methods of pino and of console.
 *
 * @example
 * const logger: Logger = console;
 * const client = new UserInfoClient({ ...options, logger });
 */
export interface Logger {
  /**
   * Receives each attempt, and how it ended. `event` is a RequestEvent, a ResponseEvent, a
   * NoAnswerEvent or a RetryEvent; `message` is `request`, `response`, `no answer` or `retry`.
   */
  debug(event: object, message: string): void;
  /** Receives what is a process warning without a logger. `event` is `{ code }`, its code. */
  warn(event: object, message: string): void;
  /** Spares the work for what is not logged. */
  isLevelEnabled?(level: 'debug'): boolean;
}

/**
 * A call on the channels `tracing:userinfo:call:*`. It holds no secrets and no personal data.
 *
 * @example
 * import { tracingChannel } from 'node:diagnostics_channel';
 *
 * tracingChannel<unknown, CallTrace>('userinfo:call').subscribe({
 *   start: ({ operation }) => metrics.count(operation),
 *   end() {},
 *   asyncStart() {},
 *   asyncEnd: ({ result }) => metrics.count(`after ${result?.attempts} attempts`),
 *   error: ({ error }) => console.warn(error),
 * });
 */
export interface CallTrace {
  /** The operation that is called. */
  readonly operation: OperationName;
  /** The base URL of the client, without a slash at the end. */
  readonly baseUrl: string;
  /** `context` of the call's options. */
  readonly context: unknown;
  /** The answer without its content, from `asyncStart` on. */
  result?: Pick<Answer, 'requestId' | 'attempts' | 'httpStatus'>;
  /** The error of the call, from `error` on. */
  error?: unknown;
}

const calls = tracingChannel<unknown, CallTrace>('userinfo:call');

/**
 * Publishes a call on the tracing channel `userinfo:call` of node:diagnostics_channel. Not by
 * `tracePromise`: the caller would be missing in the stack of an error.
 *
 * @throws what `call` throws
 */
export async function traceCall(trace: CallTrace, call: () => Promise<Answer>): Promise<Answer> {
  if (!calls.hasSubscribers) return call();
  return calls.start.runStores(trace, async () => {
    const outcome = call();
    calls.end.publish(trace);
    try {
      const answer = await outcome;
      const { requestId, attempts, httpStatus } = answer;
      trace.result = { requestId, attempts, httpStatus };
      return answer;
    } catch (error) {
      trace.error = error;
      calls.error.publish(trace);
      throw error;
    } finally {
      calls.asyncStart.publish(trace);
      calls.asyncEnd.publish(trace);
    }
  });
}

/** The log entry of each hook. */
const messages = {
  onRequest: 'request',
  onResponse: 'response',
  onNoAnswer: 'no answer',
  onRetry: 'retry',
} as const;

/**
 * The hooks and the logger of one client. An error in one of them never ends a call, a run or the
 * process.
 */
export class Hooks {
  readonly #hooks: ClientHooks;
  readonly #logger: Logger | undefined;
  readonly #warned = new Set<WarningType>();

  constructor(hooks: ClientHooks & { readonly logger?: Logger }) {
    this.#hooks = hooks;
    this.#logger = hooks.logger;
  }

  /** Calls the logger and a hook, if there are any, each with an event that `event` returns. */
  emit<Name extends keyof ClientHooks>(
    name: Name,
    event: () => Parameters<Required<ClientHooks>[Name]>[0],
  ): void {
    const hooks = this.#hooks;
    const logger = this.#logger;
    const hook = hooks[name] as ((event: unknown) => unknown) | undefined;
    if (logger !== undefined) {
      this.#guard('the logger', () => {
        if (logger.isLevelEnabled?.('debug') === false) return undefined;
        return logger.debug(event(), messages[name]);
      });
    }
    if (hook !== undefined) this.#guard(`the hook ${name}`, () => hook.call(hooks, event()));
  }

  /** Reports something once: to the logger, otherwise as a process warning. */
  warn(type: WarningType, message: string): void {
    if (this.#warned.has(type)) return;
    this.#warned.add(type);
    const logger = this.#logger;
    const code = warningCodes[type];
    // The global: to import node:process as a module opens the standard streams.
    const emit = () => process.emitWarning(message, { type, code });
    if (logger === undefined) emit();
    else (async () => logger.warn({ code }, message))().catch(emit);
  }

  /**
   * Calls a function of the caller at once; what it throws, or a promise that it returns, does not
   * affect the call.
   */
  #guard(what: string, call: () => unknown): void {
    (async () => call())().catch((error: unknown) =>
      this.warn(
        'UserInfoHookWarning',
        `${what} of a UserInfoClient failed: ${messageOf(error)}; its calls are not affected`,
      ),
    );
  }
}

const warningCodes = {
  UserInfoHookWarning: 'USERINFO_HOOK',
  UserInfoSecretWarning: 'USERINFO_SECRET',
  UserInfoDoubtWarning: 'USERINFO_DOUBT',
} as const;
type WarningType = keyof typeof warningCodes;

function messageOf(error: unknown): string {
  try {
    const { message = typeof error } = (error ?? {}) as { readonly message?: unknown };
    return quoteName(String(message ?? typeof error));
  } catch {
    return 'with an error that has no text';
  }
}

/** Visible characters of a signature: enough to compare two. */
const shownDigits = 8;

/** The parameters of a signed request, masked. */
export function showParameters({ target, body }: SignedRequest): [name: string, shown: string][] {
  const query = target.slice(target.indexOf('?'));
  const pairs = [...new URLSearchParams(query), ...new URLSearchParams(body ?? '')];
  return pairs.map(([name, value]) => [name, showParameter(name, value)]);
}

/** A parameter of a signed request, masked; `showKey` as in `maskParameter`. */
export function showParameter(
  name: string,
  value: string,
  showKey?: (key: string) => string,
): string {
  if (name === 'app_sign' || name === 'sign') return `${value.slice(0, shownDigits)}…`;
  return maskParameter(name, value, showKey);
}

/** @internal The fields of a `ResponseEvent` that come from the answer, masked. */
export function showAnswer(
  wireAnswer: WireAnswer,
  outcome: AttemptOutcome,
  hide: (text: string) => string,
): Pick<ResponseEvent, 'httpStatus' | 'resultCode' | 'headers' | 'envelope'> {
  const { httpStatus } = wireAnswer;
  const headers: [name: string, value: string][] = [];
  for (const name of shownHeaders) {
    const value = headerOf(wireAnswer.headers, name);
    if (!value) continue;
    const isUrl = name === 'location';
    headers.push([name, isUrl ? hide(value.replace(/\?.*/s, '')) : value]);
  }
  const answer = isSuccess(outcome) ? outcome : outcome.answer;
  if (answer === undefined)
    return { httpStatus, headers, resultCode: undefined, envelope: undefined };
  const body = hide(new TextDecoder().decode(answer.body));
  const isHidden = (key: string) => !shownKeys.includes(key);
  const envelope = maskJson(body, isHidden, (key) => key === 'msg');
  return { httpStatus, headers, resultCode: answer.envelope.code, envelope };
}

const shownHeaders = ['content-type', 'date', 'retry-after', 'location'] as const;
/** The keys of an envelope whose values are shown. */
const shownKeys: readonly string[] = ['code', 'msg', 'data', 'union_id'];
