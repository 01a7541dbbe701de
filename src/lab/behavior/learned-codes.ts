import {
  type PlatformResultCode,
  type PlatformResultCodes,
  parseResultCodes,
  platformRefusal,
} from '../../core/contract/result-code-table.js';
import {
  defaultMsg,
  httpStatusOf,
  type ResultCodeName,
  resultCode,
  resultCodeEntry,
} from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import { type ClearRefusal, clearOf, defaultCode, type Refusal } from './refusals.js';
import type { Meaning } from './requests.js';

/** The result codes that were seen. */
export interface LearnedCodes {
  /** `null` if they are those of this project. */
  readonly table: PlatformResultCodes | null;
  /** Codes that a platform file cannot express. */
  readonly leftOut: readonly number[];
}

/**
 * The table of the result codes that were seen; a code that cannot be written in a platform file is
 * left out.
 */
export function codesOf(
  refusals: readonly Refusal[],
  httpStatus: Platform['http_status'],
): LearnedCodes {
  const byCode = new Map<number, ClearRefusal[]>();
  for (const refusal of clearOf(refusals))
    byCode.set(refusal.code, [...(byCode.get(refusal.code) ?? []), refusal]);
  const table: Record<number, Meaning | PlatformResultCode> = {};
  const leftOut: number[] = [];
  let isDefault = true;
  for (const [code, alike] of byCode) {
    const entry = entryFor(code, alike, httpStatus);
    if (!canBeWritten(code, entry)) {
      leftOut.push(code);
      continue;
    }
    table[code] = entry;
    isDefault &&= typeof entry === 'string' && resultCode[entry as ResultCodeName] === code;
  }
  return { table: isDefault ? null : table, leftOut };
}

/**
 * A table with the entries of another one that it says nothing about: neither the code was seen,
 * nor a refusal with one of its meanings.
 */
export function withUnseen(
  table: PlatformResultCodes,
  rest: PlatformResultCodes,
): PlatformResultCodes {
  const seen = new Set(Object.values(table).flatMap(meaningsOf));
  const unseen = Object.entries(rest).filter(
    ([code, entry]) =>
      !Object.hasOwn(table, code) && !meaningsOf(entry).some((name) => seen.has(name)),
  );
  return { ...Object.fromEntries(unseen), ...table };
}

function meaningsOf(entry: Meaning | PlatformResultCode): readonly Meaning[] {
  if (typeof entry === 'string') return [entry];
  return entry.means === undefined ? [] : [entry.means].flat();
}

function canBeWritten(code: number, entry: Meaning | PlatformResultCode): boolean {
  try {
    parseResultCodes({ [code]: entry }, '');
    return true;
  } catch {
    return false;
  }
}

/**
 * The entry of a code: its meanings, and what differs from this project in all refusals with it.
 */
function entryFor(
  code: number,
  refusals: readonly ClearRefusal[],
  httpStatus: Platform['http_status'],
): Meaning | PlatformResultCode {
  const names = namesFor(refusals);
  const [name] = names;
  const isDefault = names.length === 1 && name !== undefined && defaultCode(name) === code;
  const means = names.length === 1 && name !== undefined ? name : names;
  const msg = commonText(refusals);
  const status = commonStatus(refusals);
  const isUsualStatus = refusals.every(
    ({ means, answer }) => answer.httpStatus === usualStatus(means, httpStatus),
  );
  const isDetail = name === 'unknownParameter' || name === 'scopeNotAccepted';
  const entry: { means: Meaning | Meaning[]; msg?: string; http_status?: number } = { means };
  if (msg !== null && !(isDefault && msg === defaultMsg(defaultCode(name)))) entry.msg = msg;
  if (status !== null && !isUsualStatus) entry.http_status = status;
  if (isDefault && isDetail) return { ...entry, means: 'malformedParameter' };
  if (Object.keys(entry).length === 1 && names.length === 1 && name !== undefined) return name;
  return entry;
}

/**
 * The meanings of a code. The client takes the first: one that does not end a bulk run, if there is
 * one.
 */
function namesFor(refusals: readonly ClearRefusal[]): Meaning[] {
  const all = [...new Set(refusals.map(({ means }) => means))];
  const isCaller = (name: Meaning) =>
    Number(resultCodeEntry(defaultCode(name)).refuses === 'caller');
  // A code of malformed parameters needs no further name for some of them.
  const isNeeded = (name: Meaning) =>
    defaultCode(name) === resultCode[name as ResultCodeName] || !all.includes('malformedParameter');
  return all.filter(isNeeded).toSorted((a, b) => isCaller(a) - isCaller(b));
}

/** The text of all refusals; `null` if they differ, or none may be saved. */
function commonText(refusals: readonly ClearRefusal[]): string | null {
  const [first, ...others] = refusals.map(({ answer }) => answer.text);
  if (first == null || others.some((text) => text !== first)) return null;
  return refusals.find(({ answer }) => answer.msg !== null)?.answer.msg ?? null;
}

/** The HTTP status of all refusals; `null` if they differ. */
function commonStatus(refusals: readonly ClearRefusal[]): number | null {
  const [first, ...others] = refusals.map(({ answer }) => answer.httpStatus);
  return first === undefined || others.some((status) => status !== first) ? null : first;
}

/** The status that the service sends for a meaning without a status of its own. */
function usualStatus(means: Meaning, httpStatus: Platform['http_status']): number {
  return httpStatus === 200 ? 200 : httpStatusOf(defaultCode(means));
}

/** Requests that a service with this platform file would answer differently from the platform. */
export function differencesOf(refusals: readonly Refusal[], platform: Platform): string[] {
  const { result_codes, http_status } = platform;
  return clearOf(refusals).flatMap(({ request, means, answer, code }) => {
    const detail = means === 'unknownParameter' || means === 'scopeNotAccepted' ? means : undefined;
    const served = platformRefusal(defaultCode(means), result_codes, http_status, detail);
    if (served.code === code && served.httpStatus === answer.httpStatus) return [];
    const ofService = `${served.code}, HTTP ${served.httpStatus}`;
    return [`${request}: ${ofService}, not ${code}, HTTP ${answer.httpStatus}`];
  });
}

/**
 * Meanings of refusals that were not seen: a service with the file answers them with the codes of
 * this project.
 */
export function unseenMeanings(refusals: readonly Refusal[]): Exclude<ResultCodeName, 'ok'>[] {
  const seen = clearOf(refusals).map(({ means }) => defaultCode(means));
  const names = Object.keys(resultCode) as ResultCodeName[];
  return names.filter(
    (name): name is Exclude<ResultCodeName, 'ok'> =>
      name !== 'ok' && !seen.includes(resultCode[name]),
  );
}
