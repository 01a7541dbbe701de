import { isAscii } from 'node:buffer';
import { parseEnvelope } from '../protocol/envelope.js';
import { quoteName } from '../protocol/text.js';
import { describeBody } from './describe-body.js';
import { NoAnswerError } from './errors.js';
import type { AttemptOutcome } from './retry.js';
import type { WireAnswer } from './transport.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Takes what came back from `host` for the envelope that it should be: that decides, whatever the HTTP status (§7.2). */
export function takeAnswer(received: WireAnswer, host: string): AttemptOutcome {
  const { httpStatus, body, date } = received;
  const envelope = parseBody(received);
  if (!('fault' in envelope)) return { envelope, body, httpStatus, date };
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

/** What is encoded is not decoded: none was asked for, and a few bytes may stand for very many. */
function parseBody({ contentEncoding, body }: WireAnswer): ReturnType<typeof parseEnvelope> {
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    return { fault: `a body encoded as ${quoteName(contentEncoding)}, which was not asked for` };
  }
  try {
    return parseEnvelope(isAscii(body) ? body.toString('latin1') : utf8.decode(body));
  } catch {
    return { fault: 'a body that is not UTF-8' };
  }
}
