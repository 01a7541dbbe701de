import type { Answer } from '../../client/answer.js';
import { NoAnswerError, RejectedError } from '../../client/errors.js';
import { jsonTokens } from '../../protocol/json-tokens.js';
import type { RowOutcome } from '../outcome.js';

/** The keys of a results line that are ours. */
const ownKeys: readonly string[] = [
  'line',
  'outcome',
  'code',
  'msg',
  'request_id',
  'data',
  'error',
  'primary_key',
];

/** The results line of a row, from the text of `formatOutcome`. */
export function placeOutcome(
  line: number,
  userKey: string | null,
  user: string | null,
  outcome: string,
): string {
  return `{"line":${line}${formatUser(userKey, user)},${outcome}}`;
}

/** The part of a results line that identifies no user: the outcome, the last request of the row, and its data. */
export function formatOutcome(result: RowOutcome<unknown>, keepsData: boolean): string {
  const { outcome } = result;
  const head = `"outcome":"${outcome}"`;
  if (outcome === 'ok') {
    const { envelope, requestId } = result.answer;
    const data = keepsData ? dataMember(result.answer) : '';
    return `${head},"code":${envelope.code},"msg":${JSON.stringify(envelope.msg)}${idMember(requestId)}${data}`;
  }
  const { error } = result;
  if (error instanceof RejectedError) {
    const { resultCode, msg, requestId } = error;
    return `${head},"code":${resultCode},"msg":${JSON.stringify(msg)}${idMember(requestId)}`;
  }
  const text = `${head},"error":${JSON.stringify(error.message)}`;
  if (!(error instanceof NoAnswerError)) return text;
  // The read may have used the code up: keep the data of an answer that was not accepted.
  return `${text}${idMember(error.requestId)}${keepsData ? dataMember(error.answer) : ''}`;
}

function idMember(requestId: string | undefined): string {
  return requestId === undefined ? '' : `,"request_id":${JSON.stringify(requestId)}`;
}

/** The results line of a row that was in flight when its run was killed, and is not sent again. */
export function formatLostResult(line: number): string {
  const error = 'the run was stopped before an answer came; the code may be used up';
  return `{"line":${line},"outcome":"unknown","error":${JSON.stringify(error)}}`;
}

function formatUser(key: string | null, user: string | null): string {
  if (key === null || user === null) return '';
  if (!ownKeys.includes(key)) return `,${JSON.stringify(key)}:${JSON.stringify(user)}`;
  return `,"primary_key":${JSON.stringify(key)},"value":${JSON.stringify(user)}`;
}

const decoder = new TextDecoder();

function dataMember(answer: Answer | undefined): string {
  return answer === undefined ? '' : `,"data":${dataOf(decoder.decode(answer.body))}`;
}

/** The value of the last top-level `data` of an envelope, on one line, its numbers and escapes as received. */
function dataOf(json: string): string {
  let data: string[] = [];
  let depth = 0;
  let last = '';
  let isData = false;
  for (const { start, end } of jsonTokens(json)) {
    const token = json.slice(start, end);
    if (token === '}' || token === ']') depth -= 1;
    if (depth === 1 && token === ':') {
      isData = JSON.parse(last) === 'data';
      if (isData) data = [];
    } else if (depth === 1 && token === ',') isData = false;
    else if (isData && depth > 0) data.push(token);
    if (token === '{' || token === '[') depth += 1;
    last = token;
  }
  return data.join('');
}
