import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { envelopeContentType, formatFailure, formatSuccess } from '../../protocol/envelope.js';
import { maskQuotedNames, maskText } from '../../protocol/masking.js';
import type { Parameters } from '../../protocol/parameters.js';
import { httpStatusOf, messageOf, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import { type Log, logFault, type RequestEvent } from '../log.js';
import { explainRejection } from '../rejection.js';
import type { App } from '../store/apps.js';
import type { Rejection, RequestRing } from '../workbench/request-ring.js';
import { refusalOf, TooManyRequestsError, WrongSignatureError } from './refusal.js';
import type { TokenBuckets } from './token-bucket.js';

/** What is known about a request when it is answered. */
export interface RequestInfo {
  /** `read`, `passback`, or method and path of any other request. */
  readonly operation: string;
  /** Absent if the request was not parsed. */
  readonly parameters?: Parameters;
  /** The app that the request names; absent or `null` if it is unknown. */
  readonly app?: App | null;
  /** Whether the signatures are valid. */
  readonly isAuthenticated?: boolean;
}

/** Sends envelopes, and logs each answer after it is sent, so that its timing reveals nothing to the caller. */
export class Responder {
  readonly #log: Log;
  readonly #ageOf: (answer: ServerResponse) => number;
  readonly #ring: RequestRing | null;
  readonly #failureLimit: TokenBuckets | null;

  /**
   * `ageOf` returns how long ago the request of an answer arrived, in milliseconds; `ring` keeps the last answers
   * for the workbench, if it is enabled; `failureLimit` is the rate at which requests of an address may be refused
   * before they are authenticated.
   */
  constructor(
    log: Log,
    ageOf: (answer: ServerResponse) => number,
    ring: RequestRing | null,
    failureLimit: TokenBuckets | null,
  ) {
    this.#log = log;
    this.#ageOf = ageOf;
    this.#ring = ring;
    this.#failureLimit = failureLimit;
  }

  sendData(reply: FastifyReply, info: RequestInfo, data: object): FastifyReply {
    this.#logOnceSent(reply, info, resultCode.ok);
    return send(reply, resultCode.ok, formatSuccess(data));
  }

  sendCode(reply: FastifyReply, info: RequestInfo, code: ResultCode, msg?: string): FastifyReply {
    const excess = this.#throttle(reply, info, code);
    if (excess !== null) return this.#sendThrottled(reply, info, excess);
    this.#logOnceSent(reply, info, code, msg);
    return send(reply, code, formatFailure(code, msg));
  }

  /** Details of an internal error go to the log, not into the answer. */
  sendError(reply: FastifyReply, info: RequestInfo, error: unknown): FastifyReply {
    const { code, msg } = refusalOf(error);
    const excess = error instanceof TooManyRequestsError ? error : this.#throttle(reply, info, code);
    if (excess !== null) return this.#sendThrottled(reply, info, excess);
    onceSent(reply, () => {
      const rejection = this.#logReason(error);
      this.logAnswer(info, code, msg, this.#ageOf(reply.raw), rejection);
    });
    return send(reply, code, formatFailure(code, msg));
  }

  /**
   * The error that replaces `code` if the address had too many refused requests. Authenticated requests are
   * neither counted nor affected: all clients of a proxy share its address.
   */
  #throttle(reply: FastifyReply, info: RequestInfo, code: ResultCode): TooManyRequestsError | null {
    if (info.isAuthenticated || httpStatusOf(code) >= 500) return null;
    const seconds = this.#failureLimit?.take(reply.request.socket.remoteAddress ?? '') ?? 0;
    return seconds === 0 ? null : new TooManyRequestsError(seconds);
  }

  #sendThrottled(
    reply: FastifyReply,
    info: RequestInfo,
    { resultCode: code, retryAfter }: TooManyRequestsError,
  ) {
    this.#logOnceSent(reply, info, code);
    return send(reply.header('retry-after', retryAfter), code, formatFailure(code));
  }

  #logOnceSent(reply: FastifyReply, info: RequestInfo, code: ResultCode, msg?: string): void {
    onceSent(reply, () => this.logAnswer(info, code, msg, this.#ageOf(reply.raw)));
  }

  /** Logs more about a failure than its answer says; returns the explanation of a wrong signature. */
  #logReason(error: unknown): Rejection | null {
    if (!(error instanceof WrongSignatureError)) {
      logFault(this.#log, error);
      return null;
    }
    const explained = explainRejection(error.rejected);
    this.#log(explained);
    return { explained, rejected: error.rejected };
  }

  /** Logs an answer that is sent by other means. `ms` is how long the request took. */
  logAnswer(
    info: RequestInfo,
    code: ResultCode,
    msg: string | undefined,
    ms: number,
    rejection: Rejection | null = null,
  ): void {
    const event: RequestEvent = {
      event: 'request',
      operation: info.operation,
      app_key: shownClaim(info, 'app_key'),
      tenant_code: shownClaim(info, 'tenant_code'),
      status: httpStatusOf(code),
      code,
      msg: maskQuotedNames(msg ?? messageOf(code)),
      ms,
    };
    this.#log(event);
    this.#ring?.add(event, rejection);
  }
}

/** Values that belong to no app may be anything, such as a secret in the wrong place. */
function shownClaim({ parameters, app }: RequestInfo, name: 'app_key' | 'tenant_code'): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}

/** Calls back when an answer is sent or aborted, before other listeners run. */
function onceSent({ raw }: FastifyReply, call: () => void): void {
  raw.prependOnceListener('close', call);
}

function send(reply: FastifyReply, code: ResultCode, envelope: string): FastifyReply {
  return reply.code(httpStatusOf(code)).header('content-type', envelopeContentType).send(envelope);
}
