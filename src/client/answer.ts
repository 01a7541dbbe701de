import { isAscii } from 'node:buffer';
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
