// Only a run of the command loads it.

import { httpStatusOf } from '../../../core/contract/result-codes.js';
import {
  formatPlatform,
  type Platform,
  type PlatformFile,
  platformFields,
} from '../../../core/platform/platform.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { Evidence } from '../../../lab/behavior/evidence.js';
import { type Learned, learn, type Point } from '../../../lab/behavior/learn.js';
import { differencesOf, unseenMeanings, withUnseen } from '../../../lab/behavior/learned-codes.js';
import type { LeftKey } from '../../../lab/behavior/left-behind.js';
import {
  type ConstantReply,
  hasSameCode,
  isAlike,
  isCarriedOut,
  type ProbeReply,
} from '../../../lab/behavior/probe-reply.js';
import {
  areSignaturesAccepted,
  clearOf,
  defaultCode,
  isSignAccepted,
  type Refusal,
  unsignedParameters,
} from '../../../lab/behavior/refusals.js';
import { findViolations, type Violation } from '../../../lab/behavior/violations.js';
import type { Reply } from '../../../lab/reply.js';

/** The findings of a probe, and which of them may be wrong. */
export interface ProbeResult {
  readonly learned: Learned;
  readonly breaks: readonly Violation[];
  readonly doubts: readonly string[];
  /** Where a service with the file would answer differently from the platform. */
  readonly differences: readonly string[];
  /** The platform as it was found, and the rest as it was. */
  readonly platform: Platform;
  /** The same as a file. */
  readonly file: PlatformFile;
}

/**
 * Concludes from the answers; `used` is the platform of the profile, `left` says what stays with
 * users.
 */
export function conclude(evidence: Evidence, used: Platform, left: readonly string[]): ProbeResult {
  const learned = learn(evidence);
  const platform = platformOf(learned, used);
  return {
    learned,
    breaks: findViolations(evidence, platform),
    doubts: [...doubtsOf(evidence), ...left],
    differences: differencesOf(learned.refusals, platform),
    platform,
    file: formatPlatform(platform),
  };
}

/** The platform as it was found, and the rest as it was. */
function platformOf({ fields }: Learned, used: Platform): Platform {
  const platform = { ...used, ...fields };
  const { result_codes } = platform;
  if (result_codes === null || used.result_codes === null) return platform;
  return { ...platform, result_codes: withUnseen(result_codes, used.result_codes) };
}

/** `2 of 15 refusals differ from those of "userinfo serve"; 9 of 17 open points are settled` */
export function summaryOf({ learned: { refusals, points } }: ProbeResult): string {
  const clear = clearOf(refusals);
  const different = clear.filter((refusal) => !isDefault(refusal));
  const foundPoints = points.filter(({ isFound }) => isFound);
  const refused = `${different.length} of ${clear.length} refusals differ from those of "userinfo serve"`;
  return `${refused}; ${foundPoints.length} of ${points.length} open points are settled`;
}

/** Reasons why something may be wrong, or was not asked. */
function doubtsOf(evidence: Evidence): string[] {
  const doubts = [
    doubtOfSignatures(evidence),
    doubtOfRule(evidence),
    doubtOfTable(evidence),
    doubtOfClock(evidence),
    doubtOfPassbacks(evidence),
    doubtOfPace(evidence),
    doubtOfEnd(evidence),
  ];
  return doubts.filter((doubt) => doubt !== null);
}

/** `1006`; `HTTP 503` for an answer without an envelope. */
function nameAnswer({ code, httpStatus }: Pick<Reply, 'code' | 'httpStatus'>): string {
  return code === null ? `HTTP ${httpStatus}` : String(code);
}

function doubtOfSignatures(evidence: Evidence): string | null {
  if (areSignaturesAccepted(evidence)) return null;
  const advice = 'Correct that first ("userinfo doctor", "userinfo sign try"), or give a --code';
  if (isSignAccepted(evidence)) {
    const cause = 'its recipe may be wrong, or it is checked after the code';
    return `a code that was never issued is answered like a wrong app_sign: ${cause}. ${advice}`;
  }
  if ((evidence.faulty.get('wrongSign') ?? null) === null) return null;
  const cause = 'the recipes or the secret may be wrong';
  return `a code that was never issued is answered like a wrong sign: ${cause}. ${advice}`;
}

