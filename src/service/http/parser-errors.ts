import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { jsonContentType } from '../../core/contract/envelope.js';
import { type ResultCode, resultCode } from '../../core/contract/result-codes.js';
import type { InFlight } from './connections.js';
import type { Responder } from './responder.js';

/**
 * Time for which a refused connection may keep sending, in milliseconds: closed at once, it would
 * lose the answer.
 */
const lingerMs = 1000;

/**
 * Answers what Node's server rejects, or would answer without an envelope, before there is a
 * request: returns what answers a connection that sent something other than a request, or sent it
 * too slowly. `now` returns milliseconds since 1970.
 */
export function answerParserErrors(
  server: Server,
  inFlight: InFlight,
  responder: Responder,
  now: () => number,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const answer = (socket: Duplex, operation: string, code: ResultCode): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.on('error', () => socket.destroy());
    // Earlier requests on the same connection are answered first.
    const earlier = inFlight.awaitedOn(socket);
    if (earlier !== undefined) {
      earlier.once('close', () => answer(socket, operation, code));
      return;
    }
    const refusal = responder.refuse(code);
    const { status, body } = refusal;
    // Browsers open connections ahead that they never use: no request, and no line in the log.
    if (!hasSentNothing(socket)) responder.logAnswer({ operation }, refusal, { ms: 0 });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${jsonContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Date: ${new Date(now()).toUTCString()}`,
      'Connection: close',
    ];
    hangUp(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
  };
  server.on('connect', (_: IncomingMessage, socket: Duplex) =>
    answer(socket, 'CONNECT', resultCode.noSuchPath),
  );
  // RFC 9110 §10.1.1: an unknown expectation may be ignored.
  server.on('checkExpectation', (request, reply) => server.emit('request', request, reply));
  const refused = new WeakSet<Duplex>();
  return (error, socket) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Whatever else it sends is an error, too.
    if (refused.has(socket)) return;
    refused.add(socket);
    if (inFlight.isAnswered(socket)) hangUp(socket, '');
    else answer(socket, 'an unreadable request', codeFor(error));
  };
}

function hasSentNothing(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

/** Ends a connection with some last bytes, and closes it soon even if the client keeps sending. */
function hangUp(socket: Duplex, bytes: string): void {
  socket.end(bytes);
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function codeFor({ code }: NodeJS.ErrnoException): ResultCode {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return resultCode.tooLarge;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return resultCode.tooSlow;
    default:
      return resultCode.malformedParameter;
  }
}
