import type { CodeUses, Evidence } from './evidence.js';
import { mayHaveWritten } from './left-behind.js';
import {
  alikeOf,
  type ConstantReply,
  isAlike,
  isCarriedOut,
  type ProbeReply,
} from './probe-reply.js';
import {
  type ProbedUser,
  type ProbeSession,
  requestsOfCopied,
  requestsOfTwice,
} from './probe-session.js';
import {
  absentName,
  faultyPassbacks,
  issuedRead,
  keyPassback,
  keyRemoval,
  type ProbeRequest,
  type ReadVariantName,
  readWithVariants,
} from './requests.js';

/** Maximum number of reads with one code. */
export const maxCodeReads = 6;

/** The faults that a platform may find only once it has looked the code up. */
const faultsAfterCode: readonly ReadVariantName[] = [
  'unknownParameter',
  'otherScope',
  'oldTimestamp',
  'wrongAppSign',
  'wrongSign',
  'futureTimestamp',
];

/** Those that one read may have together: if it is carried out, none of them is refused. */
const jointFaults: readonly ReadVariantName[] = faultsAfterCode.filter(
  (name) => name !== 'wrongSign' && name !== 'futureTimestamp',
);

/** Maximum number of requests that name the user, without those for the removal of the key. */
export function maxUserRequests({ codes, unionId, key }: ProbedUser): number {
  let requests = 0;
  if (codes.length > 0) {
    const repeated = 1 + faultsAfterCode.length + codes.length;
    requests += maxCodeReads + repeated * requestsOfTwice;
  }
  if (unionId !== undefined) {
    const repeated = 2 + faultyPassbacks(unionId, key).length;
    requests += repeated * requestsOfTwice + requestsOfCopied;
  }
  return requests;
}

/**
 * Reads and passes back data of the test user. The value of the probe's key is read back, and then
 * removed.
 *
 * @throws StoppedAsking, and what `ProbeSession.ask` throws
 */
export async function studyUser(session: ProbeSession, evidence: Evidence): Promise<void> {
  await new UserStudy(session, evidence).study();
}

/** Asks for the removal of the key, if it may be with the user, and was not removed. */
export async function removeKey(session: ProbeSession, evidence: Evidence): Promise<void> {
  const { unionId, key } = session.user;
  if (unionId === undefined || isCarriedOut(evidence.removed)) return;
  if (!mayHaveWritten(session, 'writes key')) return;
  evidence.removed = (await session.remove(keyRemoval(unionId, key))) ?? evidence.removed;
}

/** The answer to a request that is asked until it is decided. */
interface DecidedAnswer {
  readonly answer: ProbeReply;
  /** Whether all its answers were the same: another one may have used up a code. */
  readonly isCertain: boolean;
}

/**
 * The requests that name the user, in their order. Each read may use a code up, and codes are few:
 * so faults share a read where they can.
 */
class UserStudy {
  readonly #session: ProbeSession;
  readonly #evidence: Evidence;
  /** The codes that may still be valid. */
  readonly #codes: string[];
  /**
   * Number of reads with the first of them that were carried out since the uses of a code were
   * counted.
   */
  #reads = 0;
  /** The names of a read: what was passed back, what nobody has, and the two lists. */
  readonly #names: readonly string[];

  constructor(session: ProbeSession, evidence: Evidence) {
    const { codes, key } = session.user;
    this.#session = session;
    this.#evidence = evidence;
    this.#codes = [...codes];
    this.#names = [key, absentName, 'device_info', 'location_info'];
  }

