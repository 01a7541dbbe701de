import type { Platform } from '../platform/platform.js';
import {
  type PlatformResultCode,
  type PlatformResultCodes,
  parseResultCodes,
  platformRefusal,
} from '../protocol/result-code-table.js';
import {
  entryOf,
  httpStatusOf,
  messageOf,
  type ResultCode,
  type ResultCodeName,
  resultCode,
} from '../protocol/result-codes.js';
import { alikeOf, type ConstantAnswer, isCarriedOut, saysTheSame } from './answer.js';
import type { Evidence } from './gather.js';
import { controlRead, type FaultName, faults, type Meaning } from './requests.js';

/** A request that a correct platform refuses, and how it is answered. */
export interface Refusal {
  readonly request: string;
  readonly means: Meaning;
  /** `null` if it was not asked, or not answered alike. */
  readonly answer: ConstantAnswer | null;
  /** Why the answer does not show how the platform refuses such a request; `null` if it does. */
  readonly unclear: string | null;
}

/** The code of this project with a meaning. */
export function ownCode(means: Meaning): ResultCode {
  const name = means === 'unknownParameter' || means === 'scopeNotAccepted' ? 'malformedParameter' : means;
  return resultCode[name];
}

/** Unrelated requests: a code that they have in common may mean something else. */
const subjects: readonly (readonly Meaning[])[] = [
  ['noSuchPath', 'wrongMethod'],
  [
    'missingParameter',
    'malformedParameter',
    'unknownParameter',
    'scopeNotAccepted',
    'userNotNamed',
    'primaryKeyNotInUserInfo',
    'userInfoNotFlat',
    'reservedKey',
  ],
  ['unknownAppKey', 'appNotAllowed', 'wrongAppSign', 'wrongSign', 'timestampOutsideWindow', 'randomReplayed'],
  ['codeNotValid'],
];

/** Whether an unknown code is answered unlike a wrong sign: then answers show how far a request came. */
export function tellsApart({ control, faulty }: Evidence): boolean {
  const wrongSign = faulty.get('wrongSign') ?? null;
  return !isCarriedOut(control) && wrongSign !== null && !saysTheSame(wrongSign, control);
}

/** The refusals of a probe; `isSigned` is whether the platform accepted the signatures. */
export function refusalsOf(evidence: Evidence, isSigned: boolean): Refusal[] {
  const { control, copies, faulty, issued, removedCopies, passbacks, throttled } = evidence;
  const passes = (answer: ConstantAnswer | null) => saysTheSame(answer, control);
  /** Answers of requests that a platform may take for another fault. */
  const lookalikes: Partial<Record<FaultName, readonly FaultName[]>> = {
    shortTimestamp: ['oldTimestamp', 'futureTimestamp'],
    otherMethod: ['noCode', 'noChannel'],
    unknownParameter: ['wrongSign'],
    otherScope: ['wrongSign', 'usualScope'],
  };
  const unclearOf = (means: Meaning, answer: ConstantAnswer | null, name?: FaultName): string | null => {
    if (answer === null) return 'not asked, or not answered alike';
    if (isCarriedOut(answer)) return 'carried out';
    if (answer.code === null) return 'no envelope';
    if (throttled.some((one) => saysTheSame(one, answer))) return 'answered as where it throttles';
    if (means === 'codeNotValid') return isSigned ? null : 'the signatures may be wrong';
    if (passes(answer))
      return isSigned ? 'not refused before the code is looked up' : 'the signatures may be wrong';
    const other = (name === undefined ? [] : (lookalikes[name] ?? [])).find((like) => {
      const one = faulty.get(like) ?? null;
      return !passes(one) && saysTheSame(one, answer);
    });
    return other === undefined ? null : `answered like ${faults[other].title}`;
  };
  const refusal = (
    request: string,
    means: Meaning | undefined,
    answer: ConstantAnswer | null,
    name?: FaultName,
  ) => (means === undefined ? [] : [{ request, means, answer, unclear: unclearOf(means, answer, name) }]);
  const isThrottle = throttled.length > 1 || throttled.some(({ httpStatus }) => httpStatus === 429);
  const throttle = isThrottle ? alikeOf(throttled) : null;
  const found: Refusal[] = [
    ...refusal(controlRead().title, 'codeNotValid', control),
    ...[...faulty].flatMap(([name, answer]) => {
      const { title, ...fault } = faults[name];
      const means = 'means' in fault ? fault.means : undefined;
      const late = issued.get(name);
      if (late !== undefined) {
        // What a platform may take is refused only where it does not.
        if (isCarriedOut(late) && 'isOptional' in fault) return [];
        return refusal(`${title}, with a code`, means, late, name);
      }
      return 'isOptional' in fault && passes(answer) ? [] : refusal(title, means, answer, name);
    }),
    ...(passes(copies) ? [] : refusal('a random twice', 'randomReplayed', copies)),
    ...(removedCopies === null || isCarriedOut(removedCopies)
      ? []
      : refusal('a random twice, in a passback', 'randomReplayed', removedCopies)),
    ...passbacks.flatMap(([{ title, means }, answer]) => refusal(title, means, answer)),
    ...(throttle === null ||
    throttle.code === null ||
    (throttle.code === control.code && throttle.httpStatus === control.httpStatus)
      ? []
      : [
          {
            request: 'requests too close to each other',
            means: 'tooManyRequests' as const,
            answer: throttle,
            unclear: null,
          },
        ]),
  ];
  return found.map((one) =>
    isDoubtful(one, found) ? { ...one, unclear: 'one code for unrelated faults' } : one,
  );
}

