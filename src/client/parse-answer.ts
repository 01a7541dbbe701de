import { isAscii } from 'node:buffer';
import { parseEnvelope } from '../protocol/envelope.js';
import { splitInfoNames } from '../protocol/info-names.js';
import { readDataFault } from '../protocol/read-data.js';
import { type ResultCodeTable, resultCode } from '../protocol/result-codes.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { headerOf, type WireAnswer } from './answer.js';
import { NoAnswerError, RejectedError } from './errors.js';
import type { SignedRequest } from './request.js';
import type { AttemptOutcome } from './retry.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses the answer to the attempt with this number. The envelope decides, whatever the HTTP status (§7.2). */
export function parseAnswer(
  received: WireAnswer,
  request: SignedRequest,
  attempt: number,
  { host, resultCodes }: { readonly host: string; readonly resultCodes: ResultCodeTable },
): AttemptOutcome {
  const { httpStatus, headers, body } = received;
  const envelope = parseBody(received);
  if ('fault' in envelope) {
    return new NoAnswerError(
      `${host} answered HTTP ${httpStatus} with ${describeBody(received, envelope.fault)}`,
      {
        reason: 'not-envelope',
        received: true,
        httpStatus,
        headers,
        hint: 'Check that the base URL is that of the service: a proxy or another site may have answered.',
      },
    );
  }
  const { data } = envelope;
  const date = headerOf(headers, 'date');
  const requestId = request.random;
  const answer = { envelope, data, body, httpStatus, headers, date, requestId, attempts: attempt };
  if (envelope.code !== resultCode.ok) return new RejectedError(answer, resultCodes);
  const fault = dataFault(data, request);
  if (fault === null) return answer;
  return new NoAnswerError(`${host} answered ${envelope.code}, but ${fault}`, {
    reason: 'wrong-data',
    received: true,
    httpStatus,
    headers,
    answer,
    hint: 'Whether the request was carried out is not known: ask the operator of the service.',
  });
}

/**
 * §4.1, §4.2: the data of a success names the user; after a passback, the user that the request named; that of a
 * read has the types of §4.1.
 */
function dataFault(
  data: Record<string, unknown>,
  { endpoint, unionId, infoNames }: SignedRequest,
): string | null {
  const { union_id } = data;
  if (typeof union_id !== 'string' || union_id === '') return 'without the union_id of a user';
  if (unionId !== undefined && unionId !== union_id) return 'for another user than the request names';
  return endpoint.operation === 'read' ? readDataFault(data, splitInfoNames(infoNames)) : null;
}

/** An encoded body is not decoded: no encoding was requested, and a few bytes may stand for very many. */
function parseBody({ headers, body }: WireAnswer): ReturnType<typeof parseEnvelope> {
  const encoding = headerOf(headers, 'content-encoding');
  if (encoding && encoding.toLowerCase() !== 'identity') {
    return { fault: `a body encoded as ${quoteName(encoding)}, which was not requested` };
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
function describeBody({ headers, body }: WireAnswer, fault: string): string {
  const parts = [fault];
  if (body.length > 0) {
    const type = headerOf(headers, 'content-type')?.split(';')[0]?.trim() || 'no content type';
    parts.push(`${quoteName(type).slice(1, -1)}, ${body.length} bytes`);
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(body.toString('utf8', 0, 4096))?.[1];
  if (title !== undefined) parts.push(`titled ${quoteName(title.trim())}`);
  const location = headerOf(headers, 'location');
  if (location !== undefined) parts.push(`pointing to ${quoteName(location.split('?')[0] ?? '')}`);
  return parts.join(', ');
}
