import type { SignatureName, Signers } from '../../core/signing/app-signatures.js';
import type { Signer } from '../../core/signing/signer.js';
import { StoppedAsking, type StopReason } from '../reply.js';
import { randomSigner, spoiled } from '../wrong-signers.js';
import type { Asker, HarmlessReply } from './asker.js';
import type { Candidate } from './candidates.js';
import { sortedRead } from './harmless-requests.js';

/**
 * The candidates of a signature, the likeliest first: all of them give the read of the search
 * another signature. `knownRule` is that of the other signature, once it is found.
 * `usesTimestampAsRandom`: rules coincide that differ only in which of the two they take.
 */
export type CandidateList = (
  name: SignatureName,
  knownRule: Candidate | null,
  usesTimestampAsRandom: boolean,
) => Iterable<Candidate>;

/** A candidate of each signature. */
type CandidatePair = Readonly<Record<SignatureName, Candidate>>;

/** How the platform judges the signatures. */
export type Judging =
  /** Either is refused with an answer of its own. */
  | { readonly kind: 'apart'; readonly first: SignatureName }
  /** Only with both right, the answer is another one. */
  | { readonly kind: 'together' }
  /** No answer differed. */
  | { readonly kind: 'unknown' };

/** What the platform showed. */
export interface Search {
  readonly judging: Judging;
  readonly app_sign: Candidate | null;
  readonly sign: Candidate | null;
  /** Whether `random` of the reads was their timestamp. */
  readonly usesTimestampAsRandom: boolean;
  /** The answer to the read when no other signature was known to be right. */
  readonly last: HarmlessReply | null;
  /**
   * Number of candidates of the signature that was not found, or of pairs, that were refused: a
   * search may begin there.
   */
  readonly refused: number;
  /** Why the search ended; `null` if both are found. */
  readonly ended: StopReason | 'all tried' | null;
}

/** What the search is told. */
export interface SearchStart {
  /** The rules of the profile, which are tried first. */
  readonly profileRules: CandidatePair;
  /** Number of candidates that were refused before. */
  readonly skip: number;
  /** Called with the number of rules that were refused so far. */
  readonly onRefused?: (count: number) => void;
  readonly candidates: CandidateList;
}

/**
 * Number of pairs of the simplest candidates that are tried where neither signature alone changes
 * the answer.
 */
const maxPairs = 100;

/** Number of candidates of each signature after which such pairs are tried. */
const candidatesBeforePairs = 500;

/**
 * Searches both rules by reads with a code that was never issued: an answer that differs from that
 * to a wrong signature is progress, whatever its code. Each request tries a candidate of either
 * signature until one of them changes the answer: that signature is judged first. Then the other
 * one is searched.
 *
 * @throws NoAnswerError if no answer came; CancelledError, AbortError
 */
export function searchByAsking(asker: Asker, start: SearchStart): Promise<Search> {
  return new SearchByAsking(asker, start).search();
}

class SearchByAsking {
  readonly #asker: Asker;
  readonly #start: SearchStart;
  /** Answers that are about something else than a signature, such as a wrong form of it. */
  readonly #otherAnswers: HarmlessReply[] = [];
  readonly #found: Record<SignatureName, Candidate | null> = { app_sign: null, sign: null };
  #judging: Judging = { kind: 'unknown' };
  /** The answer to what is known to be wrong. */
  #refusal: HarmlessReply | null = null;
  #refused = 0;
  /**
   * Whether `random` is the timestamp: not where the platform refuses a repeated one before it
   * judges signatures.
   */
  #usesTimestampAsRandom = false;
  #asked = 0;

  constructor(asker: Asker, start: SearchStart) {
    this.#asker = asker;
    this.#start = start;
  }

  async search(): Promise<Search> {
    let ended: Search['ended'] = 'all tried';
    try {
      await this.#begin();
      await this.#searchFirst();
      await this.#searchSecond();
    } catch (error) {
      if (!(error instanceof StoppedAsking)) throw error;
      ended = error.reason;
    }
    const { app_sign, sign } = this.#found;
    return {
      judging: this.#judging,
      app_sign,
      sign,
      usesTimestampAsRandom: this.#usesTimestampAsRandom,
      last: this.#refusal,
      refused: this.#refused,
      ended: app_sign !== null && sign !== null ? null : ended,
    };
  }

