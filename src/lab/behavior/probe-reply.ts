import { resultCode } from '../../core/contract/result-codes.js';
import { isObject } from '../../core/support/json.js';
import type { Reply } from '../reply.js';
import type { ProbeRequest } from './requests.js';

/** An answer as far as the probe keeps it: no code, no secret. */
export interface ProbeReply extends Reply {
  readonly asked: ProbeRequest;
  /**
   * The text without what was sent. It is only compared, as it may name a user: `msg` of a
   * `ConstantReply` is shown and saved.
   */
  readonly text: string;
  /** Whether something in the text was masked. */
  readonly isMasked: boolean;
  /** The members of the answer, if it is a JSON object. Their values are only looked at. */
  readonly members: Readonly<Record<string, unknown>>;
  /**
   * Whether HTTP says that there were too many requests: by status 429, or by `Retry-After` of no
   * server error.
   */
  readonly saysTooMany: boolean;
  /**
   * Number of times that the request was sent before without an answer: each may have been carried
   * out.
   */
  readonly unanswered: number;
  /** The lead of the platform's clock over the probe's, in seconds, by its `Date` header. */
  readonly aheadBy: number | null;
  /** Time from the request to the answer, in seconds. */
  readonly seconds: number;
}

/** The constant part of the answers to equal requests. */
export interface ConstantReply {
  readonly httpStatus: number;
  readonly code: number | null;
  /**
   * The words of the text, with a mark for what differs between the answers or has a digit; `null`
   * if none is alike.
   */
  readonly words: readonly string[] | null;
  /**
   * The text, if it is the same in all answers and nothing in it is an ID, a time or a counter.
   * Only compared.
   */
  readonly text: string | null;
  /** The same to show and to save: `null` also if the requests name a user. */
  readonly msg: string | null;
  readonly seen: readonly [ProbeReply, ...ProbeReply[]];
}

const mark = '…';
/** Maximum length of a text of the platform that is shown, in characters. */
const maxText = 100;

/**
 * The constant part of some answers; `null` if their codes or HTTP statuses differ, or there is
 * none.
 */
export function alikeOf(seen: readonly ProbeReply[]): ConstantReply | null {
  const [first, ...others] = seen;
  if (first === undefined) return null;
  const { httpStatus, code } = first;
  if (others.some((reply) => !hasSameCode(reply, first))) return null;
  const words = seen
    .map(({ text }) => wordsOf(text))
    .reduce<string[] | null>((alike, words) => {
      if (alike === null || alike.length !== words.length) return null;
      return alike.map((word, index) => (word === words[index] ? word : mark));
    }, wordsOf(first.text));
  const text = constantText(seen);
  const msg = seen.some(({ asked }) => asked.isPersonal) ? null : text;
  return { httpStatus, code, words, text, msg, seen: [first, ...others] };
}

function constantText(seen: readonly ProbeReply[]): string | null {
  const [first] = seen;
  if (first === undefined || seen.length < 2 || first.isMasked || first.text === '') return null;
  // Numbers of one or two digits are limits, such as those of §8.
  if (/\d{3}|\d[:./-]\d|[a-z]\d|\d[a-z]/i.test(first.text)) return null;
  return seen.every(({ text }) => text === first.text) ? first.text : null;
}

function wordsOf(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_…]+/u)
    .map((word) => (/\d/.test(word) || word.includes(mark) ? mark : word));
}

type AnyReply = ConstantReply | ProbeReply | null | undefined;

/** Whether there are two answers with the same code and HTTP status, whatever their texts. */
export function hasSameCode(first: AnyReply, second: AnyReply): boolean {
  if (!first || !second) return false;
  return first.httpStatus === second.httpStatus && first.code === second.code;
}

/**
 * Whether there are two answers that say the same; also if only their texts could tell, and do not.
 */
export function isAlike(reply: AnyReply, constant: ConstantReply): boolean {
  if (!reply || !hasSameCode(reply, constant)) return false;
  const words = 'seen' in reply ? reply.words : wordsOf(reply.text);
  const constantWords = constant.words;
  if (words === null || constantWords === null) return true;
  if (words.length !== constantWords.length) return false;
  return words.every((word, index) => {
    const constantWord = constantWords[index];
    return word === constantWord || word === mark || constantWord === mark;
  });
}

/**
 * Whether a request was carried out: also by another code than 200, where the answer names the
 * user.
 */
export function isCarriedOut(answer: AnyReply): boolean {
  if (!answer) return false;
  if (answer.code === resultCode.ok) return true;
  const { union_id } = dataOf('seen' in answer ? answer.seen[0] : answer);
  const isId = typeof union_id === 'string' || typeof union_id === 'number';
  return answer.code !== null && isId && union_id !== '';
}

/**
 * Whether a request was certainly not carried out: an envelope refuses it, and does not report a
 * server error.
 */
export function isRefused(answer: ProbeReply): boolean {
  const { code, httpStatus, unanswered } = answer;
  return code !== null && httpStatus < 500 && unanswered === 0 && !isCarriedOut(answer);
}

/** `data` of an answer; empty if it is not an object, or there is no answer. */
export function dataOf(answer: ProbeReply | null): Readonly<Record<string, unknown>> {
  const data = answer?.members.data;
  return isObject(data) ? data : {};
}

/**
 * Masks what was sent, the secret, and what looks like an identifier or a digest in a text of the
 * platform.
 */
export function maskSent(text: string, hidden: readonly string[]): string {
  const plain = hidden
    .filter((value) => value !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, mark), text);
  const masked = plain.replace(/[\w+/=.-]{16,}|\d{6,}/g, (run) => (/\d/.test(run) ? mark : run));
  return masked.length <= maxText ? masked : `${masked.slice(0, maxText)}${mark}`;
}
