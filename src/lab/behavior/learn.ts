import type { ChatPrefix } from '../../core/contract/chat-prefix.js';
import { defaultScope } from '../../core/contract/endpoints.js';
import { chatPrefixOf } from '../../core/contract/info-names.js';
import { maxClockWindowSeconds } from '../../core/contract/limits.js';
import type { Platform } from '../../core/platform/platform.js';
import { isObject } from '../../core/support/json.js';
import { type TimestampBounds, usualWindows } from './clock-window.js';
import type { Evidence } from './evidence.js';
import { codesOf } from './learned-codes.js';
import { dataOf, hasSameCode, isAlike, isCarriedOut } from './probe-reply.js';
import {
  areSignaturesAccepted,
  type ClearRefusal,
  clearOf,
  doubtOfClock,
  isSignAccepted,
  notAsked,
  type Refusal,
  refusalsOf,
} from './refusals.js';
import { absentName, type Meaning, type ReadVariantName } from './requests.js';
import { maxCodeReads } from './test-user.js';

/** What the answers show of a field of the platform file. */
interface LearnedField<T> {
  /** `undefined` if it is not known. */
  readonly value: T | undefined;
  /** How it shows; or why it is not known, and what would settle it. */
  readonly detail: string;
}

/** The answer of the probe to a field of the platform file. */
export interface Point {
  readonly field: keyof Platform;
  readonly isFound: boolean;
  /** The behaviour of the platform, or the reason that it is not known. */
  readonly detail: string;
}

/** The platform as its answers show it. */
export interface Learned {
  /** The fields that were found; the others stay as they were. */
  readonly fields: Partial<Platform>;
  readonly points: readonly Point[];
  readonly refusals: readonly Refusal[];
}

const known = <T>(value: T, detail: string): LearnedField<T> => ({ value, detail });
const unknown = (detail: string): LearnedField<never> => ({ value: undefined, detail });

type LearnedFields = { readonly [Name in keyof Platform]?: LearnedField<Platform[Name]> };

/** Concludes from the answers how the platform does what the spec leaves open. */
export function learn(evidence: Evidence): Learned {
  const refusals = refusalsOf(evidence);
  const http_status = findStatus(refusals);
  const byField: LearnedFields = {
    signing: findSigning(evidence),
    result_codes: findCodes(refusals, http_status.value ?? 'by-code'),
    http_status,
    absent: findAbsent(evidence),
    empty_object: findEmptyObject(evidence),
    refusal_data: findRefusalData(refusals),
    values: findValues(evidence),
    unknown_parameters: findTaken(evidence, refusals, 'unknownParameter', 'refuse', 'ignore'),
    scopes: findScopes(evidence, refusals),
    ...findWindows(evidence),
    replay: findReplay(evidence, refusals),
    code_uses: findUses(evidence),
    code_ttl_seconds: unknown('finding out would mean waiting for a code to expire'),
    unknown_user: unknown('asking could create a user'),
    passback_union_id: findPassbackId(evidence),
    chat_prefix: findPrefix(evidence),
  };
  const fields: Record<string, unknown> = {};
  const points: Point[] = [];
  for (const [name, { value, detail }] of Object.entries(byField)) {
    const field = name as keyof Platform;
    if (value !== undefined) fields[field] = value;
    const isFound = value !== undefined || (field === 'signing' && areSignaturesAccepted(evidence));
    points.push({ field, isFound, detail });
  }
  return { fields: fields as Partial<Platform>, points, refusals };
}

/** Why no read with a code was carried out. */
function whyNoRead({ user, refusedCodes }: Evidence): string {
  if (user.codes.length === 0) return 'needs --code';
  return refusedCodes.length > 0 ? 'each --code was refused' : 'not asked';
}

/** Why no read by names was carried out. */
function whyNotNamed(evidence: Evidence): string {
  if (evidence.whole === null) return whyNoRead(evidence);
  if (evidence.areNamesRefused) return 'a read by names was refused';
  return evidence.stopped === null ? 'needs another --code' : 'not asked';
}

/** Why no passback was carried out. */
function whyNoPassback({ user, written }: Evidence): string {
  if (user.unionId === undefined) return 'needs --union-id';
  return written === null ? 'not asked' : 'the passback was refused';
}

/** What would show how a fault is treated that is not refused before the code is looked up. */
function whyNotBeforeCode(evidence: Evidence): string {
  return `not refused before the code is looked up: ${whyNotNamed(evidence)}`;
}