  /** Learns the answer to wrong signatures. */
  async #begin(): Promise<void> {
    const first = await this.#ask({ app_sign: randomSigner, sign: randomSigner });
    this.#refusal = first;
    // Every answer of the contract is an envelope (§1): this is another service.
    if (first.code === null) throw new StoppedAsking('no envelope', first);
    if (first.isCarriedOut) throw new StoppedAsking('accepts any signature', first);
    const second = await this.#ask({ app_sign: randomSigner, sign: randomSigner });
    this.#asker.compareTexts(first, second);
    const now = Date.now();
    const repeated = { random: () => timestampText(now), now: () => now };
    for (let times = 0; times < 2; times += 1) {
      const reply = await this.#asker.ask(
        sortedRead(),
        { app_sign: randomSigner, sign: randomSigner },
        repeated,
      );
      this.#usesTimestampAsRandom = this.#isRefusal(reply);
    }
  }

  /** Tries pairs of candidates until one of the two signatures changes the answer. */
  async #searchFirst(): Promise<void> {
    const { profileRules, candidates, skip } = this.#start;
    if (await this.#tryPair(profileRules)) return;
    const apps = candidates('app_sign', null, this.#usesTimestampAsRandom)[Symbol.iterator]();
    const signs = candidates('sign', null, this.#usesTimestampAsRandom)[Symbol.iterator]();
    const simplest: CandidatePair[] = [];
    for (let index = 0; ; index += 1) {
      const app_sign = apps.next().value as Candidate | undefined;
      const sign = signs.next().value as Candidate | undefined;
      if (app_sign === undefined && sign === undefined) break;
      const pair = { app_sign: app_sign ?? profileRules.app_sign, sign: sign ?? profileRules.sign };
      if (simplest.length < Math.sqrt(maxPairs) + 1) simplest.push(pair);
      if (index < skip) continue;
      if (await this.#tryPair(pair)) return;
      this.#countRefused(index + 1);
      if (this.#refused === candidatesBeforePairs && (await this.#searchPairs(simplest))) return;
    }
  }

  /**
   * Tries the simplest candidates in all other pairs, for a platform that has one answer for both
   * signatures.
   */
  async #searchPairs(simplest: readonly CandidatePair[]): Promise<boolean> {
    for (const [row, { app_sign }] of simplest.entries()) {
      for (const [column, { sign }] of simplest.entries()) {
        if (row !== column && (await this.#tryPair({ app_sign, sign }))) return true;
      }
    }
    return false;
  }

  /** Tries a pair, and returns whether it found one of the signatures, or both. */
  async #tryPair(pair: CandidatePair): Promise<boolean> {
    const right = { app_sign: pair.app_sign.signer, sign: pair.sign.signer };
    const wrong = { app_sign: spoiled(right.app_sign), sign: spoiled(right.sign) };
    const reply = await this.#changedReply(right, wrong);
    if (reply === null) return false;
    for (const [first, second] of [
      ['app_sign', 'sign'],
      ['sign', 'app_sign'],
    ] as const) {
      const firstAlone = await this.#ask({ ...wrong, [first]: right[first] });
      if (this.#isRefusal(firstAlone)) continue;
      this.#judging = { kind: 'apart', first };
      this.#found[first] = pair[first];
      if (!this.#asker.isAlike(firstAlone, reply)) this.#found[second] = pair[second];
      this.#refusal = firstAlone;
      return true;
    }
    this.#judging = { kind: 'together' };
    this.#found.app_sign = pair.app_sign;
    this.#found.sign = pair.sign;
    return true;
  }

  /** With one signature known, tries candidates of the other. */
  async #searchSecond(): Promise<void> {
    const { profileRules, candidates, skip } = this.#start;
    const { app_sign, sign } = this.#found;
    if ((app_sign === null) === (sign === null)) return;
    const name = app_sign === null ? 'app_sign' : 'sign';
    const knownRule = (app_sign ?? sign) as Candidate;
    const withKnown = (signer: Signer): Signers =>
      name === 'app_sign'
        ? { app_sign: signer, sign: knownRule.signer }
        : { app_sign: knownRule.signer, sign: signer };
    // What was skipped of the first search says nothing of this one, unless the known rule was
    // known before.
    const skipped = Object.values(profileRules).includes(knownRule) ? skip : 0;
    this.#countRefused(0);
    let index = 0;
    for (const candidate of candidates(name, knownRule, this.#usesTimestampAsRandom)) {
      index += 1;
      if (index <= skipped) continue;
      const { signer } = candidate;
      const reply = await this.#changedReply(withKnown(signer), withKnown(spoiled(signer)));
      if (reply !== null) {
        this.#found[name] = candidate;
        return;
      }
      this.#countRefused(index);
    }
  }

  #countRefused(count: number): void {
    this.#refused = count;
    this.#start.onRefused?.(count);
  }

  /**
   * The answer to a request if it differs from the refusal, also when it is repeated, and if the
   * same with wrong signatures of the same form is refused as before; otherwise `null`.
   *
   * @throws StoppedAsking if the platform does not answer wrong signatures as before any more
   */
  async #changedReply(right: Signers, control: Signers): Promise<HarmlessReply | null> {
    const reply = await this.#ask(right);
    if (this.#isRefusal(reply)) return null;
    if (this.#otherAnswers.some((answer) => this.#asker.isAlike(answer, reply))) return null;
    const controlled = await this.#ask(control);
    if (!this.#isRefusal(controlled)) {
      const plain = await this.#ask(this.#plainControl());
      if (!this.#isRefusal(plain)) throw new StoppedAsking('other answer', plain);
      this.#otherAnswers.push(controlled);
      return null;
    }
    const again = await this.#ask(right);
    return this.#asker.isAlike(again, reply) ? reply : null;
  }

  /** What is known to be right, and a wrong signature. */
  #plainControl(): Signers {
    const { app_sign, sign } = this.#found;
    return { app_sign: app_sign?.signer ?? randomSigner, sign: sign?.signer ?? randomSigner };
  }

  #isRefusal(reply: HarmlessReply): boolean {
    return this.#refusal !== null && this.#asker.isAlike(this.#refusal, reply);
  }

  #ask(signers: Signers): Promise<HarmlessReply> {
    if (!this.#usesTimestampAsRandom) return this.#asker.ask(sortedRead(), signers);
    // A request that is accepted is not to have the `random` of another one.
    this.#asked += 1;
    const now = Date.now() - (this.#asked % differentSeconds) * 1000;
    return this.#asker.ask(sortedRead(), signers, {
      random: () => timestampText(now),
      now: () => now,
    });
  }
}

/** Requests that follow each other have timestamps of so many different seconds. */
const differentSeconds = 5;

/** The timestamp (§5.4) of a time in milliseconds. */
function timestampText(now: number): string {
  return String(Math.floor(now / 1000));
}
