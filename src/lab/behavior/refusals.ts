import type { ResultCodeName } from '../../core/contract/result-codes.js';
import { type ResultCode, resultCode } from '../../core/contract/result-codes.js';
import type { Evidence } from './evidence.js';
import { alikeOf, type ConstantReply, hasSameCode, isAlike, isCarriedOut } from './probe-reply.js';
import { canImitate, type Meaning, type ReadVariantName, readVariants } from './requests.js';

/** A request that a correct platform refuses, and how it is answered. */
export interface Refusal {
  readonly request: string;
  readonly means: Meaning;
  /** `null` if it was not asked, or answered inconsistently. */
  readonly answer: ConstantReply | null;
  /** Why the answer does not show how the platform refuses such a request; `null` if it does. */
  readonly unclear: string | null;
}

/** Why an answer is missing. */
export const notAsked = 'not asked, or answered inconsistently';

/** The code of this project with a meaning. */
export function defaultCode(means: Meaning): ResultCode {
  const isDetail = means === 'unknownParameter' || means === 'scopeNotAccepted';
  return resultCode[isDetail ? 'malformedParameter' : (means satisfies ResultCodeName)];
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
  [
    'unknownAppKey',
    'appNotAllowed',
    'wrongAppSign',
    'wrongSign',
    'timestampOutsideWindow',
    'randomReplayed',
  ],
  ['codeNotValid'],
];

/** Faults that a platform may take for another one: by the code of that answer nothing is shown. */
const lookalikes: Partial<Record<ReadVariantName, readonly ReadVariantName[]>> = {
  shortTimestamp: ['oldTimestamp', 'futureTimestamp'],
  otherMethod: ['noCode', 'noChannel'],
  unknownParameter: ['wrongSign'],
  otherScope: ['wrongSign', 'usualScope'],
};

/** Whether a fault is answered unlike the control: then the control came further. */
function isToldApart({ control, faulty }: Evidence, name: ReadVariantName): boolean {
  const answer = faulty.get(name) ?? null;
  return answer !== null && !isAlike(answer, control);
}

/**
 * Whether a request was carried out: then the signatures are right, and all else that names the
 * caller.
 */
function isAnyCarriedOut({ control, whole, written }: Evidence): boolean {
  return isCarriedOut(control) || isCarriedOut(whole) || isCarriedOut(written);
}

/** Whether the platform accepted `sign` (§5.6), or carries requests out without it. */
export function isSignAccepted(evidence: Evidence): boolean {
  return isAnyCarriedOut(evidence) || isToldApart(evidence, 'wrongSign');
}

/** Whether the platform accepted both signatures. */
export function areSignaturesAccepted(evidence: Evidence): boolean {
  if (isAnyCarriedOut(evidence)) return true;
  return isToldApart(evidence, 'wrongSign') && isToldApart(evidence, 'wrongAppSign');
}

/**
 * The parameters of §4.1 with which a read is answered like one with a wrong `sign`: the rule of
 * `sign` may not cover them.
 */
export function unsignedParameters({ control, faulty }: Evidence): string[] {
  const wrongSign = faulty.get('wrongSign');
  const optional = { scope: 'usualScope', info_name: 'oneName' } as const;
  return Object.entries(optional).flatMap(([parameter, name]) => {
    const answer = faulty.get(name);
    const isUnsigned = hasSameCode(answer, wrongSign) && !isAlike(answer, control);
    return isUnsigned ? [parameter] : [];
  });
}

/**
 * Why the answer to a code that was never issued does not show how such codes are refused; `null`
 * if it does. Something else may be refused in each request: only a read that was carried out shows
 * that it is the code.
 */
export function doubtOfControl(evidence: Evidence): string | null {
  const { control, whole, user, uses, refusedCodes } = evidence;
  if (!areSignaturesAccepted(evidence)) return 'the signatures may be wrong';
  if (user.codes.length === 0) return 'needs --code: the refusal may have another cause';
  if (!isCarriedOut(whole)) {
    if (refusedCodes.length === 0) return notAsked;
    return 'each --code was refused: the refusal may have another cause';
  }
  if (canImitate(user.codes[0])) return null;
  const refusals = [uses?.refusal ?? null, ...refusedCodes];
  const isOfForm = refusals.some((refusal) => isAlike(refusal, control));
  return isOfForm ? null : invalidFormat;
}

const invalidFormat = 'its format may be refused: --code is too short to invent a similar one';

/**
 * Why another answer to a timestamp does not show that it is refused: all others may be, where the
 * clock of the platform is wrong by about an hour. `null` if it does, or the fault has nothing to
 * do with timestamps.
 */
export function doubtOfClock(evidence: Evidence, name: ReadVariantName): string | null {
  const opposites: Partial<Record<ReadVariantName, ReadVariantName>> = {
    oldTimestamp: 'futureTimestamp',
    futureTimestamp: 'oldTimestamp',
  };
  const opposite = opposites[name];
  if (opposite === undefined || isAnyCarriedOut(evidence) || isToldApart(evidence, opposite))
    return null;
  return `${readVariants[opposite].title} is not refused: the clock of the platform may be wrong`;
}

/** Collects the refusals of a probe. */
class RefusalList {
  readonly #evidence: Evidence;
  readonly #refusals: Refusal[] = [];

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  addControl(): void {
    const { control } = this.#evidence;
    const unclear = this.#doubtOf(control) ?? doubtOfControl(this.#evidence);
    const request = control.seen[0].asked.title;
    this.#refusals.push({ request, means: 'codeNotValid', answer: control, unclear });
  }

