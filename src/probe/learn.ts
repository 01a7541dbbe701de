import type { Platform } from '../platform/platform.js';
import { defaultScope } from '../protocol/endpoints.js';
import { isObject } from '../protocol/fields.js';
import { type ChatPrefix, neutralChatPrefix } from '../protocol/info-names.js';
import { maxClockWindowSeconds } from '../protocol/limits.js';
import { basicInfoFields } from '../protocol/user-record.js';
import { dataOf, isCarriedOut, saysTheSame } from './answer.js';
import { type Evidence, maxCodeReads, usualWindows } from './gather.js';
import { clearOf, codesOf, type Refusal, refusalsOf, tellsApart } from './refusals.js';
import { absentName, type FaultName } from './requests.js';

/** The value of a field, and how it shows; `undefined` if it is not known: why, and what would settle it. */
interface Finding<T> {
  readonly value: T | undefined;
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
  /** Whether the platform accepted the signatures. */
  readonly isSigned: boolean;
}

const found = <T>(value: T, detail: string): Finding<T> => ({ value, detail });
const open = (detail: string): Finding<never> => ({ value: undefined, detail });

const needsCode = 'needs --code';
const needsMoreCodes = 'needs a further --code';
const needsUser = 'needs --union-id';

type Findings = { readonly [Name in keyof Platform]?: Finding<Platform[Name]> };

/** Concludes from the answers how the platform does what the spec leaves open. */
export function learn(evidence: Evidence): Learned {
  const { whole, written } = evidence;
  const isSigned = tellsApart(evidence) || whole !== null || isCarriedOut(written);
  const refusals = refusalsOf(evidence, isSigned);
  const http_status = findStatus(refusals);
  const findings: Findings = {
    signing: open(isSigned ? 'accepted as the profile has them' : 'the recipes or the secret may be wrong'),
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
    code_ttl_seconds: open('it would take waiting'),
    unknown_user: open('asking could create a user'),
    passback_union_id: findPassbackId(evidence),
    chat_prefix: findPrefix(evidence),
  };
  const entries = Object.entries(findings).map(
    ([name, finding]) => [name as keyof Platform, finding] as const,
  );
  return {
    fields: Object.fromEntries(
      entries.flatMap(([field, { value }]) => (value === undefined ? [] : [[field, value]])),
    ),
    points: entries.map(([field, { value, detail }]) => ({
      field,
      isFound: value !== undefined || (field === 'signing' && isSigned),
      detail,
    })),
    refusals,
    isSigned,
  };
}

function findStatus(refusals: readonly Refusal[]): Finding<Platform['http_status']> {
  const statuses = clearOf(refusals).map(({ answer }) => answer.httpStatus);
  if (statuses.length === 0) return open('no refusal shows its meaning');
  const isUsually200 = 2 * statuses.filter((status) => status === 200).length > statuses.length;
  return found(isUsually200 ? 200 : 'by-code', [...new Set(statuses)].toSorted().join(', '));
}

function findCodes(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'],
): Finding<Platform['result_codes']> {
  const clear = clearOf(refusals);
  if (clear.length === 0) return open('no refusal shows its meaning');
  const { table, left } = codesOf(refusals, httpStatus);
  const count = (values: readonly unknown[]) => new Set(values).size;
  const meanings = `${count(clear.map(({ means }) => means))} meanings, ${count(clear.map(({ code }) => code))} codes`;
  const unsaid = left.length === 0 ? '' : `; left out, as no file can say them: ${left.join(', ')}`;
  return found(table, meanings + unsaid);
}

const emptyKinds = { object: '{}', list: '[]', null: 'null', omit: 'left out' } as const;

