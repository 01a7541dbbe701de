import { bodyMembers } from '../../../../client/call/answer.js';
import { NoAnswerError, RejectedError } from '../../../../client/call/errors.js';
import type { RowOutcome } from '../../../../client/rows/outcome.js';
import { memberText } from '../../../../core/contract/json-tokens.js';

/** The keys of a results line that are ours. */
const ownKeys: readonly string[] = [
  'line',
  'outcome',
  'code',
  'msg',
  'request_id',
  'data',
  'body',
  'body_encoding',
  'error',
  'primary_key',
];

/**
 * Whether rows have the names of results lines: the output of a run is the input of another one.
 */
export function isResultLine(names: ReadonlySet<string>): boolean {
  return names.has('line') && names.has('outcome') && (names.has('code') || names.has('error'));
}

/** The results line of a row, from the text of `formatOutcome`. */
export function formatResult(
  line: number,
  userKey: string | null,
  user: string | null,
  outcome: string,
): string {
  return `{"line":${line}${formatUser(userKey, user)},${outcome}}`;
}

/**
 * The part of a results line that identifies no user: the outcome, the last request of the row, and
 * its data.
 */
export function formatOutcome(result: RowOutcome<unknown>, keepsData: boolean): string {
  const { outcome } = result;
  const head = `"outcome":"${outcome}"`;
  if (outcome === 'ok') {
    const { answer } = result;
    const { envelope, requestId } = answer;
    const start = `${head},"code":${envelope.code},"msg":${shortText(envelope.msg)}`;
    const line = `${start}${idMember(requestId)}`;
    return keepsData ? `${line}${receivedMember({ answer, body: undefined })}` : line;
  }
  const { error } = result;
  if (error instanceof RejectedError) {
    const { resultCode, msg, requestId } = error;
    return `${head},"code":${resultCode},"msg":${shortText(msg)}${idMember(requestId)}`;
  }
  const text = `${head},"error":${JSON.stringify(error.message)}`;
  if (!(error instanceof NoAnswerError)) return text;
  const line = `${text}${idMember(error.requestId)}`;
  // The read may have used the code up: keep what came with it.
  return keepsData ? `${line}${receivedMember(error)}` : line;
}

function idMember(requestId: string | undefined): string {
  return requestId === undefined ? '' : `,"request_id":${shortText(requestId)}`;
}

/** Maximum length of what a platform says of a row, in characters: each row has it. */
const maxWords = 1_000;

function shortText(text: string): string {
  return JSON.stringify(text.slice(0, maxWords));
}

/**
 * Why the outcome is unknown of a row that was in flight when its run was killed, and is not sent
 * again.
 */
export const lostReason = 'the run was stopped before an answer came; the code may be used up';

export function formatLostResult(line: number): string {
  return `{"line":${line},"outcome":"unknown","error":${JSON.stringify(lostReason)}}`;
}

/**
 * Why a row is not ok: `40401 no such user`, or the message of an error. `result` is its results
 * line.
 */
export function reasonOf(result: string): string {
  const { code, msg, error } = JSON.parse(result);
  return error ?? `${code} ${msg}`;
}

function formatUser(key: string | null, user: string | null): string {
  if (key === null || user === null) return '';
  if (!ownKeys.includes(key)) return `,${JSON.stringify(key)}:${JSON.stringify(user)}`;
  return `,"primary_key":${JSON.stringify(key)},"value":${JSON.stringify(user)}`;
}

/** Maximum length of a body that is not an envelope in the results, in characters. */
const maxBody = 65_536;

/** The data of an answer as received; the body of one that is not an envelope. */
function receivedMember({ answer, body }: Pick<NoAnswerError, 'answer' | 'body'>): string {
  if (answer !== undefined)
    return `,"data":${memberText(new TextDecoder().decode(answer.body), 'data') ?? 'null'}`;
  if (body === undefined || body.length === 0) return '';
  return `,${JSON.stringify(bodyMembers(body, maxBody)).slice(1, -1)}`;
}