/** What settles a rule that is doubted. */
const settles =
  'A test deployment settles it ("userinfo sign try --save PROFILE"), ' +
  'or a captured request does ("userinfo sign solve --sample")';

function doubtOfRule(evidence: Evidence): string | null {
  const parameters = unsignedParameters(evidence);
  if (parameters.length < 2) return null;
  const cause = 'the rule of sign misses parameters that a read may have';
  return `${parameters.join(' and ')} are answered like a wrong sign: ${cause}. ${settles}`;
}

function doubtOfTable(evidence: Evidence): string | null {
  const { code, seen } = evidence.control;
  const { means } = seen[0];
  if (means === undefined || means === 'codeNotValid' || !isSignAccepted(evidence)) return null;
  const meaning = `which means ${means} to the profile: see "userinfo doctor"`;
  return `a right request with a code that was never issued is answered ${code}, ${meaning}`;
}

function doubtOfClock({ aheadBy }: Evidence): string | null {
  const seconds = Math.abs(aheadBy);
  if (seconds < 30) return null;
  return `the clocks differ by ${seconds} s: the probe sent timestamps by the platform's clock`;
}

const likeWrongSign = 'It is answered like a wrong sign: the rule of sign may not fit a passback.';

function doubtOfPassbacks({ written, faulty, control }: Evidence): string | null {
  if (written === null || isCarriedOut(written)) return null;
  const answer = nameAnswer(written);
  const refused = `the passback was refused (${answer}), so nothing is known of passbacks`;
  const wrongSign = faulty.get('wrongSign') ?? null;
  if (hasSameCode(written, wrongSign) && !isAlike(wrongSign, control))
    return `${refused}. ${likeWrongSign} ${settles}`;
  return `${refused}: see whether --union-id is right, and the app may pass back`;
}

function doubtOfPace({ throttled }: Evidence): string | null {
  if (throttled.length === 0) return null;
  const names = (answers: readonly ProbeReply[]) =>
    [...new Set(answers.map(nameAnswer))].join(', ');
  const limited = throttled.filter(({ saysTooMany }) => saysTooMany);
  if (limited.length > 0)
    return `the platform throttles (${names(limited)}): a longer --pause avoids it`;
  const answers = `some requests were answered by ${names(throttled)} for a time`;
  const causes = 'a limit of the rate, which a longer --pause avoids, or a fault of the platform';
  return `${answers}, without HTTP 429 or Retry-After: ${causes}`;
}

function doubtOfEnd({ stopped }: Evidence): string | null {
  if (stopped === null) return null;
  if (stopped.reply === null)
    return 'stopped: the announced number of requests is used up. What was not asked is not known';
  const answers = `it answers all with ${nameAnswer(stopped.reply)} now`;
  const advice = 'What was not asked is not known: probe again later, with a longer --pause';
  return `stopped: the platform throttles or blocks: ${answers}, which may mean tooManyRequests. ${advice}`;
}

/** What stays, or may stay, with a user, and what removes it. */
export function describeLeft({ key, state, refusal }: LeftKey, profile: string | null): string {
  const flag = profile === null ? '' : ` -p ${quoteWhereNeeded(profile)}`;
  const command = `userinfo passback ${quoteWhereNeeded(`${key}:=null`)} --union-id ID${flag}`;
  const isLeft = `${key} is left with the user`;
  const mayBeLeft = `${key} may be left`;
  const ask = 'Ask the operator to remove it';
  switch (state) {
    case 'not removed':
      return `${key} is, or may still be, in the user's record: its removal failed. Remove it: ${command}`;
    case 'null refused': {
      const answer = refusal === null ? '' : nameAnswer(refusal);
      return `${isLeft}: the platform refused null for it (${answer}). ${ask}`;
    }
    case 'still read':
      return `${isLeft}: the platform accepted null for it, and keeps it. ${ask}`;
    case 'not read back': {
      const unseen = 'but no read shows that it is gone. Another --code would';
      return `${mayBeLeft} with the user: the platform accepted null for it, ${unseen}`;
    }
    case 'reserved':
      return `${mayBeLeft} in the user's record: the platform did not refuse the reserved key. ${ask}`;
    case 'with another user': {
      const cause = 'the platform did not refuse a passback that names none';
      return `${mayBeLeft} with another user: ${cause}. Ask the operator which user it was`;
    }
  }
}

