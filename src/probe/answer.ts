import { isObject } from '../protocol/fields.js';
import { type ResultCodeName, resultCode } from '../protocol/result-codes.js';
import type { ProbeRequest } from './requests.js';

/** An answer as far as the probe keeps it: no values of a user, no code, no secret. */
export interface Observation {
  readonly asked: ProbeRequest;
  readonly httpStatus: number;
  /** `code` of the envelope; `null` if the answer is not an envelope. */
  readonly code: number | null;
  /** The meaning of the code to the profile in use. */
  readonly known: ResultCodeName | undefined;
  /** Masked; empty for a request that names a user. */
  readonly msg: string;
  /** Whether something in `msg` was masked. */
  readonly isMasked: boolean;
  /** The members of the answer, if it is a JSON object. Their values are only looked at. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The lead of the platform's clock over the probe's, in seconds, by its `Date` header. */
  readonly aheadBy: number | null;
  /** Time from the request to the answer, in seconds. */
  readonly seconds: number;
}

/** The constant part of the answers to equal requests. */
export interface ConstantAnswer {
  readonly httpStatus: number;
  readonly code: number | null;
  /** The words of the text, with a mark for what differs between the answers or has a digit; `null` if none is alike. */
  readonly words: readonly string[] | null;
  /** The text, if it is the same in all of them and nothing in it is an ID, a time or a counter. */
  readonly msg: string | null;
  readonly seen: readonly [Observation, ...Observation[]];
}

const mark = '…';
/** Maximum length of a text of the platform that is shown, in characters. */
const maxText = 100;

/** The constant part of some answers; `null` if they have several codes or HTTP statuses, or there is none. */
export function alikeOf(seen: readonly Observation[]): ConstantAnswer | null {
  const [first, ...others] = seen;
  if (first === undefined) return null;
  const { httpStatus, code } = first;
  if (others.some((other) => other.httpStatus !== httpStatus || other.code !== code)) return null;
  const texts = seen.map(({ msg }) => wordsOf(msg));
  const words = texts.reduce<string[] | null>((alike, text) => {
    if (alike === null || alike.length !== text.length) return null;
    return alike.map((word, index) => (word === text[index] ? word : mark));
  }, texts[0] ?? null);
  const { msg, isMasked } = first;
  // Numbers of one or two digits are limits, such as those of §8.
  const isConstant = !/\d{3}|\d[:./-]\d|[a-z]\d|\d[a-z]/i.test(msg) && seen.length > 1;
  const isSame = seen.every((one) => one.msg === msg) && !isMasked && isConstant && msg !== '';
  return { httpStatus, code, words, msg: isSame ? msg : null, seen: [first, ...others] };
}

function wordsOf(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_…]+/u)
    .map((word) => (/\d/.test(word) || word.includes(mark) ? mark : word));
}

type Answered = ConstantAnswer | Observation | null | undefined;

/** Whether there are two answers that say the same; also if only their texts could tell, and do not. */
export function saysTheSame(one: Answered, other: ConstantAnswer): boolean {
  if (!one || one.httpStatus !== other.httpStatus || one.code !== other.code) return false;
  const [words, others] = ['seen' in one ? one.words : wordsOf(one.msg), other.words];
  if (words === null || others === null) return true;
  if (words.length !== others.length) return false;
  return words.every((word, index) => [others[index], mark].includes(word) || others[index] === mark);
}

/** Whether a request was carried out: also by another code than 200, where the answer names the user. */
export function isCarriedOut(answer: Answered): boolean {
  if (!answer) return false;
  if (answer.code === resultCode.ok) return true;
  const { union_id } = dataOf('seen' in answer ? answer.seen[0] : answer);
  return (
    answer.code !== null && (typeof union_id === 'string' || typeof union_id === 'number') && union_id !== ''
  );
}

/** `data` of an answer; empty if it is not an object, or there is no answer. */
export function dataOf(answer: Observation | null): Readonly<Record<string, unknown>> {
  const data = answer?.members.data;
  return isObject(data) ? data : {};
}

/** Masks what was sent, the secret, and what looks like an identifier or a digest in a text of the platform. */
export function maskSent(text: string, hidden: readonly string[]): string {
  const plain = hidden
    .filter((value) => value !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, mark), text);
  const masked = plain.replace(/[\w+/=.-]{16,}|\d{6,}/g, (run) => (/\d/.test(run) ? mark : run));
  return masked.length <= maxText ? masked : `${masked.slice(0, maxText)}${mark}`;
}
