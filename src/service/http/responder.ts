import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { formatFailure, formatSuccess, jsonContentType } from '../../core/contract/envelope.js';
import { InvalidInputError, type RefusalDetail } from '../../core/contract/errors.js';
import { maskQuotedNames, maskText } from '../../core/contract/masking.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import { platformRefusal } from '../../core/contract/result-code-table.js';
import {
  defaultMsg,
  httpStatusOf,
  type ResultCode,
  type ResultCodeName,
  resultCode,
  resultCodeName,
} from '../../core/contract/result-codes.js';
import type { ServiceContext } from '../context.js';
import { StoreUnavailableError } from '../database/errors.js';
import { type AnsweredEvent, logFault, type RequestSource } from '../log.js';
import { explainRejection } from '../rejection.js';
import type { Rejection, RequestRing } from '../workbench/request-ring.js';
import { addressRanges, isAmong, networkOf, plainAddress } from './addresses.js';
import type { HttpExchange } from './exchange.js';
import { RefusedError } from './refusal.js';

/** What is logged of a request: of one that was not parsed the operation alone. */
type LoggedRequest = Pick<HttpExchange, 'operation'> &
  Partial<Pick<HttpExchange, 'parameters' | 'app' | 'user'>>;

/** An answer: its envelope, the code and HTTP status of it, and what the code means. */
interface Answer {
  readonly code: number;
  readonly status: number;
  readonly body: string;
  readonly means: ResultCodeName;
}

/** Why a request was refused. */
interface Failure {
  readonly error: unknown;
  /** The `msg` of its envelope; that of the result code if undefined. */
  readonly msg: string | undefined;
}

/** What the log says of an answer besides its codes. */
interface AnswerDetails {
  readonly msg?: string | undefined;
  /** How long the request took, in milliseconds. */
  readonly ms: number;
  readonly rejection?: Rejection | null;
  readonly source?: RequestSource;
}

/**
 * Sends envelopes, and logs each answer after it is sent, so that its timing reveals nothing to the
 * caller.
 */
export class Responder {
  readonly #context: ServiceContext;
  readonly #ring: RequestRing | null;
  /** The trusted proxies; `null` without `trustProxy`. */
  readonly #proxies: BlockList | null;

  /** `ring` keeps the last answers for the workbench, if it is enabled. */
  constructor(context: ServiceContext, ring: RequestRing | null) {
    this.#context = context;
    this.#ring = ring;
    const { trustProxy } = context.settings;
    this.#proxies = trustProxy === undefined ? null : addressRanges(trustProxy);
  }