function findSigning(evidence: Evidence): LearnedField<never> {
  if (areSignaturesAccepted(evidence)) return unknown('accepted as the profile has them');
  if (isSignAccepted(evidence))
    return unknown('sign is accepted; app_sign may be wrong, or is not checked before the code');
  if ((evidence.faulty.get('wrongSign') ?? null) === null) return unknown(notAsked);
  return unknown('the recipes or the secret may be wrong');
}

/** Refusals that do not often come from a gateway. */
function ofPlatform(refusals: readonly Refusal[]): ClearRefusal[] {
  const ofGateway: readonly Meaning[] = ['noSuchPath', 'wrongMethod', 'tooManyRequests'];
  return clearOf(refusals).filter(({ means }) => !ofGateway.includes(means));
}

function findStatus(refusals: readonly Refusal[]): LearnedField<Platform['http_status']> {
  const statuses = ofPlatform(refusals).map(({ answer }) => answer.httpStatus);
  if (statuses.length === 0) return unknown('no refusal shows its meaning');
  const isUsually200 = 2 * statuses.filter((status) => status === 200).length > statuses.length;
  return known(
    isUsually200 ? 200 : 'by-code',
    `HTTP ${[...new Set(statuses)].toSorted().join(', ')} in refusals`,
  );
}

function findCodes(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'],
): LearnedField<Platform['result_codes']> {
  const clear = clearOf(refusals);
  if (clear.length === 0) return unknown('no refusal shows its meaning');
  const { table, leftOut } = codesOf(refusals, httpStatus);
  const meanings = new Set(clear.map(({ means }) => means)).size;
  const codes = new Set(clear.map(({ code }) => code)).size;
  const detail = `${meanings} meanings, ${codes} codes`;
  if (leftOut.length === 0) return known(table, detail);
  return known(table, `${detail}; a platform file cannot express ${leftOut.join(', ')}`);
}

const emptyKinds = { object: '{}', list: '[]', null: 'null', omit: 'left out' } as const;

