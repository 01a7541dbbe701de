import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { maskPath } from '../../core/contract/masking.js';
import type { Parameters } from '../../core/contract/parameters.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import type { App } from '../store/apps.js';

/** An answer, without the headers that all answers have. */
export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request, what is known of it, and how it is answered. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  /** Path and query, as sent. */
  readonly target: string;
  readonly path: string;
  /** What follows the `?`. */
  readonly query: string;
  /** The ID that the client gave, else that of its trace, else a new one. */
  readonly id: string;
  /** From the header `traceparent`, if it is valid. */
  readonly traceId: string | undefined;
  /** When it arrived, in milliseconds of the monotonic clock of the service. */
  readonly cameAt: number;
  /** `read`, `passback`, or method and path of any other request. */
  operation: string;
  /** Undefined if the request was not parsed. */
  parameters: Parameters | undefined;
  /** The app that the request names; `null` if it is unknown. */
  app: App | null = null;
  /** The user that it is about, as far as that is known. */
  user: PassbackUser | undefined;
  /** Whether the signatures are valid. */
  isAuthenticated = false;
  /** Headers that the answer has besides its own. */
  readonly headers: Record<string, string> = {};
  /** Empty until it is read, and for operations without one. */
  body: Buffer = Buffer.alloc(0);
  /** Sends the answer: another way for faults that are injected. */
  deliver: (answer: HttpAnswer) => void = (answer) => this.#deliver(answer);

  readonly #isLast: (reply: ServerResponse) => boolean;

  /** `isLast` tells whether the connection is closed after an answer. */
  constructor(
    request: IncomingMessage,
    reply: ServerResponse,
    cameAt: number,
    isLast: (reply: ServerResponse) => boolean,
  ) {
    this.request = request;
    this.reply = reply;
    this.cameAt = cameAt;
    this.#isLast = isLast;
    this.target = originForm(request.url ?? '/');
    const [path = '', ...rest] = this.target.split('?');
    this.path = path;
    this.operation = `${request.method} ${maskPath(path)}`;
    this.query = rest.join('?');
    const trace = traceOf(request.headers);
    this.traceId = trace?.id;
    this.id = requestIdIn(request.headers) ?? this.traceId ?? randomUUID();
    if (trace !== null) this.headers.traceparent = trace.traceparent;
  }

  /** Head and body are one write. */
  #deliver({ status, type, body, headers }: HttpAnswer): void {
    const { reply } = this;
    if (reply.headersSent) return;
    if (this.#isLast(reply)) reply.shouldKeepAlive = false;
    const head: Record<string, string | number> = { 'content-type': type, 'x-request-id': this.id };
    if (status !== 204) head['content-length'] = Buffer.byteLength(body);
    reply.writeHead(status, Object.assign(head, this.headers, headers)).end(body);
  }
}

/** RFC 9112 §3.2.2: the target of a request may be a whole URL. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*\/?/i, '/');
}

/** The ID that the client gave; `null` for none, and for one that is long or has odd characters. */
function requestIdIn({ 'x-request-id': id }: IncomingHttpHeaders): string | null {
  return typeof id === 'string' && /^[\w.:/+=-]{1,128}$/.test(id) ? id : null;
}

/** The `traceparent` of an answer, and the ID of its trace. */
interface Trace {
  readonly traceparent: string;
  readonly id: string;
}

const traceForm =
  /^(?!ff)(?<version>[\da-f]{2})-(?<parent>(?!0{32})(?<id>[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2})(?<rest>-.*)?$/;

/**
 * The W3C trace context of a request, https://www.w3.org/TR/trace-context/: that of a later
 * version, which may be longer, as one of version 00. `null` if it is missing or invalid.
 */
function traceOf({ traceparent }: IncomingHttpHeaders): Trace | null {
  const { version, parent, id, rest } = traceForm.exec(String(traceparent))?.groups ?? {};
  if (id === undefined || (version === '00' && rest !== undefined)) return null;
  return { traceparent: `00-${parent}`, id };
}

/**
 * The body of a request: `null` if the client has gone, `'too large'` beyond `maxBytes`, which is
 * known at once if the request says its length.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too large' | null> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length']) > maxBytes) {
      resolve('too large');
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      resolve('too large');
    });
    request.once('end', () => {
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    request.once('close', () => resolve(null));
  });
}
