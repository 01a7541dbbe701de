import { isAscii } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { type Envelope, parseEnvelope } from '../protocol/envelope.js';
import { resultCode } from '../protocol/result-codes.js';
import { quoteName } from '../protocol/text.js';
import { NoAnswerError } from './errors.js';
import type { AttemptOutcome } from './retry.js';

/** An answer of the service: the envelope, and the bytes that it came in. */
export interface Answer<E extends Envelope<unknown> = Envelope> {
  readonly envelope: E;
  /** The body as received: numbers, key order and escapes are untouched. UTF-8. */
  readonly body: Uint8Array;
  readonly httpStatus: number;
  /** The `Date` header of the answer, for comparing clocks. */
  readonly date: string | undefined;
}

/** Any HTTP answer. Headers are as received; a missing content type is the empty string. */
export interface WireAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  readonly body: Buffer;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the answer of `host`. The envelope decides, whatever the HTTP status (§7.2). `unionId` is the user that a
 * passback named; a success for another user is an error.
 */
export function parseAnswer(received: WireAnswer, host: string, unionId: string | undefined): AttemptOutcome {
  const { httpStatus, body, date } = received;
  const envelope = parseBody(received);
  if ('fault' in envelope) {
    return new NoAnswerError(
      `${host} answered HTTP ${httpStatus} with ${describeBody(received, envelope.fault)}`,
      {
        reason: 'not-envelope',
        received: true,
        httpStatus,
        hint: 'Check that the base URL is that of the service: a proxy or another site may have answered.',
      },
    );
  }
  const fault = envelope.code === resultCode.ok ? dataFault(envelope.data, unionId) : null;
  const answer = { envelope, body, httpStatus, date };
  if (fault === null) return answer;
  return new NoAnswerError(`${host} answered ${envelope.code}, but ${fault}`, {
    reason: 'wrong-data',
    received: true,
    httpStatus,
    answer,
    hint: 'Whether the request was carried out is not known: ask the operator of the service.',
  });
}

/** §4.1, §4.2: the data of a success names the user; after a passback, the user that the request named. */
function dataFault({ union_id }: Record<string, unknown>, unionId: string | undefined): string | null {
  if (typeof union_id !== 'string' || union_id === '') return 'without the union_id of a user';
  if (unionId === undefined || unionId === union_id) return null;
  return 'for another user than the request names';
}

/** An encoded body is not decoded: no encoding was requested, and a few bytes may stand for very many. */
function parseBody({ contentEncoding, body }: WireAnswer): ReturnType<typeof parseEnvelope> {
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    return { fault: `a body encoded as ${quoteName(contentEncoding)}, which was not requested` };
  }
  try {
    return parseEnvelope(isAscii(body) ? body.toString('latin1') : utf8.decode(body));
  } catch {
    return { fault: 'a body that is not UTF-8' };
  }
}

/**
 * Describes an answer that is not an envelope: an HTML page by its title, anything else by type and size. The body
 * itself may hold personal data and is not quoted.
 */
function describeBody(answer: WireAnswer, fault: string): string {
  const parts = [fault];
  if (answer.body.length > 0) {
    const type = answer.contentType.split(';')[0]?.trim() || 'no content type';
    parts.push(`${quoteName(type).slice(1, -1)}, ${answer.body.length} bytes`);
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(Buffer.from(answer.body.subarray(0, 4096)).toString())?.[1];
  if (title !== undefined) parts.push(`titled ${quoteName(title.trim())}`);
  if (answer.location !== undefined)
    parts.push(`pointing to ${quoteName(answer.location.split('?')[0] ?? '')}`);
  return parts.join(', ');
}

/** Maximum size of an answer's body, in bytes. A larger one is not an envelope, and is not read to its end. */
export const maxAnswerBytes = 16 * 1024 * 1024;

/** Error code of an answer larger than `maxAnswerBytes`. */
export const tooLongCode = 'ANSWER_TOO_LONG';

/** Error code of a request whose listener threw while it handled the answer. */
export const failedListenerCode = 'ANSWER_LISTENER_FAILED';

/**
 * Receives the outcome of one request: `answered` or `failed` is called, once. If `answered` throws, `failed` is
 * called too.
 */
export interface AnswerListener {
  /** The request is being written to a connection: from now on it may arrive. */
  started(): void;
  answered(answer: WireAnswer): void;
  failed(error: unknown): void;
}

/** Collects one answer, up to `maxAnswerBytes`, from undici. */
export class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #listener: AnswerListener;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Omit<WireAnswer, 'body'> | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #aborted: Error | undefined;
  #settled = false;

  constructor(listener: AnswerListener) {
    this.#listener = listener;
  }

  /** Abandons the request: it is not written if it was not yet, and `failed` is called now. */
  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
    this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted !== undefined) controller.abort(this.#aborted);
    else this.#listener.started();
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    this.#head = {
      httpStatus,
      contentType: header('content-type') ?? '',
      contentEncoding: header('content-encoding') ?? '',
      date: header('date'),
      retryAfter: header('retry-after'),
      location: header('location'),
    };
    this.#refuseBeyond(Number(header('content-length')));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    this.#refuseBeyond(this.#size);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#head === undefined) return;
    this.#settled = true;
    const { httpStatus, contentType, contentEncoding, date, retryAfter, location } = this.#head;
    const body = this.#body();
    try {
      this.#listener.answered({ httpStatus, contentType, contentEncoding, date, retryAfter, location, body });
    } catch (cause) {
      // undici would swallow the error, and the request would never end.
      this.#listener.failed(
        Object.assign(new Error('handling the answer failed', { cause }), { code: failedListenerCode }),
      );
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** An answer that came in one chunk, as nearly all do, is not copied. */
  #body(): Buffer {
    const [first, second] = this.#chunks;
    return first !== undefined && second === undefined ? first : Buffer.concat(this.#chunks);
  }

  #refuseBeyond(bytes: number): void {
    if (bytes <= maxAnswerBytes || Number.isNaN(bytes)) return;
    this.abort(Object.assign(new Error('the answer is too long'), { code: tooLongCode }));
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks = [];
    this.#listener.failed(error);
  }
}