function emptyKind(value: unknown): 'object' | 'list' | 'null' | undefined {
  if (value === null) return 'null';
  if (typeof value !== 'object' || Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? 'list' : 'object';
}

function findEmptyObject(evidence: Evidence): LearnedField<Platform['empty_object']> {
  const { whole } = evidence;
  if (whole === null) return unknown(whyNoRead(evidence));
  const { extension_info, basic_info } = dataOf(whole);
  const kinds = [
    ...new Set([extension_info, basic_info].flatMap((value) => emptyKind(value) ?? [])),
  ];
  const [kind] = kinds;
  if (kind === undefined)
    return unknown('no object of that user is empty: needs a --code of another user');
  if (kinds.length > 1)
    return unknown(`several: ${kinds.map((emptyAs) => emptyKinds[emptyAs]).join(', ')}`);
  return known(kind, `${emptyKinds[kind]} in a read`);
}

function findRefusalData(refusals: readonly Refusal[]): LearnedField<Platform['refusal_data']> {
  const kinds = ofPlatform(refusals).map(({ answer: { seen } }) => {
    const { members } = seen[0];
    return Object.hasOwn(members, 'data') ? emptyKind(members.data) : ('omit' as const);
  });
  const [kind] = kinds;
  if (kind === undefined) return unknown('no refusal shows it');
  if (new Set(kinds).size > 1) return unknown('not the same in all refusals');
  return known(kind, emptyKinds[kind]);
}

const absentWords = { omit: 'left out', null: 'null', empty: 'empty text' } as const;

function findAbsent(evidence: Evidence): LearnedField<Platform['absent']> {
  const { whole, named } = evidence;
  const { basic_info } = dataOf(whole);
  // Empty text may be a value, and a field may be left out because the platform does not have it.
  const isNull = isObject(basic_info) && Object.values(basic_info).includes(null);
  if (named === null)
    return isNull ? known('null', 'null in basic_info') : unknown(whyNotNamed(evidence));
  const kind = absentKind(dataOf(named));
  if (kind === null) return unknown('a name that nobody has came with a value');
  if (isNull && kind !== 'null')
    return unknown(`${absentWords[kind]} in a read by names, null in basic_info`);
  return known(kind, `${absentWords[kind]} in a read by names`);
}

/** How a name that nobody has shows in `data`. */
function absentKind(data: Readonly<Record<string, unknown>>): Platform['absent'] | null {
  if (!Object.hasOwn(data, absentName)) return 'omit';
  const value = data[absentName];
  if (value === null) return 'null';
  return value === '' ? 'empty' : null;
}

function findValues(evidence: Evidence): LearnedField<Platform['values']> {
  const { whole, named, written, all, user } = evidence;
  if (written === null || !isCarriedOut(written)) return unknown(whyNoPassback(evidence));
  if (whole === null) return unknown(whyNoRead(evidence));
  const isReadBack = all.indexOf(whole) > all.indexOf(written);
  const { extension_info } = dataOf(isReadBack ? whole : null);
  const values = { ...(isObject(extension_info) ? extension_info : {}), ...dataOf(named) };
  const value = values[user.key];
  if (typeof value === 'string') return known('text', 'a number was read back as text');
  if (typeof value === 'number' || typeof value === 'boolean')
    return known('as-written', 'a number was read back as a number');
  return unknown(named === null ? whyNotNamed(evidence) : 'the key was not read back');
}

/**
 * How something is treated that a platform may take: only what was carried out shows that it is
 * taken.
 */
function findTaken<Refused, Taken>(
  evidence: Evidence,
  refusals: readonly Refusal[],
  name: ReadVariantName,
  refused: Refused,
  taken: Taken,
): LearnedField<Refused | Taken> {
  const answerWithCode = evidence.issued.get(name) ?? null;
  if (isCarriedOut(answerWithCode)) return known(taken, 'one was accepted');
  const answer = answerWithCode ?? evidence.faulty.get(name) ?? null;
  if (answer === null) return unknown(notAsked);
  const refusal = refusals.find((listed) => listed.answer === answer);
  if (refusal?.unclear === null) return known(refused, 'one was refused');
  if (isAlike(answer, evidence.control)) return unknown(whyNotBeforeCode(evidence));
  return unknown(refusal?.unclear ?? 'not clear');
}

function findScopes(
  evidence: Evidence,
  refusals: readonly Refusal[],
): LearnedField<Platform['scopes']> {
  const { faulty, control } = evidence;
  const usual = faulty.get('usualScope') ?? null;
  if (usual === null) return unknown(notAsked);
  if (isAlike(usual, control))
    return findTaken(evidence, refusals, 'otherScope', [defaultScope], 'any' as const);
  if (hasSameCode(usual, faulty.get('wrongSign')))
    return unknown('a scope is answered like a wrong sign: the rule of sign may not cover it');
  return unknown(
    `${defaultScope} is not answered as without a scope: ask which the platform takes`,
  );
}

function findWindows(
  evidence: Evidence,
): Pick<LearnedFields, 'clock_window_seconds' | 'clock_ahead_seconds'> {
  const old = findWindow(evidence, 'oldTimestamp', evidence.window?.old);
  const ahead = findWindow(evidence, 'futureTimestamp', evidence.window?.ahead);
  if (haveSameWindow(old.value, ahead.value))
    return { clock_window_seconds: old, clock_ahead_seconds: known('same', ahead.detail) };
  const shift = clockShift(old.value, ahead.value);
  if (shift !== null) {
    const windows = `${old.value} s back, ${ahead.value} s ahead`;
    const clock = unknown(`${windows}: the clock of the platform may be wrong by ${shift} s`);
    return { clock_window_seconds: clock, clock_ahead_seconds: clock };
  }
  return { clock_window_seconds: unlessClock(old), clock_ahead_seconds: unlessClock(ahead) };
}

type WindowSeconds = number | 'unlimited';

/** Whether two windows are known and the same, but for the error of the measurement. */
function haveSameWindow(old: WindowSeconds | undefined, ahead: WindowSeconds | undefined): boolean {
  if (typeof old === 'number' && typeof ahead === 'number') return Math.abs(old - ahead) <= 2;
  return old !== undefined && old === ahead;
}

/**
 * By how many seconds a clock is wrong, if that alone makes the two windows differ: then their
 * middle is a usual one. `null` if it does not.
 */
function clockShift(
  old: WindowSeconds | undefined,
  ahead: WindowSeconds | undefined,
): number | null {
  if (typeof old !== 'number' || typeof ahead !== 'number') return null;
  return isUsualWindow((old + ahead) / 2, 1.5) ? Math.abs(old - ahead) / 2 : null;
}

/**
 * A window on one side alone may be that of a clock that is wrong, unless it is one that
 * deployments have.
 */
function unlessClock(window: LearnedField<WindowSeconds>): LearnedField<WindowSeconds> {
  const { value } = window;
  if (typeof value !== 'number' || value === 0 || isUsualWindow(value, 0)) return window;
  return unknown(`${value} s in this direction only: the clock of the platform may be wrong`);
}

function isUsualWindow(value: number, error: number): boolean {
  return usualWindows.some((seconds) => Math.abs(seconds - value) <= error);
}

function findWindow(
  evidence: Evidence,
  name: 'oldTimestamp' | 'futureTimestamp',
  bounds: TimestampBounds | null | undefined,
): LearnedField<WindowSeconds> {
  const answerWithCode = evidence.issued.get(name) ?? null;
  if (isCarriedOut(answerWithCode)) return known('unlimited', 'an hour was accepted');
  if (answerWithCode !== null)
    return unknown('checked after the code: measuring it would use up many codes');
  if (isAlike(evidence.faulty.get(name), evidence.control))
    return unknown(whyNotBeforeCode(evidence));
  if (bounds === null || bounds === undefined) return unknown(notAsked);
  const doubt = doubtOfClock(evidence, name);
  if (doubt !== null) return unknown(doubt);
  const { accepted, refused } = bounds;
  if (accepted > maxClockWindowSeconds)
    return unknown(`more than ${maxClockWindowSeconds} s, which a platform file cannot express`);
  const usual = usualWindows.filter((seconds) => seconds >= accepted && seconds <= refused);
  if (usual.length === 1 && usual[0] !== undefined)
    return known(usual[0], `${usual[0]} s, to about a second`);
  if (refused - accepted > 2.5) {
    const range = `between ${Math.floor(accepted)} and ${Math.ceil(refused)} s`;
    return unknown(`${range}: the answers are slow`);
  }
  return known(Math.round(accepted), `${Math.round(accepted)} s, to about a second`);
}

function findReplay(
  evidence: Evidence,
  refusals: readonly Refusal[],
): LearnedField<Platform['replay']> {
  const { copies, control, removedCopies, written } = evidence;
  if (isCarriedOut(removedCopies)) return known('allow', 'the copy of a passback was carried out');
  const refused = refusals.find(
    ({ means, unclear }) => means === 'randomReplayed' && unclear === null,
  );
  if (refused !== undefined) return known('refuse', `${refused.request} was refused`);
  if (!isAlike(copies, control)) return unknown(notAsked);
  const why = isCarriedOut(written) ? 'no passback could be repeated' : whyNoPassback(evidence);
  return unknown(`not refused before the code is looked up: ${why}`);
}

function findUses(evidence: Evidence): LearnedField<Platform['code_uses']> {
  const { uses, control, codesRead, areNamesRefused } = evidence;
  if (uses === null) return unknown(whyNoRead(evidence));
  if (isCarriedOut(control)) return unknown('a code that was never issued is accepted, too');
  const { count, refusal, isCertain } = uses;
  if (areNamesRefused) return unknown('a read by names was refused');
  if (!isCertain) return unknown('an answer was lost, or came in place of another');
  if (refusal === null && count < maxCodeReads) return unknown('not asked');
  if (refusal === null) return known('unlimited', `at least ${maxCodeReads}, taken as unlimited`);
  // Another answer may be that of a limit for the user, unless another code is read after it.
  if (!isAlike(refusal, control) && codesRead < 2)
    return unknown('refused unlike a code that was never issued: needs another --code');
  return known(count, `${count === 1 ? '1 read' : `${count} reads`}, if the code was fresh`);
}

function findPassbackId(evidence: Evidence): LearnedField<Platform['passback_union_id']> {
  const { written, user } = evidence;
  if (!isCarriedOut(written)) return unknown(whyNoPassback(evidence));
  const { union_id } = dataOf(written);
  return String(union_id) === user.unionId
    ? known('same', 'the same for that user')
    : known('any', 'another one for that user');
}

function findPrefix(evidence: Evidence): LearnedField<ChatPrefix> {
  const { whole } = evidence;
  if (whole === null) return unknown(whyNoRead(evidence));
  const { basic_info } = dataOf(whole);
  const fields = Object.keys(isObject(basic_info) ? basic_info : {});
  const [prefix, ...others] = new Set(fields.flatMap((name) => chatPrefixOf(name) ?? []));
  if (prefix === undefined) return unknown('basic_info of that user has none of the names');
  if (others.length > 0) return unknown('the names have several prefixes');
  return known(prefix, 'in basic_info');
}