  async study(): Promise<void> {
    const { codes, unionId } = this.#session.user;
    // With one code, the read has to show what was passed back.
    const isReadLater = codes.length === 1 && unionId !== undefined;
    if (!isReadLater) await this.#readWhole();
    if (unionId !== undefined) await this.#passBack(unionId);
    if (isReadLater) await this.#readWhole();
    await this.#countUses();
    await this.#readWithFaults();
    if (unionId === undefined) return;
    await removeKey(this.#session, this.#evidence);
    await this.#copyRemoval(unionId);
    await this.#readAfterwards();
  }

  /**
   * Asks until the request is carried out, refused like a code that was never issued, or refused
   * twice alike.
   */
  async #askUntilDecided(asked: ProbeRequest): Promise<DecidedAnswer> {
    const session = this.#session;
    const first = await session.ask(asked);
    const isCertain = first.unanswered === 0;
    if (isCarriedOut(first) || isAlike(first, session.control)) return { answer: first, isCertain };
    const again = await session.twice(() => asked);
    if (again === null) return { answer: first, isCertain: false };
    const answers = [first, ...again.seen];
    const areCertain = answers.every(({ unanswered }) => unanswered === 0);
    return { answer: again.seen[0], isCertain: areCertain && alikeOf(answers) !== null };
  }

