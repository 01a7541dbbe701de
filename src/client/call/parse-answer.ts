import {
  type NotEnvelope,
  type ParsedEnvelope,
  parseEnvelope,
} from '../../core/contract/envelope.js';
import { quoteName } from '../../core/contract/errors.js';
import { missingInfoNames } from '../../core/contract/info-names.js';
import { isPersonalName, maskWords } from '../../core/contract/masking.js';
import { readDataWarnings, toReadData } from '../../core/contract/read-data.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import { isObject } from '../../core/support/json.js';
import { type Answer, headerOf, type WireAnswer } from './answer.js';
import { decodeBody } from './decode-body.js';
import { NoAnswerError, RejectedError } from './errors.js';
import { type AttemptOutcome, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import type { SignedRequest } from './sign-request.js';

/** What an answer is parsed with. */
interface AnswerContext {
  readonly request: SignedRequest;
  /** The number of the attempt. */
  readonly attempt: number;
  readonly sender: Pick<Sender, 'host' | 'resultCodes' | 'platform'>;
  /** Hides what was sent in the texts of errors. */
  readonly hide: (text: string) => string;
}

/** Parses the answer to an attempt. The envelope decides, whatever the HTTP status (§7.2). */
export function parseAnswer(wireAnswer: WireAnswer, context: AnswerContext): AttemptOutcome {
  const decoded = decodeBody(wireAnswer);
  const parsed = 'fault' in decoded ? decoded : parseText(decoded);
  const decodedAnswer = { ...wireAnswer, body: decoded.body };
  if ('fault' in parsed) return notEnvelope(decodedAnswer, parsed, context);
  const answer = toAnswer(decodedAnswer, parsed, context);
  if (answer.envelope.code === resultCode.ok) return checkedSuccess(answer, context);
  return rejectionOf(answer, context);
}

/** The outcome of an answer without an envelope. */
function notEnvelope(
  wireAnswer: WireAnswer,
  parsed: NotEnvelope,
  { request, sender, hide }: AnswerContext,
): NoAnswerError {
  const description = describeBody(wireAnswer, parsed, hide);
  const message = `${sender.host} answered HTTP ${wireAnswer.httpStatus} with ${description}`;
  return new NoAnswerError(message, {
    ...wireAnswer,
    reason: 'not-envelope',
    received: true,
    hint: notEnvelopeHint(wireAnswer, request, parsed.members),
  });
}

/** The answer of an envelope; the data of a successful read have the types of §4.1. */
function toAnswer(
  { httpStatus, headers, body }: WireAnswer,
  { envelope, warnings }: ParsedEnvelope,
  { request, attempt, sender, hide }: AnswerContext,
): Answer {
  const { code, msg, data: sentData } = envelope;
  const isOk = code === resultCode.ok;
  const isRead = isOk && request.endpoint.success === 'information';
  const { infoNames, random } = request;
  const { platform } = sender;
  const data = isRead ? toReadData(sentData, platform) : sentData;
  const dataWarnings = isRead ? readDataWarnings(sentData, infoNames, platform) : [];
  return {
    envelope: { code, msg: isOk ? msg : hide(msg), data },
    data,
    body,
    httpStatus,
    headers,
    date: headerOf(headers, 'date'),
    requestId: random,
    attempts: attempt,
    warnings: [...warnings, ...dataWarnings],
    missing: missingInfoNames(infoNames, sentData),
  };
}

/** The outcome of an answer with the code 200. */
function checkedSuccess(answer: Answer, { request, sender }: AnswerContext): AttemptOutcome {
  const fault = dataFault(answer.data, request, sender.platform);
  if (fault === null) return answer;
  const message = `${sender.host} answered ${answer.envelope.code}, but ${fault}`;
  return wrongData(message, answer, wrongDataHint(request));
}

/** The outcome of an answer with another code. */
function rejectionOf(answer: Answer, { sender }: AnswerContext): AttemptOutcome {
  const { code, msg, data } = answer.envelope;
  const entry = sender.resultCodes.get(code);
  if (entry !== undefined || !namesUser(data)) return new RejectedError({ answer, entry });
  const message = `${sender.host} answered ${code} ${quoteName(maskWords(msg))}, but it names the user`;
  return wrongData(message, answer, otherSuccessHint);
}

function wrongData(message: string, answer: Answer, hint: string): NoAnswerError {
  const { httpStatus, headers, body } = answer;
  return new NoAnswerError(message, {
    reason: 'wrong-data',
    received: true,
    httpStatus,
    headers,
    body,
    answer,
    hint,
  });
}

/** The advice of a doubt, to try again, does not help here: the same request is answered alike. */
function wrongDataHint({ endpoint }: SignedRequest): string {
  if (endpoint.repeatable)
    return 'Whether the request was carried out is not known: ask the operator of the service.';
  return `${endpoint.doubt} Ask the operator of the service.`;
}

/** The envelope of a text. Of a damaged one only ASCII counts: the code, and data of a success. */
function parseText({
  text,
  damage,
}: {
  readonly text: string;
  readonly damage?: string;
}): ParsedEnvelope | NotEnvelope {
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

/** The hint of an answer that names the user, without the 200 of a success. */
const otherSuccessHint =
  'The request may have been carried out: this platform may use a success code other than 200 (§7.1). Ask its operator.';

function namesUser({ union_id }: Readonly<Record<string, unknown>>): boolean {
  return (typeof union_id === 'string' && union_id !== '') || Number.isInteger(union_id);
}

/** Explains what an answer that is not an envelope means for its request, and the next step. */
function notEnvelopeHint(
  { httpStatus, headers, body }: WireAnswer,
  { endpoint }: SignedRequest,
  members: Readonly<Record<string, unknown>> = {},
): string {
  const { data } = members;
  if (namesUser(isObject(data) ? data : members)) return otherSuccessHint;
  if (httpStatus === 429) {
    const fault = 'Too many requests: this one was not carried out.';
    const pauseMs = parseRetryAfter(headers, Date.now());
    if (pauseMs === undefined) return `${fault} Try again later.`;
    return `${fault} Try again in ${Math.ceil(pauseMs / 1000)} s.`;
  }
  if (httpStatus === 401 || httpStatus === 403)
    return 'A gateway before the service may want a header, such as a key: name it under "headers" in the platform file.';
  if (httpStatus >= 502 && httpStatus <= 504)
    return `A gateway answered, not the service. ${endpoint.doubt}`;
  // It may be of a service that did the work: another form of success, or a fault after it.
  const sentences = httpStatus < 300 || httpStatus >= 500 ? [endpoint.doubt] : [];
  if ((httpStatus < 300 && body.length === 0) || String(members.code) === '200')
    sentences.push('The answer is not as §1 says: ask the operator of the service.');
  else
    sentences.push(
      'Check that the base URL is that of the service: a proxy or another site may have answered.',
    );
  return sentences.join(' ');
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

/** Maximum length of a text that says what an answer is about, in characters. */
const maxTellingLength = 200;
/** Maximum number of members of an answer that are shown. */
const maxTellingMembers = 6;

/**
 * Describes an answer that is not an envelope: JSON by its short texts and numbers, an HTML page by
 * its title, anything else by type and size. What may be personal data is masked or left out.
 */
function describeBody(
  { headers, body }: Pick<WireAnswer, 'headers' | 'body'>,
  { fault, members = {} }: NotEnvelope,
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
  const isTelling = isRecord ? isErrorName : isPlainName;
  const described: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    const text = isTelling(name) ? tellingText(value, hide) : null;
    if (text !== null) described.push(`${name} ${text}`);
    else if (name === 'error' && isObject(value))
      described.push(...describeMembers({ ...value, error: undefined }, hide));
  }
  return described.slice(0, maxTellingMembers);
}

function isErrorName(name: string): boolean {
  return /^(?:code|msg|message|error)$/i.test(name);
}

function isPlainName(name: string): boolean {
  return /^\w{1,30}$/.test(name) && !/^data$|name$/i.test(name);
}

/** A short text, a number or a boolean, masked; `null` for any other value. */
function tellingText(value: unknown, hide: (text: string) => string): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return maskWords(String(value));
  if (typeof value !== 'string' || value.length > maxTellingLength) return null;
  const isJson = /^\s*[[{]/.test(value);
  return isJson ? null : quoteName(maskWords(hide(value)));
}
