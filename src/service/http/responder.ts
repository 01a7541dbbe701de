import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../database/errors.js';
import { envelopeContentType, formatFailure, formatSuccess } from '../../protocol/envelope.js';
import { InvalidInputError, type RefusalDetail } from '../../protocol/errors.js';
import { maskQuotedNames, maskText } from '../../protocol/masking.js';
import type { Parameters } from '../../protocol/parameters.js';
import type { PassbackUser } from '../../protocol/passback.js';
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
import type { App } from '../store/apps.js';
import type { Rejection, RequestRing } from '../workbench/request-ring.js';
import { networkOf, plainAddress } from './connections.js';
import { RefusedError } from './refusal.js';

/** The facts about a request while it is handled. */
export interface RequestInfo {
  /** `read`, `passback`, or method and path of any other request. */
  readonly operation: string;
  /** Absent if the request was not parsed. */
  readonly parameters?: Parameters;
  /** The app that the request names; absent or `null` if it is unknown. */
  app?: App | null;
  /** The user that it is about, as far as that is known. */
  user?: PassbackUser;
  /** Whether the signatures are valid. */
  isAuthenticated?: boolean;
  /** Who sent it; absent if it was not parsed. */
  source?: RequestSource;
}

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
  readonly #ageOf: (answer: ServerResponse) => number;
  readonly #ring: RequestRing | null;

  /**
   * `ageOf` returns how long ago the request of an answer arrived, in milliseconds; `ring` keeps the last answers
   * for the workbench, if it is enabled.
   */
  constructor(context: ServiceContext, ageOf: (answer: ServerResponse) => number, ring: RequestRing | null) {
    this.#context = context;
    this.#ageOf = ageOf;
    this.#ring = ring;
  }

  sendData(reply: FastifyReply, info: RequestInfo, data: object): FastifyReply {
    const { values } = this.#context.settings.platform;
    const body = formatSuccess(data, values);
    return this.#send(reply, info, { code: resultCode.ok, status: 200, body, means: 'ok' });
  }

  sendCode(reply: FastifyReply, info: RequestInfo, code: ResultCode, msg?: string): FastifyReply {
    return this.sendError(reply, info, new RefusedError(code, msg === undefined ? {} : { msg }));
  }

  /** Details of an internal error go to the log, not into the answer. */
  sendError(reply: FastifyReply, info: RequestInfo, failure: unknown): FastifyReply {
    const error = this.#throttled(reply, info, failure);
    const { code, msg, detail } = refusalOf(error);
    if (error instanceof RefusedError && error.details.retryAfter !== undefined) {
      reply.header('retry-after', error.details.retryAfter);
    }
    return this.#send(reply, info, this.refuse(code, msg, detail), { error, msg });
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
    reply: FastifyReply,
    info: RequestInfo,
    answer: Answer,
    failure?: { readonly error: unknown; readonly msg: string | undefined },
  ): FastifyReply {
    // When the answer is sent or aborted, before other listeners run.
    reply.raw.prependOnceListener('close', () => {
      const rejection = failure === undefined ? null : this.#logReason(failure.error, reply.request.id);
      info.source = sourceOf(reply);
      this.logAnswer(info, answer, failure?.msg, this.#ageOf(reply.raw), rejection);
    });
    return reply.code(answer.status).header('content-type', envelopeContentType).send(answer.body);
  }

  /**
   * The error itself, or the one that replaces it if the address had too many refused requests. Authenticated
   * requests are neither counted nor affected: all clients of a proxy share its address.
   */
  #throttled(reply: FastifyReply, info: RequestInfo, error: unknown): unknown {
    if (info.isAuthenticated || httpStatusOf(refusalOf(error).code) >= 500) return error;
    const seconds = this.#context.failureLimit?.take(networkOf(clientOf(reply.request))) ?? 0;
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

  /** Logs an answer that is sent by other means. `ms` is how long the request took. */
  logAnswer(
    info: RequestInfo,
    { body: _, ...answer }: Answer,
    msg: string | undefined,
    ms: number,
    rejection: Rejection | null = null,
  ): void {
    const event: AnsweredEvent = {
      event: 'request',
      operation: info.operation,
      app_key: shownClaim(info, 'app_key'),
      tenant_code: shownClaim(info, 'tenant_code'),
      ...answer,
      msg: maskQuotedNames(msg ?? messageOf(resultCode[answer.means])),
      ...this.#digestOf(info),
      ms,
      ...info.source,
    };
    this.#context.log(event);
    const { parameters, app = null } = info;
    this.#ring?.add(event, rejection, parameters === undefined ? null : { parameters, app });
  }

  #digestOf({ user, parameters }: RequestInfo): Pick<AnsweredEvent, 'user_digest'> {
    const tenantCode = parameters?.get('tenant_code');
    if (user === undefined || tenantCode === undefined) return {};
    return { user_digest: this.#context.store.digestOf(tenantCode, user) };
  }
}

function sourceOf({ request }: FastifyReply): RequestSource {
  const { id } = traceOf(request.headers);
  const trace = id === undefined ? {} : { trace_id: id };
  return { request_id: request.id, ...trace, client: clientOf(request) };
}

/**
 * The address of the client, without a port; that of the connection where a trusted proxy forwards no address. Empty
 * if the client closed the connection before it was read.
 */
function clientOf({ ip = '', socket }: FastifyRequest): string {
  const forwarded = ip.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  const address = isIP(forwarded) ? forwarded : (socket.remoteAddress ?? '');
  return plainAddress(address);
}

/**
 * The W3C trace context of a request, https://www.w3.org/TR/trace-context/, if it is valid: that of a later version,
 * which may be longer, as one of version 00.
 */
export function traceOf({ traceparent }: IncomingHttpHeaders): { traceparent?: string; id?: string } {
  const form = /^(?!ff)([\da-f]{2})-((?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2})(-.*)?$/;
  const [, version, parent, id, rest] = form.exec(String(traceparent)) ?? [];
  if (id === undefined || (version === '00' && rest !== undefined)) return {};
  return { traceparent: `00-${parent}`, id };
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
function shownClaim({ parameters, app }: RequestInfo, name: 'app_key' | 'tenant_code'): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}
