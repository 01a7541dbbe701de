import type { Endpoint } from '../protocol/endpoints.js';
import { NoAnswerError, type NoAnswerReason } from './errors.js';
import type { HttpProxy } from './proxy.js';

interface Failure {
  readonly reason: NoAnswerReason;
  /** Whether the service may have acted on a request that was being written. */
  readonly received: boolean;
  readonly message: (host: string) => string;
  readonly hint: string;
}

/** Errors of undici's parser have this name, but not always a code. */
const notHttp = 'HTTPParserError';

/** The default, if no code says more. */
const connectionLost: Failure = {
  reason: 'reset',
  received: true,
  message: (host) => `${host} closed the connection before its answer was complete`,
  hint: 'Whether the request was carried out is not known. Try again: writing the same values twice changes nothing.',
};

/** A read differs from a passback: sent again, it may fail because it used up its code itself. */
const readHint = 'Whether the code was used is not known: if it is refused now, have a new one issued.';

/** The connection closed before the whole request was written: the service cannot have acted on it. */
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
    codes: /CERT|TLS|SSL|SIGNATURE|EPROTO/,
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
    reason: 'not-envelope',
    codes: new RegExp(`^(?:${notHttp}|HPE_.*|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_EXCEEDED_MAX_SIZE)$`),
    received: true,
    message: (host) => `${host} answered with something that is not HTTP`,
    hint: 'Check the base URL: its port, and whether it should be http or https.',
  },
];

/** The request that failed, and how far it got. */
export interface FailedRequest {
  readonly host: string;
  readonly proxy: HttpProxy | null;
  /** Whether the request was being written to a connection. */
  readonly started: boolean;
  /** Undefined for a step that sends no request. */
  readonly operation?: Endpoint['operation'];
}

/** Translates an error of the transport. */
export function toNoAnswerError(error: NodeJS.ErrnoException, request: FailedRequest): NoAnswerError {
  const { host, proxy, operation } = request;
  const code = error.name === notHttp ? notHttp : typeof error.code === 'string' ? error.code : '';
  // A proxy that refuses plain http answers the request itself and does not forward it. undici reports its HTTP status
  // 407 as an error that only the message identifies.
  const isRefused = proxy !== null && error.message.startsWith('Proxy Authentication Required');
  const started = request.started && !isRefused;
  const failure = findFailure(error, code, started);
  const { reason, message } = failure;
  const received = failure.received && started;
  const shown = code === '' || code === notHttp ? '' : ` (${code})`;
  const cause = withoutData(error, code);
  if (proxy !== null && !started && reason !== 'tls') {
    return new NoAnswerError(
      `cannot reach ${host} through the proxy ${proxy.host}${proxyFault(error.message, shown)}`,
      {
        reason: 'proxy',
        received: false,
        hint: 'Check the proxy, and whether this host should be reached through it.',
        cause,
      },
    );
  }
  const isDoubtfulRead = received && operation === 'read' && reason !== 'not-envelope';
  const hint = isDoubtfulRead ? readHint : failure.hint;
  return new NoAnswerError(message(host) + shown, { reason, received, hint, cause });
}

function findFailure(error: NodeJS.ErrnoException, code: string, started: boolean): Failure {
  const known = failures.find(({ codes }) => codes.test(code));
  if (known !== undefined) return known;
  return started && error.syscall !== 'write' ? connectionLost : notSent;
}

/** undici reports the status with which a proxy refuses a tunnel only in the message. */
function proxyFault(message: string, shown: string): string {
  const status = /\((\d{3})\)/.exec(message)?.[1];
  return status === undefined ? shown : `, which answered HTTP ${status}`;
}

/** undici's parser adds the bytes that it could not parse to its error: they may hold personal data. */
function withoutData(error: Error, code: string): Error {
  return 'data' in error ? Object.assign(new Error(error.message), { code }) : error;
}
