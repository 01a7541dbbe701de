import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { StoreUnavailableError } from '../../database/errors.js';
import { envelopeContentType, formatFailure, formatSuccess } from '../../protocol/envelope.js';
import { InvalidInputError, type RefusalDetail } from '../../protocol/errors.js';
import { maskQuotedNames, maskText } from '../../protocol/masking.js';
import { platformRefusal } from '../../protocol/result-code-table.js';
import {
  httpStatusOf,
  messageOf,
  nameOf,
  type ResultCode,
  type ResultCodeName,
  resultCode,
} from '../../protocol/result-codes.js';
import type { ServiceContext } from '../context.js';
import { type AnsweredEvent, logFault, type RequestSource } from '../log.js';
import { explainRejection } from '../rejection.js';
import type { Rejection, RequestRing } from '../workbench/request-ring.js';
import { addressRanges, isAmong, networkOf, plainAddress } from './connections.js';
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

/** Sends envelopes, and logs each answer after it is sent, so that its timing reveals nothing to the caller. */
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
    const { values } = this.#context.settings.platform;
    const body = formatSuccess(data, values);
    this.#send(exchange, { code: resultCode.ok, status: 200, body, means: 'ok' });
  }

  sendCode(exchange: HttpExchange, code: ResultCode, msg?: string): void {
    this.sendError(exchange, new RefusedError(code, msg === undefined ? {} : { msg }));
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

  /** The answer with which the platform refuses what this project refuses with `code`. */
  refuse(code: ResultCode, own?: string, detail?: RefusalDetail): Answer {
    const { platform } = this.#context.settings;
    const {
      code: shown,
      msg = own ?? messageOf(code),
      httpStatus,
    } = platformRefusal(code, platform.result_codes, platform.http_status, detail);
    const body = formatFailure(shown, msg, platform.refusal_data);
    return { code: shown, status: httpStatus, body, means: nameOf(code) };
  }

  #send(
    exchange: HttpExchange,
    answer: Answer,
    failure?: { readonly error: unknown; readonly msg: string | undefined },
  ): void {
    const { reply, request, id, traceId, cameAt } = exchange;
    // When the answer is sent or aborted, before other listeners run.
    reply.prependOnceListener('close', () => {
      const rejection = failure === undefined ? null : this.#logReason(failure.error, id);
      const trace = traceId === undefined ? {} : { trace_id: traceId };
      const source = { request_id: id, ...trace, client: this.#clientOf(request) };
      // To the microsecond.
      const ms = Math.round(1000 * (this.#context.steadyNow() - cameAt)) / 1000;
      this.logAnswer(exchange, answer, failure?.msg, ms, rejection, source);
    });
    exchange.deliver({ status: answer.status, type: envelopeContentType, body: answer.body });
  }

  /**
   * The error itself, or the one that replaces it if the address had too many refused requests. Authenticated
   * requests are neither counted nor affected: all clients of a proxy share its address.
   */
  #throttled({ request, isAuthenticated }: HttpExchange, error: unknown): unknown {
    if (isAuthenticated || httpStatusOf(refusalOf(error).code) >= 500) return error;
    const seconds = this.#context.failureLimit(networkOf(this.#clientOf(request)));
    return seconds === 0 ? error : new RefusedError(resultCode.tooManyRequests, { retryAfter: seconds });
  }

  /** Logs more about a failure than its answer says; returns the explanation of a wrong signature. */
  #logReason(error: unknown, request_id: string): Rejection | null {
    logFault(this.#context.log, error, { request_id });
    if (!(error instanceof RefusedError) || error.details.rejected === undefined) return null;
    const { rejected } = error.details;
    const explained = explainRejection(rejected);
    this.#context.log(explained);
    return { explained, rejected };
  }

  /** Logs an answer, which may be sent by other means. `ms` is how long the request took. */
  logAnswer(
    request: LoggedRequest,
    { status, code, means }: Answer,
    msg: string | undefined,
    ms: number,
    rejection: Rejection | null = null,
    source?: RequestSource,
  ): void {
    const { operation, parameters, app = null } = request;
    const user_digest = this.#digestOf(request);
    const event: AnsweredEvent = {
      event: 'request',
      operation,
      app_key: shownClaim(request, 'app_key'),
      tenant_code: shownClaim(request, 'tenant_code'),
      code,
      status,
      means,
      msg: maskQuotedNames(msg ?? messageOf(resultCode[means])),
      ...(user_digest !== undefined && { user_digest }),
      ms,
      ...source,
    };
    this.#context.log(event);
    this.#ring?.add(event, rejection, parameters === undefined ? null : { parameters, app });
  }

  /**
   * The address of the client, without a port: the last forwarded address that is not a trusted proxy's, or else that
   * of the connection. Empty if the client closed the connection before it was read.
   */
  #clientOf({ headers, socket }: IncomingMessage): string {
    const { remoteAddress = '' } = socket;
    const proxies = this.#proxies;
    if (proxies === null || !isAmong(proxies, remoteAddress)) return plainAddress(remoteAddress);
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    const forwarded = hops.map((hop) => hop.trim()).filter((hop) => hop !== '');
    const nearest = forwarded.findLast((hop) => !isAmong(proxies, hop)) ?? forwarded[0] ?? '';
    const address = nearest.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
    return plainAddress(isIP(address) ? address : remoteAddress);
  }

  #digestOf({ user, parameters }: LoggedRequest): string | undefined {
    const tenantCode = parameters?.get('tenant_code');
    if (user === undefined || tenantCode === undefined) return undefined;
    return this.#context.store.digestOf(tenantCode, user);
  }
}

/** The code and `msg` of a failure: 50001 without details for an unexpected error. */
function refusalOf(error: unknown): {
  readonly code: ResultCode;
  readonly msg?: string;
  readonly detail?: RefusalDetail | undefined;
} {
  if (error instanceof InvalidInputError)
    return { code: error.resultCode, msg: error.message, detail: error.detail };
  if (error instanceof RefusedError) return { code: error.resultCode, msg: error.message };
  return { code: error instanceof StoreUnavailableError ? error.resultCode : resultCode.internal };
}

/** Values that belong to no app may be anything, such as a secret in the wrong place. */
function shownClaim({ parameters, app }: LoggedRequest, name: 'app_key' | 'tenant_code'): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}
