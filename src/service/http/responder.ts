import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { envelopeContentType, formatFailure, formatSuccess } from '../../core/contract/envelope.js';
import { InvalidInputError, type RefusalDetail } from '../../core/contract/errors.js';
import { maskQuotedNames, maskText } from '../../core/contract/masking.js';
import { platformRefusal } from '../../core/contract/result-code-table.js';
import {
  httpStatusOf,
  messageOf,
  nameOf,
  type ResultCode,
  type ResultCodeName,
  resultCode,
} from '../../core/contract/result-codes.js';
import type { ServiceContext } from '../context.js';
import { StoreUnavailableError } from '../database/errors.js';
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

/**
 * Sends envelopes, and logs each answer after it is sent, so that its timing reveals nothing to the
 * caller. `ring` keeps the last answers for the workbench, if it is enabled.
 */
export function responderOf(context: ServiceContext, ring: RequestRing | null) {
  const { platform, trustProxy } = context.settings;
  /** The trusted proxies; `null` without `trustProxy`. */
  const proxies = trustProxy === undefined ? null : addressRanges(trustProxy);

  function send(
    exchange: HttpExchange,
    answer: Answer,
    failure?: { readonly error: unknown; readonly msg: string | undefined },
  ): void {
    const { reply, request, id, traceId, cameAt } = exchange;
    // When the answer is sent or aborted, before other listeners run.
    reply.prependOnceListener('close', () => {
      const rejection = failure === undefined ? null : logReason(failure.error, id);
      const trace = traceId === undefined ? {} : { trace_id: traceId };
      const source = { request_id: id, ...trace, client: clientOf(request) };
      // To the microsecond.
      const ms = Math.round(1000 * (context.steadyNow() - cameAt)) / 1000;
      logAnswer(exchange, answer, failure?.msg, ms, rejection, source);
    });
    exchange.deliver({ status: answer.status, type: envelopeContentType, body: answer.body });
  }

  /**
   * The error itself, or the one that replaces it if the address had too many refused requests.
   * Authenticated requests are neither counted nor affected: all clients of a proxy share its
   * address.
   */
  function throttled({ request, isAuthenticated }: HttpExchange, error: unknown): unknown {
    if (isAuthenticated || httpStatusOf(refusalOf(error).code) >= 500) return error;
    const seconds = context.failureLimit(networkOf(clientOf(request)));
    return seconds === 0
      ? error
      : new RefusedError(resultCode.tooManyRequests, { retryAfter: seconds });
  }

  /**
   * Logs more about a failure than its answer says; returns the explanation of a wrong signature.
   */
  function logReason(error: unknown, request_id: string): Rejection | null {
    logFault(context.log, error, { request_id });
    if (!(error instanceof RefusedError) || error.details.rejected === undefined) return null;
    const { rejected } = error.details;
    const explained = explainRejection(rejected);
    context.log(explained);
    return { explained, rejected };
  }

  /**
   * The address of the client, without a port: the last forwarded address that is not a trusted
   * proxy's, or else that of the connection. Empty if the client closed the connection before it
   * was read.
   */
  function clientOf({ headers, socket }: IncomingMessage): string {
    const { remoteAddress = '' } = socket;
    if (proxies === null || !isAmong(proxies, remoteAddress)) return plainAddress(remoteAddress);
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    const forwarded = hops.map((hop) => hop.trim()).filter((hop) => hop !== '');
    const nearest = forwarded.findLast((hop) => !isAmong(proxies, hop)) ?? forwarded[0] ?? '';
    const address = nearest.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
    return plainAddress(isIP(address) ? address : remoteAddress);
  }

  /** Logs an answer, which may be sent by other means. `ms` is how long the request took. */
  function logAnswer(
    request: LoggedRequest,
    { status, code, means }: Answer,
    msg: string | undefined,
    ms: number,
    rejection: Rejection | null = null,
    source?: RequestSource,
  ): void {
    const { operation, parameters, app = null, user } = request;
    const tenantCode = parameters?.get('tenant_code');
    const isOfUser = user !== undefined && tenantCode !== undefined;
    const event: AnsweredEvent = {
      event: 'request',
      operation,
      app_key: shownClaim(request, 'app_key'),
      tenant_code: shownClaim(request, 'tenant_code'),
      code,
      status,
      means,
      msg: maskQuotedNames(msg ?? messageOf(resultCode[means])),
      ...(isOfUser && { user_digest: context.store.digestOf(tenantCode, user) }),
      ms,
      ...source,
    };
    context.log(event);
    ring?.add(event, rejection, parameters === undefined ? null : { parameters, app });
  }

  /** The answer with which the platform refuses what this project refuses with `code`. */
  function refuse(code: ResultCode, own?: string, detail?: RefusalDetail): Answer {
    const {
      code: shown,
      msg = own ?? messageOf(code),
      httpStatus,
    } = platformRefusal(code, platform.result_codes, platform.http_status, detail);
    const body = formatFailure(shown, msg, platform.refusal_data);
    return { code: shown, status: httpStatus, body, means: nameOf(code) };
  }

  /** Details of an internal error go to the log, not into the answer. */
  function sendError(exchange: HttpExchange, failure: unknown): void {
    const error = throttled(exchange, failure);
    const { code, msg, detail } = refusalOf(error);
    if (error instanceof RefusedError && error.details.retryAfter !== undefined) {
      exchange.headers['retry-after'] = String(error.details.retryAfter);
    }
    send(exchange, refuse(code, msg, detail), { error, msg });
  }

  return {
    sendData(exchange: HttpExchange, data: object): void {
      const body = formatSuccess(data, platform.values);
      send(exchange, { code: resultCode.ok, status: 200, body, means: 'ok' });
    },
    sendCode(exchange: HttpExchange, code: ResultCode, msg?: string): void {
      sendError(exchange, new RefusedError(code, msg === undefined ? {} : { msg }));
    },
    sendError,
    refuse,
    logAnswer,
  };
}

export type Responder = ReturnType<typeof responderOf>;

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
function shownClaim(
  { parameters, app }: LoggedRequest,
  name: 'app_key' | 'tenant_code',
): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}
