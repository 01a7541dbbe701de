import { isObject } from '../../core/support/json.js';
import { dataOf, hasSameCode, isCarriedOut, isRefused, type ProbeReply } from './probe-reply.js';
import type { ProbeSession } from './probe-session.js';
import { type ProbeRequest, reservedKey } from './requests.js';

/** A key that a probe left, or may have left, in the record of a user. */
export interface LeftKey {
  readonly key: string;
  readonly state: LeftState;
  /** The refusal of `null` for the key, if the state is `null refused`. */
  readonly refusal: ProbeReply | null;
}

export type LeftState =
  /** Its removal was not carried out: it was not asked for, or not answered. */
  | 'not removed'
  /** The platform refused `null` for it. */
  | 'null refused'
  /** The platform accepted `null` for it, and it is still read. */
  | 'still read'
  /** The platform accepted `null` for it; no read shows whether it is gone. */
  | 'not read back'
  /** It is a reserved key that the platform accepted; no read shows that it was not stored. */
  | 'reserved'
  /** A passback was accepted that does not name the user. */
  | 'with another user';

/** The keys that the passbacks so far left, or may have left. */
export function leftBehind(session: ProbeSession): LeftKey[] {
  const { key } = session.user;
  const left: LeftKey[] = [];
  const keyOfProbe = leftKeyOfProbe(session);
  if (keyOfProbe !== null) left.push(keyOfProbe);
  if (
    mayHaveWritten(session, 'writes reserved key') &&
    !isSeenWithout(session, reservedKey, 'writes reserved key')
  )
    left.push({ key: reservedKey, state: 'reserved', refusal: null });
  if (mayHaveWritten(session, 'writes key of another user'))
    left.push({ key, state: 'with another user', refusal: null });
  return left;
}

/** Whether a passback with that effect was carried out, or not surely refused. */
export function mayHaveWritten(session: ProbeSession, effect: ProbeRequest['effect']): boolean {
  const { replies, unanswered } = session;
  if (unanswered.some((asked) => asked.effect === effect)) return true;
  const answers = replies.filter(({ asked }) => asked.effect === effect);
  return answers.some((answer) => !isRefused(answer) || session.isInstead(answer));
}

function leftKeyOfProbe(session: ProbeSession): LeftKey | null {
  const { replies, user } = session;
  const { key } = user;
  if (!mayHaveWritten(session, 'writes key')) return null;
  const removals = replies.filter(({ asked }) => asked.effect === 'removes key');
  if (removals.some(isCarriedOut)) {
    const record = recordAfter(session, 'removes key');
    if (record === null) return { key, state: 'not read back', refusal: null };
    return Object.hasOwn(record, key) ? { key, state: 'still read', refusal: null } : null;
  }
  const refusal = removals.findLast(isRefused);
  if (refusal === undefined || session.isInstead(refusal) || isForAll(session, refusal))
    return { key, state: 'not removed', refusal: null };
  return { key, state: 'null refused', refusal };
}

/** Whether not `null` is refused, but a passback of the key is refused alike. */
function isForAll({ replies }: ProbeSession, refusal: ProbeReply): boolean {
  const writes = replies.filter(({ asked }) => asked.effect === 'writes key');
  return writes.some((answer) => hasSameCode(answer, refusal));
}

/** Whether a read of the user after the last request with that effect has no such key. */
function isSeenWithout(
  session: ProbeSession,
  key: string,
  effect: ProbeRequest['effect'],
): boolean {
  const record = recordAfter(session, effect);
  return record !== null && !Object.hasOwn(record, key);
}

/**
 * `extension_info` of the user, as a read of the whole record shows it after the last request with
 * that effect; `null` without one.
 */
function recordAfter(
  { replies, user }: ProbeSession,
  effect: ProbeRequest['effect'],
): Readonly<Record<string, unknown>> | null {
  const last = replies.findLastIndex(({ asked }) => asked.effect === effect);
  const read = replies.slice(last + 1).findLast((answer) => {
    const { endpoint, infoNames } = answer.asked.request;
    const isWhole = endpoint.success === 'information' && infoNames.length === 0;
    return isWhole && isCarriedOut(answer) && dataOf(answer).union_id === user.unionId;
  });
  if (read === undefined) return null;
  const { extension_info } = dataOf(read);
  return isObject(extension_info) ? extension_info : {};
}