  addReads(): void {
    for (const [name, answer] of this.#evidence.faulty) {
      const fault = readVariants[name];
      if (!('means' in fault)) continue;
      const { title, means } = fault;
      // What a platform may take is refused only where it does not.
      const isOptional = 'isOptional' in fault;
      const answerWithCode = this.#evidence.issued.get(name);
      if (answerWithCode !== undefined) {
        if (isOptional && isCarriedOut(answerWithCode)) continue;
        const unclear = this.#doubtOf(answerWithCode) ?? this.#doubtOfPlace(answerWithCode);
        this.#refusals.push({
          request: `${title}, with a code`,
          means,
          answer: answerWithCode,
          unclear,
        });
        continue;
      }
      if (isOptional && isAlike(answer, this.#evidence.control)) continue;
      const unclear =
        this.#doubtOf(answer) ??
        this.#doubtOfPlace(answer) ??
        this.#doubtOfLookalike(name, answer) ??
        doubtOfClock(this.#evidence, name);
      this.#refusals.push({ request: title, means, answer, unclear });
    }
  }

  addReplays(): void {
    const { copies, removedCopies, control } = this.#evidence;
    const means = 'randomReplayed';
    if (!isAlike(copies, control)) {
      const unclear = this.#doubtOf(copies);
      this.#refusals.push({ request: 'a random twice', means, answer: copies, unclear });
    }
    if (removedCopies === null || isCarriedOut(removedCopies)) return;
    const unclear = this.#doubtOf(removedCopies);
    const request = 'a random twice, in a passback';
    this.#refusals.push({ request, means, answer: removedCopies, unclear });
  }

  addPassbacks(): void {
    const isControlled = isCarriedOut(this.#evidence.writtenAgain);
    for (const { asked, answer } of this.#evidence.passbacks) {
      if (asked.means === undefined) continue;
      const uncontrolled = isControlled ? null : 'a right passback after it was not carried out';
      const unclear = this.#doubtOf(answer) ?? uncontrolled;
      this.#refusals.push({ request: asked.title, means: asked.means, answer, unclear });
    }
  }

  /**
   * HTTP has to say that there were too many requests: a fault of the platform comes and goes, too.
   */
  addThrottle(): void {
    const { throttled, control } = this.#evidence;
    const answer = alikeOf(
      throttled.filter(({ saysTooMany, code }) => saysTooMany && code !== null),
    );
    if (answer === null || hasSameCode(answer, control)) return;
    const request = 'requests too close to each other';
    this.#refusals.push({ request, means: 'tooManyRequests', answer, unclear: null });
  }

  /** All of them; one code for unrelated faults is unclear. */
  get all(): Refusal[] {
    return this.#refusals.map((refusal) => {
      if (!isForUnrelated(refusal, this.#refusals)) return refusal;
      return { ...refusal, unclear: 'one code for unrelated faults' };
    });
  }

  /** Why an answer is no refusal of the request. */
  #doubtOf(answer: ConstantReply | null): string | null {
    if (answer === null) return notAsked;
    if (isCarriedOut(answer)) return 'carried out';
    if (answer.code === null) return 'no envelope';
    const isInstead = this.#evidence.throttled.some((instead) => isAlike(instead, answer));
    return isInstead ? 'answered as when the platform throttles' : null;
  }

  /** Why it may not be the fault of a read that was refused. */
  #doubtOfPlace(answer: ConstantReply | null): string | null {
    if (!isAlike(answer, this.#evidence.control)) return null;
    if (!areSignaturesAccepted(this.#evidence)) return 'the signatures may be wrong';
    return 'not refused before the code is looked up';
  }

  #doubtOfLookalike(name: ReadVariantName, answer: ConstantReply | null): string | null {
    const { faulty, control } = this.#evidence;
    for (const lookalike of lookalikes[name] ?? []) {
      const { title } = readVariants[lookalike];
      const answerToLookalike = faulty.get(lookalike) ?? null;
      if (answerToLookalike === null) return `not known whether it is answered like ${title}`;
      if (isAlike(answerToLookalike, control)) continue;
      if (hasSameCode(answerToLookalike, answer)) return `answered like ${title}`;
    }
    return null;
  }
}

/** The refusals of a probe. */
export function refusalsOf(evidence: Evidence): Refusal[] {
  const refusals = new RefusalList(evidence);
  refusals.addControl();
  refusals.addReads();
  refusals.addReplays();
  refusals.addPassbacks();
  refusals.addThrottle();
  return refusals.all;
}

/** Whether three requests that have nothing to do with each other are answered alike. */
function isForUnrelated({ answer, unclear }: Refusal, all: readonly Refusal[]): boolean {
  if (answer === null || unclear !== null) return false;
  const alike = all.filter((listed) => listed.unclear === null && isAlike(listed.answer, answer));
  const touched = subjects.filter((meanings) =>
    alike.some(({ means }) => meanings.includes(means)),
  );
  return touched.length > 2;
}

/** A refusal that shows its meaning. */
export interface ClearRefusal extends Refusal {
  readonly answer: ConstantReply;
  readonly code: number;
}

/** Refusals that show their meaning. */
export function clearOf(refusals: readonly Refusal[]): ClearRefusal[] {
  return refusals.flatMap((refusal) => {
    const { answer, unclear } = refusal;
    if (answer === null || answer.code === null || unclear !== null) return [];
    return [{ ...refusal, answer, code: answer.code }];
  });
}
