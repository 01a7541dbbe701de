import type { Endpoint } from '../../core/contract/endpoints.js';
import { certificateFault } from '../../core/support/errors.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import { NoAnswerError, type NoAnswerReason } from './errors.js';
import type { HttpProxy } from './proxy.js';

/**
 * A proxy did not let a request through. The message completes "the proxy, which …". The error has
 * a code of its own: for those of undici the pool would open the next connection at once.
 */
export class TunnelError extends Error {
  readonly code = 'ERR_PROXY_TUNNEL';
  /** The HTTP status of the proxy, if it answered. */
  readonly httpStatus: number | undefined;

  constructor(message: string, cause?: Error, httpStatus?: number) {
    super(message, { cause });
    this.httpStatus = httpStatus;
  }

  static refused(httpStatus: number): TunnelError {
    return new TunnelError(`answered HTTP ${httpStatus}`, undefined, httpStatus);
  }
}

/** What an error of the transport means, and what is said of it. */
interface Failure {
  readonly reason: NoAnswerReason;
  /** Whether the service may have acted on a request that was being written. */
  readonly received: boolean;
  readonly message: (host: string) => string;
  readonly hint: string;
  /**
   * Whether the hint says no more than that it is not known whether the request was carried out.
   */
  readonly isDoubtful?: true;
}

/** Errors of undici's parser have this name, but not always a code. */
const notHttp = 'HTTPParserError';

/**
 * A service that wants a certificate may close the connection after it was opened, without a word.
 */
const certificateAdvice =
  'If it never answers: the service may want a client certificate (options cert and key; --client-cert, --client-key).';

const proxyHint = 'Check the proxy, and whether this host should be reached through it.';

/** The default, if no code says more. */
const connectionLost: Failure = {
  reason: 'reset',
  received: true,
  message: (host) => `${host} closed the connection before its answer was complete`,
  hint: 'Whether the request was carried out is not known.',
  isDoubtful: true,
};

/**
 * The connection closed before the whole request was written: the service cannot have acted on it.
 */
const notSent: Failure = {
  reason: 'reset',
  received: false,
  message: (host) => `${host} closed the connection before the request was sent`,
  hint: 'Try again: the request cannot have been carried out.',
};

/** `codes` are the codes of errors of Node or undici. */
const failures: readonly (Failure & { readonly codes: RegExp })[] = [
  {
    reason: 'dns',
    codes: /^(?:ENOTFOUND|EAI_AGAIN)$/,
    received: false,
    message: (host) => `cannot resolve the host name of ${host}`,
    hint: 'Check the base URL, and the network.',
  },
  {
    reason: 'connect',
    codes:
      /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EACCES|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)$/,
    received: false,
    message: (host) => `cannot connect to ${host}`,
    hint: 'Check the base URL, and that the service is running there.',
  },
  {
    reason: 'connect',
    codes: /^(?:EMFILE|ENFILE|ENOBUFS)$/,
    received: false,
    message: (host) => `cannot open another connection to ${host}`,
    hint: 'This machine or process is out of descriptors: use fewer connections, or raise the limit (ulimit -n).',
  },
  {
    reason: 'tls',
    codes: new RegExp(`TLS|SSL|EPROTO|${certificateFault.source}`),
    received: false,
    message: (host) => `no secure connection to ${host}`,
    hint: 'Check the certificate of the service, and whether the base URL should be http or https.',
  },
  {
    reason: 'timeout',
    codes: /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/,
    received: true,
    message: (host) => `${host} stopped answering`,
    hint: 'Try again, or increase the timeout.',
  },
  {
    ...connectionLost,
    reason: 'not-envelope',
    codes: /^UND_ERR_HEADERS_OVERFLOW$/,
    message: (host) => `${host} answered with more than 16 KiB of headers`,
  },
  {
    reason: 'not-envelope',
    // undici asserts that nothing but what it asked for is answered: no status 000, no 101.
    codes: new RegExp(`^(?:${notHttp}|HPE_.*|ERR_ASSERTION|UND_ERR_RES_EXCEEDED_MAX_SIZE)$`),
    received: true,
    message: (host) => `${host} answered with something that is not HTTP`,
    hint: 'Check the base URL: its port, and whether it should be http or https.',
  },
];

