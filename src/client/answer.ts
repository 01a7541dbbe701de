import type { Envelope } from '../protocol/envelope.js';
import type { ReadData } from '../protocol/read-data.js';

/**
 * An answer of the service: the envelope, and the bytes that it came in.
 *
 * @example
 * const answer = await client.read({ code });
 * answer.data.union_id;
 * new TextDecoder().decode(answer.body); // the JSON as it was received
 */
export interface Answer<Data = Record<string, unknown>> {
  /** The envelope as the platform sent it. */
  readonly envelope: Envelope;
  /** `data` of the envelope; of a read, with the types of §4.1. */
  readonly data: Data;
  /**
   * The body as received: numbers, key order and escapes are untouched. UTF-8; from another charset that the
   * `Content-Type` names it is converted.
   */
  readonly body: Uint8Array;
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  /** The `Date` header of the answer, for comparing clocks. */
  readonly date: string | undefined;
  /** The `random` of the request (§5.4), by which an operator can find it. */
  readonly requestId: string;
  /** Number of requests sent. */
  readonly attempts: number;
  /**
   * Where `data` of a read does not have the types of §4.1, such as `"mobile" is null, not text`. They hold no values.
   */
  readonly warnings: readonly string[];
}

/** The answer of a read: its `data` has the requested names. */
export type ReadAnswer<Name extends string = never> = Answer<ReadData<Name>>;
/** The answer of a passback: its `data` names the user that was written to. */
export type PassbackAnswer = Answer<{ readonly union_id: string }>;

/**
 * The headers of an answer, as received, by their names in lower case. A header that came more than once is an array.
 * They are text from the network.
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
  return typeof value === 'object' ? value[0] : value;
}
