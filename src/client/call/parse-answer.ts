import { parseEnvelope } from '../../core/contract/envelope.js';
import { quoteName } from '../../core/contract/errors.js';
import { isObject } from '../../core/contract/fields.js';
import { missingInfoNames } from '../../core/contract/info-names.js';
import { isPersonalName, maskWords } from '../../core/contract/masking.js';
import { readDataWarnings, toReadData } from '../../core/contract/read-data.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import { headerOf, type WireAnswer } from './answer.js';
import { decodeBody } from './decode-body.js';
import { NoAnswerError, RejectedError } from './errors.js';
import { type AttemptOutcome, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import type { SignedRequest } from './sign-request.js';

/**
 * Parses the answer to the attempt with this number. The envelope decides, whatever the HTTP status
 * (§7.2). `hide` hides what was sent in the texts of errors.
 */
export function parseAnswer(
  received: WireAnswer,
  request: SignedRequest,
  attempt: number,
  { host, resultCodes, platform }: Pick<Sender, 'host' | 'resultCodes' | 'platform'>,
  hide: (text: string) => string,
): AttemptOutcome {
  const { httpStatus, headers } = received;
  const decoded = decodeBody(received);
  const { body } = decoded;
  const parsed = 'fault' in decoded ? decoded : parseText(decoded);
  const details = { received: true, httpStatus, headers, body };
  if ('fault' in parsed) {
    const what = describeBody({ headers, body }, parsed, hide);
    return new NoAnswerError(`${host} answered HTTP ${httpStatus} with ${what}`, {
      ...details,
      reason: 'not-envelope',
      hint: hintFor(received, 'members' in parsed ? parsed.members : undefined, request),
    });
  }
  const isOk = parsed.envelope.code === resultCode.ok;
  const { code, data: sent } = parsed.envelope;
  const msg = isOk ? parsed.envelope.msg : hide(parsed.envelope.msg);
  const date = headerOf(headers, 'date');
  const requestId = request.random;
  const isRead = isOk && request.endpoint.success === 'information';
  const warnings = [
    ...parsed.warnings,
    ...(isRead ? readDataWarnings(sent, request.infoNames, platform) : []),
  ];
  const data = isRead ? toReadData(sent, platform) : sent;
  const answer = {
    envelope: { code, msg, data },
    data,
    body,
    httpStatus,
    headers,
    date,
    requestId,
    attempts: attempt,
    warnings,
    missing: missingInfoNames(request.infoNames, sent),
  };
  const isOtherSuccess = !isOk && !resultCodes.has(code) && namesUser(data);
  if (!isOk && !isOtherSuccess) return new RejectedError(answer, resultCodes);
  const fault = isOtherSuccess ? 'it names the user' : dataFault(data, request, platform);
  if (fault === null) return answer;
  const words = isOtherSuccess ? ` ${quoteName(msg)}` : '';
  return new NoAnswerError(`${host} answered ${code}${words}, but ${fault}`, {
    ...details,
    reason: 'wrong-data',
    answer,
    hint: isOtherSuccess ? otherSuccessHint : wrongDataHint(request),
  });
}

/** The advice of a doubt, to try again, does not help here: the same request is answered alike. */
function wrongDataHint({ endpoint }: SignedRequest): string {
  if (endpoint.repeatable)
    return 'Whether the request was carried out is not known: ask the operator of the service.';
  return `${endpoint.doubt} Ask the operator of the service.`;
}

type ParsedText = ReturnType<typeof parseEnvelope>;

/** The envelope of a text. Of a damaged one only ASCII counts: the code, and data of a success. */
function parseText({
  text,
  damage,
}: {
  readonly text: string;
  readonly damage?: string;
}): ParsedText {
  const parsed = parseEnvelope(text);
  if (damage === undefined) return parsed;
  if ('fault' in parsed) return { ...parsed, fault: damage };
  const { envelope, warnings } = parsed;
  if (envelope.code !== resultCode.ok) return parsed;
  if (JSON.stringify(envelope.data).includes('\ufffd')) {
    return { fault: `a success in ${damage}`, members: { code: envelope.code } };
  }
  return {
    envelope,
    warnings: [...warnings, 'the answer is not in the charset that it names, or UTF-8'],
  };
}

/** Of an answer that names the user, without the 200 of a success. */
const otherSuccessHint =
  'It may be carried out: this platform may have another code of success than 200 (§7.1). Ask its operator.';

function namesUser({ union_id }: Readonly<Record<string, unknown>>): boolean {
  return (typeof union_id === 'string' && union_id !== '') || Number.isInteger(union_id);
}

/** Explains what an answer that is not an envelope means for its request, and the next step. */
function hintFor(
  { httpStatus, headers, body }: WireAnswer,
  members: Readonly<Record<string, unknown>> = {},
  { endpoint }: SignedRequest,
): string {
  const { data } = members;
  if (namesUser(isObject(data) ? data : members)) return otherSuccessHint;
  if (httpStatus === 429) {
    const pauseMs = parseRetryAfter(headers, Date.now());
    const when = pauseMs === undefined ? 'later' : `in ${Math.ceil(pauseMs / 1000)} s`;
    return `Too many requests: this one was not carried out. Try again ${when}.`;
  }
  if (httpStatus === 401 || httpStatus === 403)
    return 'A gateway before the service may want a header, such as a key: name it under "headers" in the platform file.';
  if (httpStatus >= 502 && httpStatus <= 504)
    return `A gateway answered, not the service. ${endpoint.doubt}`;
  // It may be of a service that did the work: another form of success, or a fault after it.
  const doubt = httpStatus < 300 || httpStatus >= 500 ? `${endpoint.doubt} ` : '';
  if ((httpStatus < 300 && body.length === 0) || String(members.code) === '200')
    return `${doubt}The answer is not as §1 says: ask the operator of the service.`;
  return `${doubt}Check that the base URL is that of the service: a proxy or another site may have answered.`;
}

/**
 * §4.1, §4.2: the data of a success names the user; after a passback, the user that the request
 * named.
 */
function dataFault(
  data: Record<string, unknown>,
  { unionId }: SignedRequest,
  { passback_union_id }: Platform,
): string | null {
  const { union_id } = data;
  if (typeof union_id !== 'string' || union_id === '') return 'without the union_id of a user';
  const isOther = unionId !== undefined && unionId !== union_id;
  if (isOther && passback_union_id === 'same') return 'for another user than the request names';
  return null;
}

/** Maximum length of a text that says what an answer is about, and how many are shown. */
const tellingLimits = { characters: 200, members: 6 };

/**
 * Describes an answer that is not an envelope: JSON by its short texts and numbers, an HTML page by
 * its title, anything else by type and size. What may be personal data is masked or left out.
 */
function describeBody(
  { headers, body }: Pick<WireAnswer, 'headers' | 'body'>,
  {
    fault,
    members = {},
  }: { readonly fault: string; readonly members?: Readonly<Record<string, unknown>> },
  hide: (text: string) => string,
): string {
  const parts = [fault, ...describeMembers(members, hide)];
  if (body.length > 0) {
    const type = headerOf(headers, 'content-type')?.split(';')[0]?.trim() || 'no content type';
    parts.push(`${quoteName(type).slice(1, -1)}, ${body.length} bytes`);
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(hide(body.toString('utf8', 0, 4096)))?.[1];
  if (title !== undefined) parts.push(`titled ${quoteName(title.trim())}`);
  const location = headerOf(headers, 'location');
  if (location !== undefined)
    parts.push(`pointing to ${quoteName(hide(location.split('?')[0] ?? ''))}`);
  return parts.join(', ');
}

/**
 * `code "A001"`, `errmsg "bad sign"`; of an `error` that is an object, its members. No user's data,
 * no JSON.
 */
function describeMembers(
  members: Readonly<Record<string, unknown>>,
  hide: (text: string) => string,
): string[] {
  if (namesUser(members)) return [];
  const isRecord = Object.keys(members).some(isPersonalName);
  const told = Object.entries(members).flatMap(([name, value]) => {
    const isTelling = isRecord
      ? /^(?:code|msg|message|error)$/i.test(name)
      : /^\w{1,30}$/.test(name) && !/^data$|name$/i.test(name);
    const isJson = /^\s*[[{]/.test(String(value));
    if (
      isTelling &&
      typeof value === 'string' &&
      value.length <= tellingLimits.characters &&
      !isJson
    )
      return [`${name} ${quoteName(maskWords(hide(value)))}`];
    if (isTelling && (typeof value === 'number' || typeof value === 'boolean'))
      return [`${name} ${maskWords(String(value))}`];
    return name === 'error' && isObject(value)
      ? describeMembers({ ...value, error: undefined }, hide)
      : [];
  });
  return told.slice(0, tellingLimits.members);
}
