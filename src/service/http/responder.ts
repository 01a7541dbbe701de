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

/** What was asked, and by whom, as far as it is known when it is answered. */
export interface Asked {
  /** `read`, `passback`, or what was asked for instead: method and path. */
  readonly operation: string;
  /** None where the request was not looked into. */
  readonly parameters?: Parameters;
  /** The app that the request names; absent or `null` where none is known. */
  readonly app?: App | null;
  /** Whether the app has signed the request. */
  readonly isAuthenticated?: boolean;
}

/** Answers with envelopes, and logs each answer once it is sent: how long that takes tells the caller nothing. */
export class Responder {
  readonly #log: Log;
  readonly #ageOf: (answer: ServerResponse) => number;
  readonly #ring: RequestRing | null;
  readonly #failureLimit: TokenBuckets | null;

  /**
   * `ageOf` tells for how long an answer has been awaited, in milliseconds; `ring` keeps the last answers for the
   * workbench, where there is one; `failureLimit` is how often requests of an address may be refused before they are
   * known to be an app's.
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

  sendData(reply: FastifyReply, asked: Asked, data: object): FastifyReply {
    this.#logOnceSent(reply, asked, resultCode.ok);
    return send(reply, resultCode.ok, formatSuccess(data));
  }

  sendCode(reply: FastifyReply, asked: Asked, code: ResultCode, msg?: string): FastifyReply {
    const excess = this.#excessOf(reply, asked, code);
    if (excess !== null) return this.#sendExcess(reply, asked, excess);
    this.#logOnceSent(reply, asked, code, msg);
    return send(reply, code, formatFailure(code, msg));
  }

  /** What there is to say of a fault goes to the log, not into the answer. */
  sendError(reply: FastifyReply, asked: Asked, error: unknown): FastifyReply {
    const { code, msg } = refusalOf(error);
    const excess = error instanceof TooManyRequestsError ? error : this.#excessOf(reply, asked, code);
    if (excess !== null) return this.#sendExcess(reply, asked, excess);
    onceSent(reply, () => {
      const rejection = this.#logReason(error);
      this.logAnswer(asked, code, msg, this.#ageOf(reply.raw), rejection);
    });
    return send(reply, code, formatFailure(code, msg));
  }

  /**
   * What a request is refused with in place of `code` where its address has had too many refused. Whoever signs right
   * is not counted, and not held up: a proxy has one address for all that it passes on.
   */
  #excessOf(reply: FastifyReply, asked: Asked, code: ResultCode): TooManyRequestsError | null {
    if (asked.isAuthenticated || httpStatusOf(code) >= 500) return null;
    const seconds = this.#failureLimit?.take(reply.request.socket.remoteAddress ?? '') ?? 0;
    return seconds === 0 ? null : new TooManyRequestsError(seconds);
  }

  #sendExcess(reply: FastifyReply, asked: Asked, { resultCode: code, retryAfter }: TooManyRequestsError) {
    this.#logOnceSent(reply, asked, code);
    return send(reply.header('retry-after', retryAfter), code, formatFailure(code));
  }

  #logOnceSent(reply: FastifyReply, asked: Asked, code: ResultCode, msg?: string): void {
    onceSent(reply, () => this.logAnswer(asked, code, msg, this.#ageOf(reply.raw)));
  }

  /** What the operator should know of a failure beside its answer; gives what there is to say of a signature. */
  #logReason(error: unknown): Rejection | null {
    if (!(error instanceof WrongSignatureError)) {
      logFault(this.#log, error);
      return null;
    }
    const explained = explainRejection(error.rejected);
    this.#log(explained);
    return { explained, rejected: error.rejected };
  }

  /** A line for an answer that is sent by other means. `ms` is how long it was awaited. */
  logAnswer(
    asked: Asked,
    code: ResultCode,
    msg: string | undefined,
    ms: number,
    rejection: Rejection | null = null,
  ): void {
    const event: RequestEvent = {
      event: 'request',
      operation: asked.operation,
      app_key: shownClaim(asked, 'app_key'),
      tenant_code: shownClaim(asked, 'tenant_code'),
      status: httpStatusOf(code),
      code,
      msg: maskQuotedNames(msg ?? messageOf(code)),
      ms,
    };
    this.#log(event);
    this.#ring?.add(event, rejection);
  }
}

/** What is no app's may be anything: the secret in the place of the key, say. */
function shownClaim({ parameters, app }: Asked, name: 'app_key' | 'tenant_code'): string | null {
  const claimed = parameters?.get(name);
  if (claimed === undefined) return null;
  return app?.[name] === claimed ? claimed : maskText(claimed);
}

/** Calls back when an answer is sent, or broken off: before anybody else is told, and it is no longer in flight. */
function onceSent({ raw }: FastifyReply, call: () => void): void {
  raw.prependOnceListener('close', call);
}

function send(reply: FastifyReply, code: ResultCode, envelope: string): FastifyReply {
  return reply.code(httpStatusOf(code)).header('content-type', envelopeContentType).send(envelope);
}