  /** Reads the whole record with the first code that is valid. */
  async #readWhole(): Promise<void> {
    const evidence = this.#evidence;
    while (evidence.whole === null && this.#codes[0] !== undefined) {
      const { answer, isCertain } = await this.#askUntilDecided(issuedRead(this.#codes[0]));
      if (isCarriedOut(answer)) {
        evidence.whole = answer;
        evidence.uses = { count: 1, refusal: null, isCertain };
        evidence.codesRead += 1;
        return;
      }
      evidence.refusedCodes.push(answer);
      this.#dropCode();
    }
  }

  /**
   * Passes back the key, then what a correct platform refuses, then the key again: a refusal is
   * believed between two right passbacks that were carried out.
   */
  async #passBack(unionId: string): Promise<void> {
    const evidence = this.#evidence;
    const { key } = this.#session.user;
    const { answer } = await this.#askUntilDecided(keyPassback(unionId, key));
    evidence.written = answer;
    if (!isCarriedOut(answer)) return;
    for (const asked of faultyPassbacks(unionId, key)) {
      const refusal = await this.#session.twice(() => asked);
      evidence.passbacks.push({ asked, answer: refusal });
    }
    evidence.writtenAgain = (await this.#askUntilDecided(keyPassback(unionId, key))).answer;
  }

  /** Reads by names, until the first code is used up. */
  async #countUses(): Promise<void> {
    const evidence = this.#evidence;
    const code = this.#codes[0];
    if (code === undefined || evidence.uses === null) return;
    let { count, isCertain }: CodeUses = evidence.uses;
    while (count < maxCodeReads) {
      const named = await this.#askUntilDecided(issuedRead(code, this.#names));
      isCertain &&= named.isCertain;
      if (isCarriedOut(named.answer)) {
        count += 1;
        evidence.named ??= named.answer;
        continue;
      }
      // The names may be refused, not the code: the whole record was read with it.
      const whole = await this.#askUntilDecided(issuedRead(code));
      isCertain &&= whole.isCertain && alikeOf([named.answer, whole.answer]) !== null;
      evidence.areNamesRefused = isCarriedOut(whole.answer);
      if (!isCarriedOut(whole.answer)) this.#dropCode();
      evidence.uses = { count, refusal: named.answer, isCertain };
      return;
    }
    evidence.uses = { count, refusal: null, isCertain };
  }

  /** A right read: by names, unless they are refused. */
  #rightRead(code: string): ProbeRequest {
    return this.#evidence.areNamesRefused ? issuedRead(code) : issuedRead(code, this.#names);
  }

  /** Notes a read that was carried out: the code is used up by as many as the first one was for. */
  #wasRead(answer: ProbeReply): void {
    const evidence = this.#evidence;
    if (answer.asked.request.infoNames.length > 0) evidence.named ??= answer;
    if (evidence.uses?.refusal == null || evidence.areNamesRefused) return;
    if (this.#reads === 0) evidence.codesRead += 1;
    this.#reads += 1;
    if (this.#reads >= evidence.uses.count) this.#dropCode();
  }

  /** The code is not valid, or not any more. */
  #dropCode(): void {
    this.#codes.shift();
    this.#reads = 0;
  }

  /** Reads with the faults that may be found after the code is looked up. */
  async #readWithFaults(): Promise<void> {
    const evidence = this.#evidence;
    if (evidence.whole === null) return;
    const { control } = this.#session;
    const afterCode = faultsAfterCode.filter((name) => isAlike(evidence.faulty.get(name), control));
    let open = await this.#readTogether(afterCode);
    while (open.length > 0 && this.#codes[0] !== undefined)
      open = await this.#readApart(open, this.#codes[0]);
    if (evidence.named === null && !evidence.areNamesRefused) await this.#readNamed();
  }

  /** Reads once with all faults that may be together; returns those that are left to ask. */
  async #readTogether(afterCode: readonly ReadVariantName[]): Promise<readonly ReadVariantName[]> {
    const names = afterCode.filter((name) => jointFaults.includes(name));
    const code = this.#codes[0];
    if (names.length === 0 || code === undefined) return afterCode;
    const { answer } = await this.#askUntilDecided(readWithVariants(this.#rightRead(code), names));
    if (!isCarriedOut(answer)) return afterCode;
    for (const name of names) this.#evidence.issued.set(name, alikeOf([answer]));
    this.#wasRead(answer);
    return afterCode.filter((name) => !names.includes(name));
  }

  /**
   * Reads with one fault after the other. A refusal is believed if a read with the same code is
   * carried out after it.
   *
   * @returns the faults that are left for another code
   */
  async #readApart(
    names: readonly ReadVariantName[],
    code: string,
  ): Promise<readonly ReadVariantName[]> {
    const { issued } = this.#evidence;
    const refused = new Map<ReadVariantName, ConstantReply>();
    const believeRefused = () => {
      for (const [name, answer] of refused) issued.set(name, answer);
      refused.clear();
    };
    for (const [index, name] of names.entries()) {
      const answer = await this.#session.twice(() =>
        readWithVariants(this.#rightRead(code), [name]),
      );
      if (answer === null) continue;
      if (isCarriedOut(answer)) {
        issued.set(name, answer);
        believeRefused();
        this.#wasRead(answer.seen[0]);
        if (this.#codes[0] !== code) return names.slice(index + 1);
        continue;
      }
      if (isAlike(answer, this.#session.control)) {
        // Looking the code up may have used it up.
        this.#dropCode();
        return names.slice(index + 1);
      }
      refused.set(name, answer);
    }
    if (refused.size === 0) return [];
    const { answer } = await this.#askUntilDecided(this.#rightRead(code));
    if (isCarriedOut(answer)) {
      believeRefused();
      this.#wasRead(answer);
    } else this.#dropCode();
    return [];
  }

  /** Reads by names with a further code. */
  async #readNamed(): Promise<void> {
    const code = this.#codes[0];
    if (code === undefined) return;
    const { answer } = await this.#askUntilDecided(issuedRead(code, this.#names));
    if (isCarriedOut(answer)) this.#wasRead(answer);
    else this.#dropCode();
  }

  /** Sends the removal twice with one `random`. */
  async #copyRemoval(unionId: string): Promise<void> {
    const evidence = this.#evidence;
    if (!isCarriedOut(evidence.removed)) return;
    const removal = () => keyRemoval(unionId, this.#session.user.key);
    const { copies, original } = await this.#session.copied(removal);
    if (isCarriedOut(original)) evidence.removedCopies = copies;
  }

  /** Reads the whole record, to see whether something was left in it. */
  async #readAfterwards(): Promise<void> {
    const code = this.#codes[0];
    if (code === undefined || !isCarriedOut(this.#evidence.written)) return;
    await this.#askUntilDecided(issuedRead(code));
  }
}