  sendData(exchange: HttpExchange, data: object): void {
    const body = formatSuccess(data, this.#context.settings.platform.values);
    this.#send(exchange, { code: resultCode.ok, status: 200, body, means: 'ok' });
  }

  sendCode(exchange: HttpExchange, code: ResultCode, msg?: string): void {
    this.sendError(exchange, new RefusedError(code, { msg }));
  }

  /** Details of an internal error go to the log, not into the answer. */
  sendError(exchange: HttpExchange, failure: unknown): void {
    const error = this.#throttled(exchange, failure);
    const { code, msg, detail } = refusalOf(error);
    if (error instanceof RefusedError && error.details.retryAfter !== undefined) {
      exchange.headers['retry-after'] = String(error.details.retryAfter);
    }
    this.#send(exchange, this.refuse(code, msg, detail), { error, msg });
  }

  /**
   * The answer with which the platform refuses what this project refuses with `code`. `usualMsg` is
   * the `msg` where the platform has none of its own; default: that of the code.
   */
  refuse(code: ResultCode, usualMsg = defaultMsg(code), detail?: RefusalDetail): Answer {
    const { result_codes, http_status, refusal_data } = this.#context.settings.platform;
    const refusal = platformRefusal(code, result_codes, http_status, detail);
    return {
      code: refusal.code,
      status: refusal.httpStatus,
      body: formatFailure(refusal.code, refusal.msg ?? usualMsg, refusal_data),
      means: resultCodeName(code),
    };
  }

  /** Logs an answer, which may be sent by other means. */
  logAnswer(
    request: LoggedRequest,
    { status, code, means }: Answer,
    { msg, ms, rejection = null, source }: AnswerDetails,
  ): void {
    const { operation, parameters, app = null, user } = request;
    const event: AnsweredEvent = {
      event: 'request',
      operation,
      app_key: shownClaim(request, 'app_key'),
      tenant_code: shownClaim(request, 'tenant_code'),
      code,
      status,
      means,
      msg: maskQuotedNames(msg ?? defaultMsg(resultCode[means])),
      ...this.#digestOf(user, parameters?.get('tenant_code')),
      ms,
      ...source,
    };
    this.#context.log(event);
    this.#ring?.add(event, rejection, parameters === undefined ? null : { parameters, app });
  }

  #send(exchange: HttpExchange, answer: Answer, failure?: Failure): void {
    // When the answer is sent or aborted, before other listeners run.
    exchange.reply.prependOnceListener('close', () => {
      const rejection = failure === undefined ? null : this.#logReason(failure.error, exchange.id);
      this.logAnswer(exchange, answer, {
        msg: failure?.msg,
        // To the microsecond.
        ms: Math.round(1000 * (this.#context.steadyNow() - exchange.cameAt)) / 1000,
        rejection,
        source: this.#sourceOf(exchange),
      });
    });
    exchange.deliver({ status: answer.status, type: jsonContentType, body: answer.body });
  }

  /**
   * The error itself, or the one that replaces it if the address had too many refused requests.
   * Authenticated requests are neither counted nor affected: all clients of a proxy share its
   * address.
   */
  #throttled({ request, isAuthenticated }: HttpExchange, error: unknown): unknown {
    if (isAuthenticated || httpStatusOf(refusalOf(error).code) >= 500) return error;
    const seconds = this.#context.failureLimit(networkOf(this.#clientOf(request)));
    if (seconds === 0) return error;
    return new RefusedError(resultCode.tooManyRequests, { retryAfter: seconds });
  }

  /**
   * Logs more about a failure than its answer says; returns the explanation of a wrong signature.
   */
  #logReason(error: unknown, request_id: string): Rejection | null {
    const { log } = this.#context;
    logFault(log, error, { request_id });
    if (!(error instanceof RefusedError) || error.details.rejected === undefined) return null;
    const { rejected } = error.details;
    const explained = explainRejection(rejected);
    log(explained);
    return { explained, rejected };
  }

  #digestOf(
    user: PassbackUser | undefined,
    tenantCode: string | undefined,
  ): Pick<AnsweredEvent, 'user_digest'> {
    if (user === undefined || tenantCode === undefined) return {};
    return { user_digest: this.#context.store.digestOf(tenantCode, user) };
  }

  #sourceOf({ id, traceId, request }: HttpExchange): RequestSource {
    const client = this.#clientOf(request);
    if (traceId === undefined) return { request_id: id, client };
    return { request_id: id, trace_id: traceId, client };
  }

  /**
   * The address of the client, without a port: the last forwarded address that is not a trusted
   * proxy's, or else that of the connection. Empty if the client closed the connection before it
   * was read.
   */
  #clientOf({ headers, socket }: IncomingMessage): string {
    const proxies = this.#proxies;
    const { remoteAddress = '' } = socket;
    if (proxies === null || !isAmong(proxies, remoteAddress)) return plainAddress(remoteAddress);
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    const forwarded = hops.map((hop) => hop.trim()).filter((hop) => hop !== '');
    const nearest = forwarded.findLast((hop) => !isAmong(proxies, hop)) ?? forwarded[0] ?? '';
    const address = withoutPort(nearest);
    return plainAddress(isIP(address) ? address : remoteAddress);
  }
}

/** The address of `[::1]:8080` or `10.0.0.7:8080`. */
function withoutPort(hop: string): string {
  return hop.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
}

/** The code and `msg` of a failure: 50001 without details for an unexpected error. */
function refusalOf(error: unknown): {
  readonly code: ResultCode;
  readonly msg?: string;
  readonly detail?: RefusalDetail | undefined;
} {
  if (error instanceof InvalidInputError) {
    return { code: error.resultCode, msg: error.message, detail: error.detail };
  }
  if (error instanceof RefusedError) return { code: error.resultCode, msg: error.message };
  if (error instanceof StoreUnavailableError) return { code: error.resultCode };
  return { code: resultCode.internal };
}

/** Values that belong to no app may be anything, such as a secret in the wrong place. */
function shownClaim(
  { parameters, app }: LoggedRequest,
  name: 'app_key' | 'tenant_code',
): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}
