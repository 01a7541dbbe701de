import type { CallClient } from '../../client/call/call-client.js';
import type { OperationName } from '../../core/contract/endpoints.js';
import type { SignatureName, Signers } from '../../core/signing/app-signatures.js';
import type { Secret } from '../../core/signing/secret.js';
import { StoppedAsking, type StopReason } from '../reply.js';
import type { Asker, HarmlessReply } from './asker.js';
import type { Candidate, Candidates } from './candidates.js';
import { type HarmlessKind, harmlessRequests } from './harmless-requests.js';
import {
  type GroupPair,
  groupsOf,
  pairsOf,
  type SameSignature,
  signersOf,
  withWrongAppSign,
  withWrongSign,
} from './same-signature.js';

/**
 * What the answers to a kind of request show of a signature: it was accepted; it was refused; or
 * the platform answers a wrong one alike, or refuses something else before it.
 */
export type Judgment = 'accepted' | 'refused' | 'unseen';

/** What was seen of one kind of request. */
export interface Observation {
  readonly operation: OperationName;
  readonly kind: HarmlessKind;
  readonly title: string;
  readonly app_sign: Judgment;
  readonly sign: Judgment;
  /** The last answer. */
  readonly reply: HarmlessReply;
}

/** The answers to reads with a wrong signature; `null` where it is answered like a right one. */
export type Refusals = Readonly<Record<SignatureName, HarmlessReply | null>>;

/** What the platform showed. */
export interface Settlement {
  readonly refusals: Refusals;
  /** The candidates that are left, the likeliest first: never none. */
  readonly left: Candidates;
  readonly observations: readonly Observation[];
  /** The kind that was answered with a success, after which none was sent but reads. */
  readonly carriedOut: HarmlessKind | null;
  /** Why not all was asked; `null` if all was. */
  readonly stopped: StopReason | null;
  /** Number of requests that were sent. */
  readonly requests: number;
}

/** Which kinds of requests of each operation may be sent; `plain`, a read, always may. */
export type Reach = Readonly<Record<OperationName, readonly HarmlessKind[]>>;

/** What shows whether the rules of a profile are accepted. */
export const checkingReach: Reach = { read: ['named'], passback: ['byKey', 'ofNobody'] };

/** All that decide between rules. */
export const wholeReach: Reach = { read: ['named', 'odd'], passback: ['byKey', 'ofNobody'] };

/** Maximum number of requests that decide between the rules that fit. */
export const maxSettling = 20;

/** Number of requests that are reserved for other operations while reads are asked. */
const reservedForOthers = 5;
/** Number of requests that are reserved for the last control. */
const reservedForControl = 1;

/**
 * Decides between the candidates by harmless requests: a read first, then other reads, then
 * other operations. Each kind of request has its control, the same with a wrong signature: only
 * where that is refused as the first read showed, an answer says something of a signature.
 *
 * @throws NoAnswerError if no answer came; CancelledError, AbortError
 */
export async function settle(
  asker: Asker,
  client: CallClient,
  candidates: Candidates,
  secret: Secret,
  reach: Reach = wholeReach,
): Promise<Settlement> {
  return new Settling(asker, client, candidates, secret).decide(reach);
}

/** The answer to a request with a wrong `sign`. */
interface Control {
  readonly reply: HarmlessReply;
  /** Its `app_sign`, if the answer shows that it is right. */
  readonly rightApp: SameSignature | null;
}

class Settling {
  readonly #asker: Asker;
  readonly #client: CallClient;
  readonly #secret: Secret;
  readonly #observations: Observation[] = [];
  /** The candidates that no answer has excluded. */
  #left: Candidates;
  #refusals: Refusals = { app_sign: null, sign: null };
  #carriedOut: HarmlessKind | null = null;

  constructor(asker: Asker, client: CallClient, candidates: Candidates, secret: Secret) {
    this.#asker = asker;
    this.#client = client;
    this.#left = candidates;
    this.#secret = secret;
  }