/** Whether three requests that have nothing to do with each other are answered alike. */
function isDoubtful({ answer, unclear }: Refusal, all: readonly Refusal[]): boolean {
  if (answer === null || unclear !== null) return false;
  const alike = all.filter((other) => other.unclear === null && saysTheSame(other.answer, answer));
  return subjects.filter((meanings) => alike.some(({ means }) => meanings.includes(means))).length > 2;
}

/** The status that the service sends for a meaning without a status of its own. */
function usualStatus(means: Meaning, httpStatus: Platform['http_status']): number {
  return httpStatus === 200 ? 200 : httpStatusOf(ownCode(means));
}

/** Refusals that show their meaning. */
export function clearOf(
  refusals: readonly Refusal[],
): (Refusal & { readonly answer: ConstantAnswer; readonly code: number })[] {
  return refusals.flatMap((refusal) => {
    const { answer, unclear } = refusal;
    return answer === null || answer.code === null || unclear !== null
      ? []
      : [{ ...refusal, answer, code: answer.code }];
  });
}

/**
 * The table of the result codes that were seen; `null` if it is that of this project. A code that cannot be written in
 * a platform file is left out.
 */
export function codesOf(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'],
): { readonly table: PlatformResultCodes | null; readonly left: readonly number[] } {
  const clear = clearOf(refusals);
  const codes = [...new Set(clear.map(({ code }) => code))];
  const entries = codes.map((code) => {
    const of = clear.filter((refusal) => refusal.code === code);
    return [code, entryFor(code, of, httpStatus)] as const;
  });
  const isRead = ([code, entry]: (typeof entries)[number]) => {
    try {
      parseResultCodes({ [code]: entry }, '');
      return true;
    } catch {
      return false;
    }
  };
  const written = entries.filter(isRead);
  const isOwn = written.every(
    ([code, entry]) => typeof entry === 'string' && resultCode[entry as ResultCodeName] === code,
  );
  return {
    table: isOwn ? null : Object.fromEntries(written),
    left: codes.filter((code) => !written.some(([known]) => known === code)),
  };
}

function entryFor(
  code: number,
  refusals: ReturnType<typeof clearOf>,
  httpStatus: Platform['http_status'],
): Meaning | PlatformResultCode {
  const isCaller = (name: Meaning) => Number(entryOf(ownCode(name)).refuses === 'caller');
  const all = [...new Set(refusals.map(({ means }) => means))];
  // A code of malformed parameters needs no further name for some of them.
  const names = all
    .filter(
      (name) => ownCode(name) === resultCode[name as ResultCodeName] || !all.includes('malformedParameter'),
    )
    // The client takes the first: the one that does not end a bulk run.
    .toSorted((a, b) => isCaller(a) - isCaller(b));
  const [name] = names as [Meaning];
  const isOwn = names.length === 1 && ownCode(name) === code;
  const other = refusals.find(({ means, answer }) => answer.httpStatus !== usualStatus(means, httpStatus));
  const texts = refusals
    .filter(({ answer }) => !answer.seen[0].asked.isPersonal)
    .map(({ answer }) => answer.msg);
  const [msg = null] = texts;
  const isFixed = msg !== null && texts.every((text) => text === msg);
  const entry: PlatformResultCode = {
    means: names.length === 1 ? name : names,
    ...(isFixed && !(isOwn && msg === messageOf(code as ResultCode)) && { msg }),
    ...(other && { http_status: other.answer.httpStatus }),
  };
  if (isOwn && ownCode(name) !== resultCode[name as ResultCodeName])
    return { ...entry, means: 'malformedParameter' };
  return Object.keys(entry).length === 1 && names.length === 1 ? name : entry;
}

/** Requests that a service with this platform file would answer differently from the platform. */
export function differencesOf(refusals: readonly Refusal[], platform: Platform): string[] {
  return clearOf(refusals).flatMap(({ request, means, answer, code }) => {
    const detail = means === 'unknownParameter' || means === 'scopeNotAccepted' ? means : undefined;
    const { result_codes, http_status } = platform;
    const own = platformRefusal(ownCode(means), result_codes, http_status, detail);
    return own.code === code && own.httpStatus === answer.httpStatus
      ? []
      : [`${request}: ${own.code}, HTTP ${own.httpStatus}, not ${code}, HTTP ${answer.httpStatus}`];
  });
}

/** Meanings of refusals that were not seen: a service with the file answers them with the codes of this project. */
export function unseenMeanings(refusals: readonly Refusal[]): Exclude<ResultCodeName, 'ok'>[] {
  const seen = clearOf(refusals).map(({ means }) => ownCode(means));
  return (Object.keys(resultCode) as ResultCodeName[]).filter(
    (name): name is Exclude<ResultCodeName, 'ok'> => name !== 'ok' && !seen.includes(resultCode[name]),
  );
}
