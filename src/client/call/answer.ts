import { isUtf8 } from 'node:buffer';
import type { Envelope } from '../../core/contract/envelope.js';
import type { ReadData } from '../../core/contract/read-data.js';

/**
 * An answer of the service: the envelope, and the bytes that it came in.
 *
 * @example
 * const answer = await client.read({ code });
 * answer.data.union_id;
 * new TextDecoder().decode(answer.body); // the JSON as it was received
 */
export interface Answer<Data = Record<string, unknown>> {
  /** `code` and `msg` as the platform sent them, and `data` of this answer. */
  readonly envelope: Envelope<Data>;
  /**
   * `data` of the envelope; of a read, with the types of §4.1. A number is one of JavaScript only
   * if that has the same value: a whole number beyond 2^53, or a decimal that JavaScript would
   * round, is text, as it was sent, at any depth, and a warning names its path.
   */
  readonly data: Data;
  /**
   * The body as received: numbers, key order and escapes are untouched. UTF-8; from another charset
   * that the `Content-Type` names it is converted, and from a `Content-Encoding` decompressed.
   */
  readonly body: Uint8Array;
  /** The HTTP status: it does not decide whether the answer is a success. */
  readonly httpStatus: number;
  /** The headers as received. */
  readonly headers: AnswerHeaders;
  /** The `Date` header of the answer, for comparing clocks. */
  readonly date: string | undefined;
  /** The `random` of the request (§5.4), by which an operator can find it. */
  readonly requestId: string;
  /** Number of requests sent. */
  readonly attempts: number;
  /**
   * Where an answer does not have the types of §1 and §4.1, such as `"mobile" is null, not text`,
   * and where a number is text because JavaScript would round it. They hold no values.
   */
  readonly warnings: readonly string[];
  /** @internal The names that the read requested and the answer does not have. */
  readonly missing?: readonly string[];
}

/** The answer of a read: its `data` has the requested names. */
export type ReadAnswer<Name extends string = never> = Answer<ReadData<Name>>;
/** The answer of a passback: its `data` names the user that was written to. */
export type PassbackAnswer = Answer<{ readonly union_id: string }>;

/**
 * The headers of an answer, as received, by their names in lower case. A header that came more than
 * once is an array. They are text from the network.
 */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** @internal Any HTTP answer. */
export interface WireAnswer {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/** The first value of a header; `name` is in lower case. */
export function headerOf(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  if (typeof value === 'object') return value[0];
  return value;
}

/**
 * The members of JSON that hold a body, at most `maxLength` characters of it: its text, trimmed; of
 * bytes that are not UTF-8, base64.
 */
export function bodyMembers(
  body: Uint8Array,
  maxLength: number,
): { readonly body: string; readonly body_encoding?: 'base64' } {
  if (isUtf8(body)) return { body: new TextDecoder().decode(body).trim().slice(0, maxLength) };
  const bytes = Buffer.from(body).subarray(0, Math.floor(maxLength / 4) * 3);
  return { body: bytes.toString('base64'), body_encoding: 'base64' };
}
