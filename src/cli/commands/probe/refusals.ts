// Apart from index.ts: only a run of the command loads it.
import type { Platform } from '../../../platform/platform.js';
import type { PlatformResultCode, PlatformResultCodes } from '../../../protocol/result-code-table.js';
import {
  entryOf,
  httpStatusOf,
  messageOf,
  type ResultCodeName,
  resultCode,
} from '../../../protocol/result-codes.js';
import type { Observation } from './exchange.js';
import { type FieldFinding, found, open } from './finding.js';
import { type Evidence, isCarriedOut, saysTheSame, tellsApart } from './gather.js';

/** A request that a correct platform refuses, and its answer. */
export interface Refusal {
  readonly request: string;
  readonly means: ResultCodeName;
  readonly answer: Observation;
  /** Why the answer does not show how the platform refuses such a request; `null` if it does. */
  readonly unclear: string | null;
}

/** The refusals of a probe; `isSigned` is whether the platform accepted the signatures. */
export function refusalsOf(evidence: Evidence, isSigned: boolean): Refusal[] {
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
  const refusal = (answer: Observation, means = answer.asked.means, request = answer.asked.title) =>
    means === undefined ? [] : [{ request, means, answer, unclear: unclearOf(means, answer) }];
  // What a platform may take is refused only where it does not.
  const isOptional = (name: string) => name === 'unknownParameter' || name === 'otherScope';
  return [
    ...refusal(unknownCode),
    ...Object.entries(faulty).flatMap(([name, answer]) =>
      isOptional(name) && passes(answer) ? [] : refusal(answer),
    ),
    ...(passes(copy) ? [] : refusal(copy, 'randomReplayed', 'a random twice')),
    ...(written === null || isCarriedOut(written.copy)
      ? []
      : refusal(written.copy, 'randomReplayed', 'a random twice, in a passback')),
    ...refusedPassbacks.flatMap((answer) => refusal(answer)),
    ...(throttled === null ? [] : refusal(throttled, 'tooManyRequests', 'requests too close to each other')),
  ];
}

/** The status that the service sends for a meaning without a status of its own. */
function usualStatus(means: ResultCodeName, httpStatus: Platform['http_status']): number {
  return httpStatus === 200 ? 200 : httpStatusOf(resultCode[means]);
}

export function findStatus(refusals: readonly Refusal[]): FieldFinding<Platform['http_status']> {
  const statuses = refusals
    .filter(({ unclear }) => unclear !== 'no envelope')
    .map(({ answer }) => answer.httpStatus);
  if (statuses.length === 0) return open('no refusal was an envelope');
  const isUsually200 = 2 * statuses.filter((status) => status === 200).length > statuses.length;
  const shown = [...new Set(statuses)].toSorted().join(', ');
  return found(isUsually200 ? 200 : 'by-code', shown);
}

/** The table of the result codes that were seen; `null` if it is that of this project. */
export function findCodes(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'] = 'by-code',
): FieldFinding<PlatformResultCodes | null> {
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
