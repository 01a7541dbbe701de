import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { envelopeContentType, formatFailure } from '../../protocol/envelope.js';
import { httpStatusOf, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import type { InFlight } from './connections.js';
import type { Responder } from './responder.js';

/** How long a refused connection may keep sending, in milliseconds: closed at once, it would lose the answer. */
const lingerMs = 1000;

/** Answers what Node's server rejects, or would answer without an envelope, before there is a request. */
export class ParserErrors {
  readonly #inFlight: InFlight;
  readonly #responder: Responder;
  readonly #now: () => number;

  /** `now` returns milliseconds since 1970. */
  constructor(server: Server, inFlight: InFlight, responder: Responder, now: () => number) {
    this.#inFlight = inFlight;
    this.#responder = responder;
    this.#now = now;
    server.on('connect', (_: IncomingMessage, socket: Duplex) =>
      this.#answer(socket, 'CONNECT', resultCode.noSuchPath),
    );
    // RFC 9110 §10.1.1: an unknown expectation may be ignored.
    server.on('checkExpectation', (request, answer) => server.emit('request', request, answer));
  }

  /** Answers a connection that sent something other than a request, or sent it too slowly. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (this.#inFlight.isAnswered(socket)) hangUp(socket, '');
    else this.#answer(socket, 'an unreadable request', codeFor(error));
  }

  #answer(socket: Duplex, operation: string, code: ResultCode): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.on('error', () => socket.destroy());
    // Earlier requests on the same connection are answered first.
    const earlier = this.#inFlight.awaitedOn(socket);
    if (earlier !== undefined) {
      earlier.once('close', () => this.#answer(socket, operation, code));
      return;
    }
    this.#responder.logAnswer({ operation }, code, undefined, 0);
    const status = httpStatusOf(code);
    const body = formatFailure(code);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${envelopeContentType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Date: ${new Date(this.#now()).toUTCString()}`,
      'Connection: close',
    ];
    hangUp(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
  }
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
