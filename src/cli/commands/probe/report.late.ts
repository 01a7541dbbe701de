// Only a run of the command loads it.
import {
  formatPlatform,
  type Platform,
  type PlatformFile,
  platformFields,
} from '../../../platform/platform.js';
import { isCarriedOut, type Observation } from '../../../probe/answer.js';
import { type Break, findBreaks } from '../../../probe/breaks.js';
import type { Evidence } from '../../../probe/gather.js';
import { type Learned, learn, type Point } from '../../../probe/learn.js';
import { clearOf, differencesOf, ownCode, type Refusal, unseenMeanings } from '../../../probe/refusals.js';
import { httpStatusOf } from '../../../protocol/result-codes.js';

/** The findings of a probe, and which of them may be wrong. */
export interface ProbeResult {
  readonly learned: Learned;
  readonly breaks: readonly Break[];
  readonly doubts: readonly string[];
  /** Where a service with the file would answer otherwise than the platform did. */
  readonly differences: readonly string[];
  /** The platform as it was found, and the rest as it was. */
  readonly found: Platform;
  /** The same as a file. */
  readonly file: PlatformFile;
}

/** Concludes from the answers; `used` is the platform of the profile, `key` that of the passback. */
export function conclude(evidence: Evidence, used: Platform, key: string): ProbeResult {
  const learned = learn(evidence);
  const found = { ...used, ...learned.fields };
  const breaks = findBreaks(evidence, found);
  const doubts = doubtsOf(evidence, learned, key);
  const differences = differencesOf(learned.refusals, found);
  return { learned, breaks, doubts, differences, found, file: formatPlatform(found) };
}

/** `2 of 15 refusals differ from this project; 9 of 17 points are known` */
export function verdictOf({ learned: { refusals, points } }: ProbeResult): string {
  const clear = clearOf(refusals);
  const known = points.filter(({ isFound }) => isFound).length;
  const other = clear.filter((refusal) => !isOwn(refusal)).length;
  return `${other} of ${clear.length} refusals differ from this project; ${known} of ${points.length} points are known`;
}

/** Reasons why not all was asked, or something is left behind. */
function doubtsOf(evidence: Evidence, { isSigned }: Learned, key: string): string[] {
  const { control, stopped, throttled, aheadBy, written, removed } = evidence;
  const { known } = control.seen[0];
  const said = ({ code, httpStatus }: Observation) => code ?? `HTTP ${httpStatus}`;
  const isLeft = isCarriedOut(written) && !isCarriedOut(removed);
  const doubts: readonly (readonly [applies: boolean, doubt: string])[] = [
    [
      !isSigned,
      'an unknown code is answered like a wrong sign: the recipes or the secret may be wrong. ' +
        'Correct that first ("userinfo doctor", "userinfo sign solve"), or give a --code',
    ],
    [
      isSigned && known !== undefined && known !== 'codeNotValid',
      `a right request with an unknown code is answered ${control.code}, which means ${known} to the profile: see "userinfo doctor"`,
    ],
    [
      Math.abs(aheadBy) >= 30,
      `the clocks differ by ${Math.abs(aheadBy)} s: timestamps were sent by that of the platform`,
    ],
    [
      throttled.length > 0,
      `the platform throttles (${[...new Set(throttled.map(said))].join(', ')}): a longer --pause avoids it`,
    ],
    [
      stopped !== null,
      stopped?.instead
        ? `stopped: the platform throttles or blocks: it answers all with ${said(stopped.instead)} now, which may mean tooManyRequests. What was not asked is not known: probe again later, with a longer --pause`
        : 'stopped: the announced number of requests is used up. What was not asked is not known',
    ],
    [isLeft, `${key} is left with the user: the platform did not take null for it`],
  ];
  return doubts.flatMap(([applies, doubt]) => (applies ? [doubt] : []));
}

/** A report for programs. */
export function probeRecord(result: ProbeResult): object {
  const { learned, breaks, doubts, differences, file } = result;
  return {
    verdict: verdictOf(result),
    platform: file,
    refusals: learned.refusals.map(({ request, means, answer, unclear }) => ({
      request,
      means,
      code: answer?.code ?? null,
      http_status: answer?.httpStatus ?? null,
      msg: answer?.msg ?? null,
      unclear,
    })),
    points: learned.points.map(({ field, isFound, detail }) => ({
      field,
      found: isFound,
      ...(isFound && { value: learned.fields[field] ?? null }),
      detail,
    })),
    breaks,
    doubts,
    differences,
    unseen: unseenMeanings(learned.refusals),
  };
}

/** A report for a person, in tables: what differs; with `isWhole` also what is equal. */
export function probeTables({ learned, breaks, differences }: ProbeResult, isWhole: boolean): object {
  const { fields, points, refusals } = learned;
  const isShown = ({ field, isFound }: Point) => isWhole || (isFound && !isUsual(field, fields));
  const unknown = isWhole ? [] : points.filter(({ isFound }) => !isFound);
  const tables = {
    'refusals (§7)': refusals
      .filter((refusal) => isWhole || refusal.unclear !== null || !isOwn(refusal))
      .map(refusalRow),
    'points that differ': points.filter(isShown).map((point) => pointRow(point, fields)),
    'not known': unknown.map(({ field, detail: why }) => ({ field, why })),
    'fixed rules that it breaks': breaks.map(({ section, what, answers }) => ({
      '§': section,
      answer: what,
      times: answers,
    })),
    'what a service with this file answers otherwise': differences.map((request) => ({ request })),
    'not seen, answered by such a service with the codes of this project': unseenMeanings(refusals),
  };
  return Object.fromEntries(Object.entries(tables).filter(([, rows]) => rows.length > 0));
}

function isOwn({ means, answer }: Refusal): boolean {
  const usual = ownCode(means);
  return answer?.code === usual && answer.httpStatus === httpStatusOf(usual);
}

function isUsual(field: keyof Platform, fields: Partial<Platform>): boolean {
  return !(field in fields) || JSON.stringify(fields[field]) === JSON.stringify(platformFields[field].usual);
}

function refusalRow({ request, means, answer, unclear }: Refusal) {
  const usual = ownCode(means);
  const text = answer?.msg ?? answer?.seen[0].msg ?? '';
  const shown = [answer?.code, text && `"${text}"`].filter(Boolean).join(' ');
  const parts = [shown, answer && `HTTP ${answer.httpStatus}`, unclear];
  return {
    request,
    default: `${usual}, HTTP ${httpStatusOf(usual)}`,
    platform: parts.filter(Boolean).join(', '),
  };
}

function pointRow({ field, isFound, detail }: Point, fields: Partial<Platform>) {
  const isLong = field === 'signing' || field === 'result_codes';
  const show = (value: unknown) => (isLong ? '' : JSON.stringify(value));
  const found = [show(fields[field]), detail].filter(Boolean).join(': ');
  return {
    field,
    default: isLong ? 'those of this project' : show(platformFields[field].usual),
    platform: isFound ? found : `not known: ${detail}`,
  };
}