/** A report for programs. */
export function probeRecord(result: ProbeResult): object {
  const { learned, breaks, doubts, differences, file } = result;
  return {
    verdict: summaryOf(result),
    platform: file,
    refusals: learned.refusals.map(({ request, means, answer, unclear }) => ({
      request,
      means,
      code: answer?.code ?? null,
      http_status: answer?.httpStatus ?? null,
      msg: answer?.msg ?? null,
      unclear,
    })),
    points: learned.points.map(({ field, isFound, detail }) => {
      const value = isFound ? (learned.fields[field] ?? null) : undefined;
      return withoutUndefined({ field, found: isFound, value, detail });
    }),
    breaks,
    doubts,
    differences,
    unseen: unseenMeanings(learned.refusals),
  };
}

/** A report for a person, in tables: what differs; with `isWhole` also what is equal. */
export function probeTables(
  { learned, breaks, differences }: ProbeResult,
  isWhole: boolean,
): object {
  const { fields, points, refusals } = learned;
  const isShown = ({ field, isFound }: Point) => isWhole || (isFound && !isUsual(field, fields));
  // The complete table of the points has them, too.
  const unknown = points.filter(({ isFound }) => !isFound && !isWhole);
  const tables = {
    'refusals (§7)': refusals
      .filter((refusal) => isWhole || refusal.unclear !== null || !isDefault(refusal))
      .map(refusalRow),
    'points that differ': points.filter(isShown).map((point) => pointRow(point, fields)),
    'not known': unknown.map(({ field, detail: why }) => ({ field, why })),
    'rules of the contract that the platform breaks': breaks.map(({ section, what, answers }) => ({
      '§': section,
      answer: what,
      times: answers,
    })),
    'what a service with this file answers differently': differences.map((request) => ({
      request,
    })),
    'not seen: "userinfo serve" with this file answers by its own codes': unseenMeanings(refusals),
  };
  return Object.fromEntries(Object.entries(tables).filter(([, rows]) => rows.length > 0));
}

function isDefault({ means, answer }: Refusal): boolean {
  const usual = defaultCode(means);
  return answer?.code === usual && answer.httpStatus === httpStatusOf(usual);
}

function isUsual(field: keyof Platform, fields: Partial<Platform>): boolean {
  if (!(field in fields)) return true;
  return JSON.stringify(fields[field]) === JSON.stringify(platformFields[field].default);
}

function refusalRow({ request, means, answer, unclear }: Refusal) {
  const usual = defaultCode(means);
  const parts: string[] = [];
  if (answer !== null) parts.push(showAnswer(answer));
  if (unclear !== null) parts.push(unclear);
  return {
    request,
    default: `${usual}, HTTP ${httpStatusOf(usual)}`,
    platform: parts.join(', '),
  };
}

/** `1006 "code error", HTTP 200` */
function showAnswer({ code, msg, httpStatus, seen: [first] }: ConstantReply): string {
  const parts: string[] = [];
  if (code !== null) parts.push(String(code));
  const text = msg ?? first.text;
  if (text && !first.asked.isPersonal) parts.push(`"${text}"`);
  const status = `HTTP ${httpStatus}`;
  return parts.length === 0 ? status : `${parts.join(' ')}, ${status}`;
}

function pointRow({ field, isFound, detail }: Point, fields: Partial<Platform>) {
  const isLong = field === 'signing' || field === 'result_codes';
  const platform = isFound ? detail : `not known: ${detail}`;
  if (isLong) return { field, default: 'the defaults', platform };
  const shown = { field, default: JSON.stringify(platformFields[field].default) };
  if (!isFound) return { ...shown, platform };
  const value = [JSON.stringify(fields[field]), detail].filter(Boolean).join(': ');
  return { ...shown, platform: value };
}
