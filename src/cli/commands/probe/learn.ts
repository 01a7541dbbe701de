// Apart from index.ts: only a run of the command loads it.
import { type Platform, platformFields } from '../../../platform/platform.js';
import { defaultScope } from '../../../protocol/endpoints.js';
import { isObject } from '../../../protocol/fields.js';
import { type ChatPrefix, neutralChatPrefix } from '../../../protocol/info-names.js';
import type { PlatformResultCode, PlatformResultCodes } from '../../../protocol/result-code-table.js';
import {
  entryOf,
  httpStatusOf,
  messageOf,
  type ResultCodeName,
  resultCode,
} from '../../../protocol/result-codes.js';
import { basicInfoFields } from '../../../protocol/user-record.js';
import type { Observation } from './exchange.js';
import { dataOf, type Evidence, isCarriedOut, maxCodeReads, saysTheSame, tellsApart } from './gather.js';
import { absentName, type FaultyRead, faultyReads } from './requests.js';

/** A request that a correct platform refuses, and its answer. */
export interface Refusal {
  readonly request: string;
  readonly means: ResultCodeName;
  readonly answer: Observation;
  /** Why the answer does not show how the platform refuses such a request; `null` if it does. */
  readonly unclear: string | null;
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

type Found = { -readonly [Name in keyof Platform]?: Finding<Platform[Name]> };

/** The value of a field, and how it shows; `undefined` if it is not known, and why. */
interface Finding<T> {
  readonly value: T | undefined;
  readonly isFound: boolean;
  readonly detail: string;
}

function found<T>(value: T, detail: string): Finding<T> {
  return { value, isFound: true, detail };
}

function open(detail: string): Finding<never> {
  return { value: undefined, isFound: false, detail };
}

/** Concludes from the answers how the platform does what the spec leaves open. */
export function learn(evidence: Evidence): Learned {
  const isTold = tellsApart(evidence);
  const { whole, written } = evidence;
  const isSigned = isTold || whole !== null || (written !== null && isCarriedOut(written.first));
  const refusals = refusalsOf(evidence, isSigned);
  const http_status = findStatus(refusals);
  const findings: Found = {
    signing: {
      value: undefined,
      isFound: isSigned,
      detail: isSigned ? 'accepted as the profile has them' : 'they may be wrong',
    },
    result_codes: findCodes(refusals, http_status.value),
    http_status,
    absent: findAbsent(evidence),
    empty_object: findEmptyObject(evidence, refusals),
    values: findValues(evidence),
    ...(isTold ? findChecks(evidence) : uncheckable()),
    replay: findReplay(evidence, isTold),
    code_uses: findUses(evidence),
    code_ttl_seconds: open('it would take waiting'),
    unknown_user: open('asking could create a user'),
    passback_union_id: findPassbackId(evidence),
    chat_prefix: findPrefix(evidence),
  };
  const names = (Object.keys(platformFields) as (keyof Platform)[]).filter((name) => name in findings);
  const values = names.flatMap((name) => {
    const value = findings[name]?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  const points = names.map((field) => {
    const { isFound, detail } = findings[field] as Finding<unknown>;
    return { field, isFound, detail };
  });
  return { fields: Object.fromEntries(values) as Partial<Platform>, points, refusals, isSigned };
}

function refusalsOf(evidence: Evidence, isSigned: boolean): Refusal[] {
  const { unknownCode, copy, faulty, written, refusedPassbacks, throttled } = evidence;
  const isTold = tellsApart(evidence);
  const passes = (answer: Observation) => isTold && saysTheSame(answer, unknownCode);
  const unclearOf = (means: ResultCodeName, answer: Observation): string | null => {
    if (isCarriedOut(answer)) return 'carried out';
    if (answer.code === null) return 'no envelope';
    if (!saysTheSame(answer, unknownCode)) return null;
    if (!isSigned) return 'the signatures may be wrong';
    if (['codeNotValid', 'wrongAppSign', 'wrongSign'].includes(means)) return null;
    return isTold ? 'not refused for that' : 'answered like a wrong signature';
  };
  const refusal = (answer: Observation, means: ResultCodeName, request = answer.asked.title): Refusal => ({
    request,
    means,
    answer,
    unclear: unclearOf(means, answer),
  });
  // What a platform may take is refused only where it does not.
  const isOptional = (name: string) => name === 'unknownParameter' || name === 'otherScope';
  const asked = Object.keys(faultyReads) as FaultyRead[];
  return [
    refusal(unknownCode, 'codeNotValid'),
    ...asked.flatMap((name) => {
      const { means } = faulty[name].asked;
      return means === undefined || (isOptional(name) && passes(faulty[name]))
        ? []
        : [refusal(faulty[name], means)];
    }),
    ...(passes(copy) ? [] : [refusal(copy, 'randomReplayed', 'a random twice')]),
    ...(written === null || isCarriedOut(written.copy)
      ? []
      : [refusal(written.copy, 'randomReplayed', 'a random twice, in a passback')]),
    ...refusedPassbacks.flatMap((answer) => {
      const { means } = answer.asked;
      return means === undefined ? [] : [refusal(answer, means)];
    }),
    ...(throttled === null
      ? []
      : [refusal(throttled, 'tooManyRequests', 'requests too close to each other')]),
  ];
}

/** The status that the service sends for a meaning without a status of its own. */
function usualStatus(means: ResultCodeName, httpStatus: Platform['http_status']): number {
  return httpStatus === 200 ? 200 : httpStatusOf(resultCode[means]);
}

function findStatus(refusals: readonly Refusal[]): Finding<Platform['http_status']> {
  const statuses = refusals
    .filter(({ unclear }) => unclear !== 'no envelope')
    .map(({ answer }) => answer.httpStatus);
  if (statuses.length === 0) return open('no refusal was an envelope');
  const isUsually200 = 2 * statuses.filter((status) => status === 200).length > statuses.length;
  const shown = [...new Set(statuses)].toSorted().join(', ');
  return found(isUsually200 ? 200 : 'by-code', shown);
}

/** The table of the result codes that were seen; `null` if it is that of this project. */
function findCodes(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'] = 'by-code',
): Finding<PlatformResultCodes | null> {
  const first = new Map<ResultCodeName, Observation>();
  for (const { means, answer, unclear } of refusals) {
    if (unclear === null && !first.has(means)) first.set(means, answer);
  }
  if (first.size === 0) return open('no refusal shows its meaning');
  const codes = [...new Set([...first.values()].flatMap(({ code }) => code ?? []))];
  const entries = codes.map((code) => [code, entryFor(code, first, refusals, httpStatus)] as const);
  const isOwn = entries.every(([code, entry]) => typeof entry === 'string' && resultCode[entry] === code);
  const detail = `${first.size} meanings, ${codes.length} codes`;
  return found(isOwn ? null : Object.fromEntries(entries), detail);
}

function entryFor(
  code: number,
  first: ReadonlyMap<ResultCodeName, Observation>,
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'],
): ResultCodeName | PlatformResultCode {
  const isCaller = (name: ResultCodeName) => (entryOf(resultCode[name]).refuses === 'caller' ? 1 : 0);
  const names = [...first]
    .filter(([, answer]) => answer.code === code)
    .map(([name]) => name)
    // The client takes the first: the one that does not end a bulk run.
    .toSorted((a, b) => isCaller(a) - isCaller(b));
  const answers = refusals.filter(({ answer, unclear }) => answer.code === code && unclear === null);
  const other = answers.find(({ means, answer }) => answer.httpStatus !== usualStatus(means, httpStatus));
  const texts = answers.flatMap(({ answer }) => (answer.asked.isPersonal ? [] : [answer]));
  const [text] = texts;
  const isFixed =
    text !== undefined &&
    text.msg !== '' &&
    texts.every(({ msg, isMasked }) => msg === text.msg && !isMasked);
  const [name] = names as [ResultCodeName];
  const isOwn = names.length === 1 && resultCode[name] === code;
  const entry: PlatformResultCode = {
    means: names.length === 1 ? name : names,
    // A code of this project has the texts of this project, which name the parameter.
    ...(isFixed && !isOwn && text.msg !== messageOf(resultCode[name]) && { msg: text.msg }),
    ...(other && { http_status: other.answer.httpStatus }),
  };
  return Object.keys(entry).length === 1 && names.length === 1 ? name : entry;
}

const emptyKinds = { object: '{}', list: '[]', null: 'null' } as const;

function emptyKind(value: unknown): keyof typeof emptyKinds | undefined {
  if (value === null) return 'null';
  if (typeof value !== 'object' || Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? 'list' : 'object';
}

function findEmptyObject(
  { whole }: Evidence,
  refusals: readonly Refusal[],
): Finding<Platform['empty_object']> {
  const read =
    whole === null
      ? []
      : [dataOf(whole).extension_info, dataOf(whole).basic_info].flatMap((value) => emptyKind(value) ?? []);
  const refused = refusals.flatMap(({ answer }) => emptyKind(answer.members.data) ?? []);
  const [value] = [...read, ...refused];
  if (value === undefined) return open('no object without keys was seen');
  const others = [...new Set([...read, ...refused])].filter((kind) => kind !== value);
  const where = read.length > 0 ? 'in a read' : 'in refusals';
  const also = others.length === 0 ? '' : `; elsewhere ${others.map((kind) => emptyKinds[kind]).join(', ')}`;
  return found(value, `${emptyKinds[value]} ${where}${also}`);
}

function findAbsent({ whole, named }: Evidence): Finding<Platform['absent']> {
  const inFields = whole === null ? undefined : absentField(dataOf(whole).basic_info);
  if (named === null) {
    if (inFields !== undefined) return found(inFields, `${absentWords[inFields]} in basic_info`);
    return open(
      whole === null ? 'needs --code' : 'all fields of basic_info have a value: needs a second --code',
    );
  }
  const value = Object.hasOwn(dataOf(named), absentName) ? dataOf(named)[absentName] : undefined;
  const kind = value === undefined ? 'omit' : value === null ? 'null' : value === '' ? 'empty' : null;
  if (kind === null) return open('a name that nobody has came with a value');
  const also = inFields === undefined || inFields === kind ? '' : `; ${absentWords[inFields]} in basic_info`;
  return found(kind, `${absentWords[kind]} in a read by names${also}`);
}

const absentWords = { omit: 'left out', null: 'null', empty: 'empty text' } as const;

function absentField(basicInfo: unknown): Platform['absent'] | undefined {
  const values = isObject(basicInfo) ? Object.values(basicInfo) : [];
  if (values.length < basicInfoFields.length) return 'omit';
  return values.includes(null) ? 'null' : values.includes('') ? 'empty' : undefined;
}

function findValues({ whole, named, written }: Evidence): Finding<Platform['values']> {
  const { extension_info } = whole === null ? {} : dataOf(whole);
  const all = isObject(extension_info) ? extension_info : {};
  const isLiteral = (value: unknown) => typeof value === 'number' || typeof value === 'boolean';
  const key = written?.first.asked.key;
  if (written !== null && isCarriedOut(written.first) && key !== undefined) {
    const [value] = [named === null ? undefined : dataOf(named)[key], all[key]].filter(
      (one) => one !== undefined,
    );
    if (typeof value === 'string') return found('text', 'a number was read back as text');
    if (isLiteral(value)) return found('as-written', 'a number was read back as a number');
    return open(whole === null ? 'needs --code' : 'the passed-back key did not come back');
  }
  if (Object.values(all).some(isLiteral))
    return found('as-written', 'a number or a truth value in extension_info');
  return open(written === null ? 'needs --code and --union-id' : 'the passback was refused');
}

type Checks = 'unknown_parameters' | 'scopes' | 'clock_window_seconds';

function uncheckable(): Pick<Found, Checks> {
  const detail = 'a wrong signature is answered like an unknown code';
  return { unknown_parameters: open(detail), scopes: open(detail), clock_window_seconds: open(detail) };
}

/** The checks before the platform looks at the code. */
function findChecks({ unknownCode, faulty, window }: Evidence): Pick<Found, Checks> {
  const passes = (answer: Observation) => saysTheSame(answer, unknownCode);
  const { unknownParameter, usualScope, otherScope, wrongSign } = faulty;
  const unknown_parameters = passes(unknownParameter)
    ? found('ignore' as const, 'one was ignored')
    : saysTheSame(unknownParameter, wrongSign)
      ? open('the signature with one was wrong: the platform signs other parameters')
      : found('refuse' as const, 'one was refused');
  const scopes = !passes(usualScope)
    ? open(`${defaultScope} is refused: ask the operator which it takes`)
    : passes(otherScope)
      ? found('any' as const, 'an invented one was accepted')
      : found([defaultScope], 'an invented one was refused');
  return { unknown_parameters, scopes, clock_window_seconds: clockFinding(window) };
}

function clockFinding(window: Evidence['window']): Finding<Platform['clock_window_seconds']> {
  if (window === null) return open('not asked');
  const { seconds, isExact, isSymmetric } = window;
  if (seconds === 'unlimited') return found(seconds, 'an hour was accepted');
  const ahead = isSymmetric ? '' : '; further for a timestamp that is ahead';
  return found(
    seconds,
    `${isExact ? `${seconds} s, to about a second` : `more than ${seconds} s, less than an hour`}${ahead}`,
  );
}

function findReplay({ unknownCode, copy, written }: Evidence, isTold: boolean): Finding<Platform['replay']> {
  if (written !== null && isCarriedOut(written.first)) {
    return isCarriedOut(written.copy)
      ? found('allow', 'the copy of a passback was carried out')
      : found('refuse', 'the copy of a passback was refused');
  }
  if (!saysTheSame(copy, unknownCode)) return found('refuse', 'the copy of a read was refused');
  return isTold
    ? found('allow', 'the copy of a read with an unknown code was answered like the first')
    : open('the copy of a refused read was answered like the first');
}

function findUses({ uses }: Evidence): Finding<Platform['code_uses']> {
  if (uses === null) return open('needs --code');
  const { count, isUsedUp } = uses;
  if (!isUsedUp) return found('unlimited', `at least ${maxCodeReads}, taken as unlimited`);
  return found(count, `${count === 1 ? '1 read' : `${count} reads`}, if the code was fresh`);
}

function findPassbackId({ written }: Evidence): Finding<Platform['passback_union_id']> {
  if (written === null || !isCarriedOut(written.first)) return open('needs --union-id');
  const { union_id } = dataOf(written.first);
  return union_id === written.first.asked.request.parameters.get('union_id')
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
  if (whole === null) return open('needs --code');
  const { basic_info } = dataOf(whole);
  const fields = Object.keys(isObject(basic_info) ? basic_info : {});
  const [prefix, ...others] = new Set(fields.flatMap((name) => chatField.exec(name)?.[1] ?? []));
  if (prefix === undefined) return open('basic_info of that user has none of the names');
  if (others.length > 0) return open('the names have several prefixes');
  return found(prefix as ChatPrefix, 'in basic_info');
}