  async decide({ read: reads, ...otherKinds }: Reach): Promise<Settlement> {
    const others = Object.values(otherKinds).flat();
    const before = this.#asker.sent;
    let stopped: StopReason | null = null;
    try {
      await this.#askAll(reads, others);
    } catch (error) {
      if (!(error instanceof StoppedAsking)) throw error;
      stopped = error.reason;
    } finally {
      this.#asker.reserved = 0;
    }
    return {
      refusals: this.#refusals,
      left: this.#refusals.app_sign === null ? withOneRule(this.#left) : this.#left,
      observations: this.#observations,
      carriedOut: this.#carriedOut,
      stopped,
      requests: this.#asker.sent - before,
    };
  }

  async #askAll(reads: readonly HarmlessKind[], others: readonly HarmlessKind[]): Promise<void> {
    const first = await this.#begin(['plain', ...others]);
    if (first === null) return;
    const hasOthers = others.length > 0;
    this.#asker.reserved = reservedForControl + (hasOthers ? reservedForOthers : 0);
    if (first === 'plain') await this.#askReads(reads);
    this.#asker.reserved = reservedForControl;
    if (hasOthers) await this.#askOthers(others.filter((kind) => kind !== first));
    this.#asker.reserved = 0;
    if (first === 'plain' || this.#carriedOut === null) await this.#checkControl(first);
  }

  /**
   * Asks requests of these kinds until one is not answered like a wrong signature, and returns its
   * kind: a platform that judges the code before the signatures shows them in passbacks alone.
   */
  async #begin(kinds: readonly HarmlessKind[]): Promise<HarmlessKind | null> {
    for (const kind of kinds) {
      if (this.#carriedOut === null && (await this.#beginWith(kind))) return kind;
    }
    return null;
  }

  /**
   * Asks a kind of request with the likeliest pairs, and returns whether one was not answered like
   * a wrong signature.
   */
  async #beginWith(kind: HarmlessKind): Promise<boolean> {
    const pairs = this.#pairsOf(kind);
    const [first] = pairs;
    if (first === undefined) return false;
    const firstReply = await this.#ask(kind, withWrongSign(first));
    this.#asker.compareTexts(firstReply, await this.#ask(kind, withWrongSign(first)));
    let control: Control = { reply: firstReply, rightApp: null };
    for (const pair of pairs.slice(0, maxFirstPairs)) {
      if (this.#carriedOut !== null) break;
      if (control.rightApp !== null && pair.app_sign !== control.rightApp) continue;
      const reply = await this.#ask(kind, signersOf(pair));
      if (this.#asker.isAlike(reply, control.reply)) continue;
      // The control of another app_sign may have been refused for that.
      if (pair.app_sign !== first.app_sign) control = await this.#controlFor(kind, pair, control);
      if (!this.#asker.isAlike(reply, control.reply)) {
        await this.#learnRefusals(kind, pair, pairs, control.reply, reply);
        return true;
      }
    }
    this.#observe(kind, { app_sign: 'unseen', sign: 'unseen' }, control.reply);
    return false;
  }

  /** The control with `app_sign` of a pair; the one before where that had the right one. */
  async #controlFor(kind: HarmlessKind, pair: GroupPair, before: Control): Promise<Control> {
    if (before.rightApp !== null) return before;
    const reply = await this.#ask(kind, withWrongSign(pair));
    const showsAppSign = !this.#asker.isAlike(reply, before.reply);
    return { reply, rightApp: showsAppSign ? pair.app_sign : null };
  }

