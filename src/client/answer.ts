import type { Envelope } from '../protocol/envelope.js';

/** What the service said: the envelope, and the bytes it came in. */
export interface Answer<E extends Envelope<unknown> = Envelope> {
  readonly envelope: E;
  /** The body as received: numbers, key order and escapes are untouched. UTF-8. */
  readonly body: Uint8Array;
  readonly httpStatus: number;
  /** The `Date` header of the answer, for comparing clocks. */
  readonly date: string | undefined;
}