/** The request that failed, and how far it got. */
interface FailedRequest {
  /** Whether the sockets are the client's own, not those of a dispatcher of the caller. */
  readonly isOwn?: boolean;
  /**
   * Whether it may be that the service closes connections because they show no client certificate.
   */
  readonly mayWantCertificate?: boolean;
  /** With the proxy, as `nameHost` names it. */
  readonly host: string;
  readonly proxy: HttpProxy | null;
  /** Whether the request was being written to a connection. */
  readonly started: boolean;
  /** Undefined for a step that sends no request. */
  readonly endpoint?: Endpoint;
}

/** Translates an error of the transport. */
export function toNoAnswerError(
  error: NodeJS.ErrnoException,
  request: FailedRequest,
): NoAnswerError {
  const { host, proxy, started } = request;
  if (error instanceof TunnelError) return tunnelRefused(host, error);
  const code = codeOf(error);
  if (code === '' && request.isOwn === true && isOfRuntime(error)) return noSockets(host, error);
  const failure = findFailure(error, code, started);
  const { reason, message } = failure;
  const shownCode = code === '' || code === notHttp ? '' : ` (${code})`;
  const cause = withoutData(error, code);
  if (proxy !== null && !started && reason !== 'tls') {
    const details = { reason: 'proxy', received: false, hint: proxyHint, cause } as const;
    return new NoAnswerError(`cannot reach ${host}${shownCode}`, details);
  }
  const received = failure.received && started;
  const hints = [hintOf(failure, received, request)];
  if (reason === 'reset' && request.mayWantCertificate === true) hints.push(certificateAdvice);
  const details = { reason, received, hint: hints.join(' '), cause };
  return new NoAnswerError(message(host) + shownCode, details);
}

/** The code by which the table of failures knows an error; empty if it has none. */
function codeOf({ name, code }: NodeJS.ErrnoException): string {
  if (name === notHttp) return notHttp;
  return typeof code === 'string' ? code : '';
}

/**
 * Whether an error without a code, of the client's own sockets, comes from the runtime: that of a
 * socket names its system call.
 */
function isOfRuntime({ syscall, name }: NodeJS.ErrnoException): boolean {
  return syscall === undefined && name !== 'AbortError';
}

function noSockets(host: string, cause: Error): NoAnswerError {
  return new NoAnswerError(`the request to ${host} cannot be sent by this runtime`, {
    reason: 'runtime',
    received: false,
    hint: 'The cause says why. userinfo-exchange needs the sockets of Node, Bun or Deno: call it from a server.',
    cause,
  });
}

function tunnelRefused(host: string, error: TunnelError): NoAnswerError {
  const { httpStatus, message } = error;
  const passwordHint =
    'Check the proxy, and its user name and password: http://user:password@host:port.';
  const details = withoutUndefined({
    reason: 'proxy' as const,
    received: false,
    httpStatus,
    hint: httpStatus === 407 ? passwordHint : proxyHint,
    cause: error,
  });
  return new NoAnswerError(`cannot reach ${host}, which ${message}`, details);
}

/**
 * The next step: where it is not known whether the request was carried out, the doubt of its
 * operation, unless it may be repeated and the failure says how.
 */
function hintOf(failure: Failure, received: boolean, { endpoint }: FailedRequest): string {
  if (!received || endpoint === undefined) return failure.hint;
  if (failure.isDoubtful) return endpoint.doubt;
  const mayFollowHint = endpoint.repeatable || failure.reason === 'not-envelope';
  return mayFollowHint ? failure.hint : endpoint.doubt;
}

function findFailure(error: NodeJS.ErrnoException, code: string, started: boolean): Failure {
  const failure = failures.find(({ codes }) => codes.test(code));
  if (failure !== undefined) return failure;
  return started && error.syscall !== 'write' ? connectionLost : notSent;
}

/**
 * undici's parser adds the bytes that it could not parse to its error: they may hold personal data.
 */
function withoutData(error: Error, code: string): Error {
  if (!('data' in error)) return error;
  return Object.assign(new Error(error.message), { code });
}