  /**
   * `sign` of the pair was accepted, as its answer differs from that to a wrong one; `app_sign` may
   * not have been.
   */
  async #learnRefusals(
    kind: HarmlessKind,
    pair: GroupPair,
    pairs: readonly GroupPair[],
    control: HarmlessReply,
    reply: HarmlessReply,
  ): Promise<void> {
    const { app_sign, sign } = pair;
    this.#keep('sign', sign);
    if (this.#carriedOut !== null) {
      this.#refusals = { app_sign: null, sign: control };
      this.#observe(kind, { app_sign: 'unseen', sign: 'accepted' }, reply);
      return;
    }
    const answer = await this.#ask(kind, withWrongAppSign(pair));
    if (!this.#asker.isAlike(answer, reply)) {
      this.#refusals = { app_sign: answer, sign: control };
      this.#keep('app_sign', app_sign);
      this.#observe(kind, { app_sign: 'accepted', sign: 'accepted' }, reply);
      return;
    }
    // The answer to both may be the refusal of app_sign, by a platform that judges sign first.
    const otherApps = pairs.filter((other) => other.sign === sign && other !== pair);
    for (const otherApp of otherApps.slice(0, maxFirstPairs)) {
      const better = await this.#ask(kind, signersOf(otherApp));
      if (this.#asker.isAlike(better, reply)) continue;
      this.#refusals = { app_sign: reply, sign: control };
      this.#keep('app_sign', otherApp.app_sign);
      this.#observe(kind, { app_sign: 'accepted', sign: 'accepted' }, better);
      return;
    }
    this.#refusals = { app_sign: null, sign: control };
    this.#observe(kind, { app_sign: 'unseen', sign: 'accepted' }, reply);
  }

  /**
   * Asks the reads, the one first that tells most of the candidates apart for the requests that it
   * takes.
   */
  async #askReads(kinds: readonly HarmlessKind[]): Promise<void> {
    const open = new Set(kinds);
    while (open.size > 0) {
      const [kind] = [...open].toSorted((a, b) => this.#yieldOf(b) - this.#yieldOf(a));
      if (kind === undefined) return;
      open.delete(kind);
      const isSeen = await this.#judge(kind);
      if (kind === 'named' && !isSeen) await this.#judge('onlyNamed');
    }
  }

  async #askOthers(kinds: readonly HarmlessKind[]): Promise<void> {
    for (const kind of kinds) {
      if (this.#carriedOut !== null) return;
      await this.#judge(kind);
    }
    const isOddSeen = this.#observations.some(
      ({ kind, sign }) => kind === 'odd' && sign !== 'unseen',
    );
    if (isOddSeen) return;
    // How values of the form are encoded, and how those of the query are.
    for (const kind of ['byOddKey', 'atOddRandom'] as const) {
      if (this.#carriedOut === null && this.#countSigns(kind) > 1) await this.#judge(kind);
    }
  }

  /**
   * Finds the candidates whose signatures a kind of request accepts, and returns whether anything
   * was seen.
   */
  async #judge(kind: HarmlessKind): Promise<boolean> {
    const pairs = this.#pairsOf(kind);
    const [first] = pairs;
    if (first === undefined || this.#asker.unreserved < 2) return false;
    const hasSeveralApps = pairs.some((pair) => pair.app_sign !== first.app_sign);
    const control = await this.#ask(kind, withWrongSign(first));
    const refusedControl = this.#refusedBy(control);
    const isRefused = refusedControl !== null && (refusedControl !== 'app_sign' || hasSeveralApps);
    if (control.isCarriedOut || !isRefused) {
      this.#observe(kind, { app_sign: 'unseen', sign: 'unseen' }, control);
      return false;
    }
    const refused = new Set<SameSignature>();
    let reply = control;
    for (const pair of pairs) {
      if (refused.has(pair.app_sign) || refused.has(pair.sign)) continue;
      if (this.#asker.unreserved < 1) {
        this.#observe(kind, { app_sign: 'unseen', sign: 'unseen' }, reply);
        return false;
      }
      reply = await this.#ask(kind, signersOf(pair));
      const refusedPart = this.#refusedBy(reply);
      if (reply.isCarriedOut || refusedPart === null) {
        this.#keep('app_sign', pair.app_sign);
        this.#keep('sign', pair.sign);
        this.#observe(kind, { app_sign: this.#judgmentOfApp, sign: 'accepted' }, reply);
        return true;
      }
      // One of several pairs was refused, and neither of its signatures alone.
      if (refusedPart === 'either' && hasSeveralApps) continue;
      refused.add(refusedPart === 'app_sign' ? pair.app_sign : pair.sign);
    }
    if (this.#refusedBy(reply) === 'app_sign') {
      this.#observe(kind, { app_sign: 'refused', sign: 'unseen' }, reply);
    } else this.#observe(kind, { app_sign: this.#judgmentOfApp, sign: 'refused' }, reply);
    return true;
  }

  get #judgmentOfApp(): Judgment {
    return this.#refusals.app_sign === null ? 'unseen' : 'accepted';
  }

  /** The signature that an answer refuses: `either` where both are refused alike. */
  #refusedBy(reply: HarmlessReply): SignatureName | 'either' | null {
    const refusesSign = this.#isRefusal('sign', reply);
    const refusesApp = this.#isRefusal('app_sign', reply);
    if (refusesSign && refusesApp) return 'either';
    if (refusesSign) return 'sign';
    return refusesApp ? 'app_sign' : null;
  }

  /** Whether an answer is the known refusal of a signature. */
  #isRefusal(name: SignatureName, reply: HarmlessReply): boolean {
    const refusal = this.#refusals[name];
    return refusal !== null && this.#asker.isAlike(refusal, reply);
  }

  /** A platform that blocks answers otherwise now: then what was accepted last was not. */
  async #checkControl(kind: HarmlessKind): Promise<void> {
    const [pair] = this.#pairsOf(kind);
    if (pair === undefined) return;
    const reply = await this.#ask(kind, withWrongSign(pair));
    if (!this.#isRefusal('sign', reply)) throw new StoppedAsking('other answer', reply);
  }

  async #ask(kind: HarmlessKind, signers: Signers): Promise<HarmlessReply> {
    const harmless = harmlessRequests[kind]();
    const { random } = harmless;
    const momentSource = random === undefined ? {} : { random: () => random };
    const reply = await this.#asker.ask(harmless, signers, momentSource);
    if (reply.isCarriedOut) this.#carriedOut = kind;
    return reply;
  }

  #keep(name: SignatureName, { all }: SameSignature): void {
    this.#left = { ...this.#left, [name]: all };
  }

  #observe(
    kind: HarmlessKind,
    judgments: Readonly<Record<SignatureName, Judgment>>,
    reply: HarmlessReply,
  ): void {
    const { title, request } = harmlessRequests[kind]();
    const { operation } = request.endpoint;
    this.#observations.push({ operation, kind, title, ...judgments, reply });
  }

  /** Number of signatures that the candidates for `sign` give a kind of request. */
  #countSigns(kind: HarmlessKind): number {
    const harmless = harmlessRequests[kind]();
    return groupsOf(this.#left, 'sign', harmless, this.#client, this.#secret).length;
  }

  /** The pairs of candidates that sign a kind of request otherwise, the likeliest first. */
  #pairsOf(kind: HarmlessKind): GroupPair[] {
    return pairsOf(this.#left, harmlessRequests[kind](), this.#client, this.#secret);
  }

  /** How much a kind of request tells apart, in bits for each request that it takes. */
  #yieldOf(kind: HarmlessKind): number {
    const pairs = this.#pairsOf(kind);
    const all = pairs.reduce((sum, { weight }) => sum + weight, 0);
    const shares = pairs.map(({ weight }) => weight / all);
    const bits = shares.reduce((sum, share) => sum - share * Math.log2(share), 0);
    const requests = shares.reduce((sum, share, index) => sum + share * (index + 1), 1);
    return bits / requests;
  }
}

/**
 * Where nothing was seen of app_sign, and rules of `sign` were candidates for it, too, those that
 * are left of `sign` are left of both: the platform has one rule.
 */
function withOneRule({ app_sign, sign }: Candidates): Candidates {
  const isOfSign = ({ recipe }: Candidate) =>
    recipe !== null && sign.some((candidate) => candidate.recipe === recipe);
  const both = app_sign.filter(isOfSign);
  return both.length === 0 ? { app_sign, sign } : { app_sign: both, sign };
}

/** Maximum number of pairs that the first read tries. */
const maxFirstPairs = 6;
