import type { Dispatcher } from 'undici';
import type { WireAnswer } from './answer.js';

/** A body beyond this is no envelope; it is not read to its end. */
export const maxAnswerBytes = 16 * 1024 * 1024;

/** The code of the error that an answer beyond `maxAnswerBytes` ends with. */
export const tooLongCode = 'ANSWER_TOO_LONG';

/** The code of the error that a request ends with where taking its answer fails. */
export const notTakenCode = 'ANSWER_NOT_TAKEN';

/** What becomes of one request: `answered` or `failed` is called, once; after an `answered` that throws, `failed` too. */
export interface AnswerListener {
  /** A connection is there, and the request is being written: from now on it may arrive. */
  started(): void;
  answered(answer: WireAnswer): void;
  failed(error: unknown): void;
}

/** Takes in one answer, up to `maxAnswerBytes`, as undici hands it over. */
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

  /** Gives the request up: it is not written any more where it was not yet, and `failed` is called now. */
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
      // undici would swallow it, and nobody would ever hear of this request again.
      this.#listener.failed(
        Object.assign(new Error('the answer could not be taken', { cause }), { code: notTakenCode }),
      );
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** What came in one piece, as nearly all answers do, is not copied. */
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