function emptyKind(value: unknown): 'object' | 'list' | 'null' | undefined {
  if (value === null) return 'null';
  if (typeof value !== 'object' || Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? 'list' : 'object';
}

function findEmptyObject({ whole }: Evidence): Finding<Platform['empty_object']> {
  const { extension_info, basic_info } = dataOf(whole);
  const kinds = [...new Set([extension_info, basic_info].flatMap((value) => emptyKind(value) ?? []))];
  const [kind] = kinds;
  if (kind === undefined)
    return open(whole === null ? needsCode : 'no object of that user is empty: needs a --code of another');
  if (kinds.length > 1) return open(`several: ${kinds.map((one) => emptyKinds[one]).join(', ')}`);
  return found(kind, `${emptyKinds[kind]} in a read`);
}

/** Refusals of paths and methods are left out: they often come from a gateway. */
function findRefusalData(refusals: readonly Refusal[]): Finding<Platform['refusal_data']> {
  const kinds = clearOf(refusals)
    .filter(({ means }) => means !== 'noSuchPath' && means !== 'wrongMethod')
    .map(({ answer: { seen } }) => {
      const { members } = seen[0];
      return Object.hasOwn(members, 'data') ? emptyKind(members.data) : ('omit' as const);
    });
  const [kind] = kinds;
  if (kind === undefined) return open('no refusal shows it');
  if (kinds.some((other) => other !== kind)) return open('not the same in all refusals');
  return found(kind, emptyKinds[kind]);
}

const absentWords = { omit: 'left out', null: 'null', empty: 'empty text' } as const;

function findAbsent({ whole, named }: Evidence): Finding<Platform['absent']> {
  if (named !== null) {
    const value = Object.hasOwn(dataOf(named), absentName) ? dataOf(named)[absentName] : undefined;
    const kind = value === undefined ? 'omit' : value === null ? 'null' : value === '' ? 'empty' : null;
    if (kind === null) return open('a name that nobody has came with a value');
    return found(kind, `${absentWords[kind]} in a read by names`);
  }
  const { basic_info } = dataOf(whole);
  // Empty text may be a value, and a field may be left out because the platform does not have it.
  if (isObject(basic_info) && Object.values(basic_info).includes(null))
    return found('null', 'null in basic_info');
  return open(whole === null ? needsCode : needsMoreCodes);
}

function findValues({ whole, named, written }: Evidence): Finding<Platform['values']> {
  const { extension_info } = dataOf(whole);
  const all = isObject(extension_info) ? extension_info : {};
  const isLiteral = (value: unknown) => typeof value === 'number' || typeof value === 'boolean';
  if (written !== null && isCarriedOut(written)) {
    const [key = ''] = writtenKeys(written);
    const value = [dataOf(named)[key], all[key]].find((one) => one !== undefined);
    if (typeof value === 'string') return found('text', 'a number was read back as text');
    if (isLiteral(value)) return found('as-written', 'a number was read back as a number');
    return open(whole === null ? needsCode : needsMoreCodes);
  }
  return open(written === null ? `${needsUser} and --code` : 'the passback was refused');
}

function writtenKeys({ asked }: NonNullable<Evidence['written']>): string[] {
  return Object.keys(JSON.parse(asked.request.parameters.get('user_info') ?? '{}'));
}

/** How something is treated that a platform may take: only what was carried out shows that it is taken. */
function findTaken<Refused, Taken>(
  { issued, faulty, control }: Evidence,
  refusals: readonly Refusal[],
  name: FaultName,
  refused: Refused,
  taken: Taken,
): Finding<Refused | Taken> {
  const late = issued.get(name) ?? null;
  if (isCarriedOut(late)) return found(taken, 'one was accepted');
  const answer = late ?? faulty.get(name) ?? null;
  if (answer === null) return open('not asked, or not answered alike');
  const why = refusals.find((refusal) => refusal.answer === answer)?.unclear;
  if (why === null) return found(refused, 'one was refused');
  if (saysTheSame(answer, control))
    return open(`not refused before the code is looked up: ${needsMoreCodes}`);
  return open(why ?? 'not clear');
}

function findScopes(evidence: Evidence, refusals: readonly Refusal[]): Finding<Platform['scopes']> {
  if (!saysTheSame(evidence.faulty.get('usualScope'), evidence.control))
    return open(`${defaultScope} is refused: ask the operator which it takes`);
  return findTaken(evidence, refusals, 'otherScope', [defaultScope], 'any' as const);
}

function findWindows(evidence: Evidence): Pick<Findings, 'clock_window_seconds' | 'clock_ahead_seconds'> {
  const old = findLimit(evidence, 'oldTimestamp', evidence.window?.old);
  const ahead = findLimit(evidence, 'futureTimestamp', evidence.window?.ahead);
  const [one, other] = [old.value, ahead.value];
  if (typeof one !== 'number' || typeof other !== 'number')
    return {
      clock_window_seconds: old,
      clock_ahead_seconds: other === 'unlimited' && one === other ? found('same', ahead.detail) : ahead,
    };
  if (Math.abs(one - other) <= 2)
    return { clock_window_seconds: old, clock_ahead_seconds: found('same', ahead.detail) };
  const middle = (one + other) / 2;
  if (!usualWindows.some((seconds) => Math.abs(seconds - middle) <= 1.5))
    return { clock_window_seconds: old, clock_ahead_seconds: ahead };
  const clock = open(`${one} s back, ${other} s ahead: or its clock is wrong by ${Math.abs(one - middle)} s`);
  return { clock_window_seconds: clock, clock_ahead_seconds: clock };
}

function findLimit(
  { issued, faulty, control }: Evidence,
  name: 'oldTimestamp' | 'futureTimestamp',
  limit: { readonly accepted: number; readonly refused: number } | null | undefined,
): Finding<number | 'unlimited'> {
  const late = issued.get(name) ?? null;
  if (isCarriedOut(late)) return found('unlimited', 'an hour was accepted');
  if (late !== null) return open('looked at after the code: it would take many codes');
  if (saysTheSame(faulty.get(name), control))
    return open(`not refused before the code is looked up: ${needsMoreCodes}`);
  if (limit === null || limit === undefined) return open('not asked, or not answered alike');
  const { accepted, refused } = limit;
  if (accepted > maxClockWindowSeconds)
    return open(`more than ${maxClockWindowSeconds} s, which no file can say`);
  const usual = usualWindows.filter((seconds) => seconds >= accepted && seconds <= refused);
  if (usual.length === 1 && usual[0] !== undefined)
    return found(usual[0], `${usual[0]} s, to about a second`);
  if (refused - accepted > 2.5)
    return open(`between ${Math.floor(accepted)} and ${Math.ceil(refused)} s: the answers are slow`);
  return found(Math.round(accepted), `${Math.round(accepted)} s, to about a second`);
}

function findReplay(
  { copies, control, removedCopies, removed }: Evidence,
  refusals: readonly Refusal[],
): Finding<Platform['replay']> {
  if (isCarriedOut(removedCopies)) return found('allow', 'the copy of a passback was carried out');
  const refused = refusals.find(({ means, unclear }) => means === 'randomReplayed' && unclear === null);
  if (refused !== undefined) return found('refuse', `${refused.request} was refused`);
  if (saysTheSame(copies, control))
    return open(
      removed === null
        ? `not refused before the code is looked up: ${needsUser}`
        : 'no passback could be repeated',
    );
  return open('not asked, or not answered alike');
}

function findUses({ uses }: Evidence): Finding<Platform['code_uses']> {
  if (uses === null) return open(needsCode);
  const { count, isUsedUp } = uses;
  if (!isUsedUp) return found('unlimited', `at least ${maxCodeReads}, taken as unlimited`);
  return found(count, `${count === 1 ? '1 read' : `${count} reads`}, if the code was fresh`);
}

function findPassbackId({ written }: Evidence): Finding<Platform['passback_union_id']> {
  if (written === null) return open(needsUser);
  if (!isCarriedOut(written)) return open('the passback was refused');
  const { union_id } = dataOf(written);
  return String(union_id) === written.asked.request.parameters.get('union_id')
    ? found('same', 'the same for that user')
    : found('any', 'another one for that user');
}

/** The names of the chat platform with any prefix, in `basic_info`. */
const chatField = new RegExp(
  `^([A-Za-z][A-Za-z0-9]{0,30}_)(?:${basicInfoFields
    .filter((name) => name.startsWith(neutralChatPrefix))
    .map((name) => name.slice(neutralChatPrefix.length))
    .join('|')})$`,
);

function findPrefix({ whole }: Evidence): Finding<ChatPrefix> {
  if (whole === null) return open(needsCode);
  const { basic_info } = dataOf(whole);
  const fields = Object.keys(isObject(basic_info) ? basic_info : {});
  const [prefix, ...others] = new Set(fields.flatMap((name) => chatField.exec(name)?.[1] ?? []));
  if (prefix === undefined) return open('basic_info of that user has none of the names');
  if (others.length > 0) return open('the names have several prefixes');
  return found(prefix as ChatPrefix, 'in basic_info');
}
