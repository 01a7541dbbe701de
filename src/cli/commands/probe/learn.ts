// Apart from index.ts: only a run of the command loads it.
import type { Platform } from '../../../platform/platform.js';
import { defaultScope } from '../../../protocol/endpoints.js';
import { isObject } from '../../../protocol/fields.js';
import { type ChatPrefix, neutralChatPrefix } from '../../../protocol/info-names.js';
import { basicInfoFields } from '../../../protocol/user-record.js';
import type { Observation } from './exchange.js';
import { type FieldFinding, found, open } from './finding.js';
import { dataOf, type Evidence, isCarriedOut, maxCodeReads, saysTheSame, tellsApart } from './gather.js';
import { findCodes, findStatus, type Refusal, refusalsOf } from './refusals.js';
import { absentName } from './requests.js';

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

type Findings = { readonly [Name in keyof Platform]: FieldFinding<Platform[Name]> };

/** Concludes from the answers how the platform does what the spec leaves open. */
export function learn(evidence: Evidence): Learned {
  const isTold = tellsApart(evidence);
  const { whole, written } = evidence;
  const isSigned = isTold || whole !== null || (written !== null && isCarriedOut(written.first));
  const refusals = refusalsOf(evidence, isSigned);
  const http_status = findStatus(refusals);
  // In the order of `platformFields`.
  const findings = {
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
  } satisfies Partial<Findings>;
  const entries = Object.entries(findings);
  const points = entries.map(([field, { isFound, detail }]) => ({
    field: field as keyof typeof findings,
    isFound,
    detail,
  }));
  const values = entries.flatMap(([field, { value }]) => (value === undefined ? [] : [[field, value]]));
  return { fields: Object.fromEntries(values), points, refusals, isSigned };
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
): FieldFinding<Platform['empty_object']> {
  const { extension_info, basic_info } = dataOf(whole);
  const read = [extension_info, basic_info].flatMap((value) => emptyKind(value) ?? []);
  const refused = refusals.flatMap(({ answer }) => emptyKind(answer.members.data) ?? []);
  const [value] = [...read, ...refused];
  if (value === undefined) return open('no object without keys was seen');
  const others = [...new Set([...read, ...refused])].filter((kind) => kind !== value);
  const where = read.length > 0 ? 'in a read' : 'in refusals';
  const also = others.length === 0 ? '' : `; elsewhere ${others.map((kind) => emptyKinds[kind]).join(', ')}`;
  return found(value, `${emptyKinds[value]} ${where}${also}`);
}

function findAbsent({ whole, named }: Evidence): FieldFinding<Platform['absent']> {
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

function findValues({ whole, named, written }: Evidence): FieldFinding<Platform['values']> {
  const { extension_info } = dataOf(whole);
  const all = isObject(extension_info) ? extension_info : {};
  const isLiteral = (value: unknown) => typeof value === 'number' || typeof value === 'boolean';
  const key = written?.first.asked.key;
  if (written !== null && isCarriedOut(written.first) && key !== undefined) {
    const value = [dataOf(named)[key], all[key]].find((one) => one !== undefined);
    if (typeof value === 'string') return found('text', 'a number was read back as text');
    if (isLiteral(value)) return found('as-written', 'a number was read back as a number');
    return open(whole === null ? 'needs --code' : 'the passed-back key did not come back');
  }
  if (Object.values(all).some(isLiteral))
    return found('as-written', 'a number or a truth value in extension_info');
  return open(written === null ? 'needs --code and --union-id' : 'the passback was refused');
}

type Checks = 'unknown_parameters' | 'scopes' | 'clock_window_seconds';

function uncheckable(): Pick<Findings, Checks> {
  const detail = 'a wrong signature is answered like an unknown code';
  return { unknown_parameters: open(detail), scopes: open(detail), clock_window_seconds: open(detail) };
}

/** The checks before the platform looks at the code. */
function findChecks({ unknownCode, faulty, window }: Evidence): Pick<Findings, Checks> {
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

function clockFinding(window: Evidence['window']): FieldFinding<Platform['clock_window_seconds']> {
  if (window === null) return open('not asked');
  const { seconds, isExact, isSymmetric } = window;
  if (seconds === 'unlimited') return found(seconds, 'an hour was accepted');
  const ahead = isSymmetric ? '' : '; further for a timestamp that is ahead';
  return found(
    seconds,
    `${isExact ? `${seconds} s, to about a second` : `more than ${seconds} s, less than an hour`}${ahead}`,
  );
}

function findReplay(
  { unknownCode, copy, written }: Evidence,
  isTold: boolean,
): FieldFinding<Platform['replay']> {
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

function findUses({ uses }: Evidence): FieldFinding<Platform['code_uses']> {
  if (uses === null) return open('needs --code');
  const { count, isUsedUp } = uses;
  if (!isUsedUp) return found('unlimited', `at least ${maxCodeReads}, taken as unlimited`);
  return found(count, `${count === 1 ? '1 read' : `${count} reads`}, if the code was fresh`);
}

function findPassbackId({ written }: Evidence): FieldFinding<Platform['passback_union_id']> {
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

function findPrefix({ whole }: Evidence): FieldFinding<ChatPrefix> {
  if (whole === null) return open('needs --code');
  const { basic_info } = dataOf(whole);
  const fields = Object.keys(isObject(basic_info) ? basic_info : {});
  const [prefix, ...others] = new Set(fields.flatMap((name) => chatField.exec(name)?.[1] ?? []));
  if (prefix === undefined) return open('basic_info of that user has none of the names');
  if (others.length > 0) return open('the names have several prefixes');
  return found(prefix as ChatPrefix, 'in basic_info');
}
