import { isObject } from '../../core/contract/members.js';
import { dataOf, hasSameCode, isCarriedOut, isRefused, type Observation } from './answer.js';
import type { Exchange } from './exchange.js';
import { type ProbeRequest, reservedKey } from './requests.js';

/** A key that a probe left, or may have left, in the record of a user. */
export interface LeftKey {
  readonly key: string;
  readonly state: LeftState;
  /** The refusal of `null` for the key, if the state is `null refused`. */
  readonly refusal: Observation | null;
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
export function leftBehind(exchange: Exchange): LeftKey[] {
  const { key } = exchange.user;
  const left: LeftKey[] = [];
  const keyOfProbe = leftKeyOfProbe(exchange);
  if (keyOfProbe !== null) left.push(keyOfProbe);
  if (
    mayHaveWritten(exchange, 'writes reserved key') &&
    !isSeenWithout(exchange, reservedKey, 'writes reserved key')
  )
    left.push({ key: reservedKey, state: 'reserved', refusal: null });
  if (mayHaveWritten(exchange, 'writes key of another user'))
    left.push({ key, state: 'with another user', refusal: null });
  return left;
}

/** Whether a passback with that effect was carried out, or not surely refused. */
export function mayHaveWritten(exchange: Exchange, effect: ProbeRequest['effect']): boolean {
  const { observations, unanswered } = exchange;
  if (unanswered.some((asked) => asked.effect === effect)) return true;
  const answers = observations.filter(({ asked }) => asked.effect === effect);
  return answers.some((answer) => !isRefused(answer) || exchange.isInstead(answer));
}

function leftKeyOfProbe(exchange: Exchange): LeftKey | null {
  const { observations, user } = exchange;
  const { key } = user;
  if (!mayHaveWritten(exchange, 'writes key')) return null;
  const removals = observations.filter(({ asked }) => asked.effect === 'removes key');
  if (removals.some(isCarriedOut)) {
    const record = recordAfter(exchange, 'removes key');
    if (record === null) return { key, state: 'not read back', refusal: null };
    return Object.hasOwn(record, key) ? { key, state: 'still read', refusal: null } : null;
  }
  const refusal = removals.findLast(isRefused);
  if (refusal === undefined || exchange.isInstead(refusal) || isForAll(exchange, refusal))
    return { key, state: 'not removed', refusal: null };
  return { key, state: 'null refused', refusal };
}

/** Whether not `null` is refused, but a passback of the key is refused alike. */
function isForAll({ observations }: Exchange, refusal: Observation): boolean {
  const writes = observations.filter(({ asked }) => asked.effect === 'writes key');
  return writes.some((answer) => hasSameCode(answer, refusal));
}

/** Whether a read of the user after the last request with that effect has no such key. */
function isSeenWithout(exchange: Exchange, key: string, effect: ProbeRequest['effect']): boolean {
  const record = recordAfter(exchange, effect);
  return record !== null && !Object.hasOwn(record, key);
}

/**
 * `extension_info` of the user, as a read of the whole record shows it after the last request with
 * that effect; `null` without one.
 */
function recordAfter(
  { observations, user }: Exchange,
  effect: ProbeRequest['effect'],
): Readonly<Record<string, unknown>> | null {
  const last = observations.findLastIndex(({ asked }) => asked.effect === effect);
  const read = observations.slice(last + 1).findLast((answer) => {
    const { endpoint, infoNames } = answer.asked.request;
    const isWhole = endpoint.operation === 'read' && infoNames.length === 0;
    return isWhole && isCarriedOut(answer) && dataOf(answer).union_id === user.unionId;
  });
  if (read === undefined) return null;
  const { extension_info } = dataOf(read);
  return isObject(extension_info) ? extension_info : {};
}
