import type { CostRange, RecipeCandidate } from '../candidates/cost.js';

/**
 * The candidates to try: those in a range of costs, and of these every `parts`-th, beginning with
 * `part`.
 */
export interface Share extends CostRange {
  readonly part: number;
  readonly parts: number;
}

/** The result of searching a share. */
export interface Tally {
  /** The number of candidates digested and compared. */
  readonly tried: number;
  /** A recipe that gives the signature. */
  readonly hit: RecipeCandidate | null;
  /** Whether the search ended before all candidates of the share were tried, without a hit. */
  readonly isCut: boolean;
}

/** A search asks after so many candidates whether its time is over. */
const betweenLooks = 1024;

/** The work on a share. */
export class Work implements Tally {
  tried = 0;
  hit: RecipeCandidate | null = null;
  isCut = false;
  #looks = 0;
  readonly #isOver: () => boolean;

  constructor(isOver: () => boolean) {
    this.#isOver = isOver;
  }

  /** Counts a candidate. */
  count(): void {
    this.tried += 1;
    this.look();
  }

  /** Looks now and then whether the time is over. */
  look(): void {
    this.#looks += 1;
    if (this.#looks % betweenLooks === 0 && this.#isOver()) this.isCut = true;
  }

  get isDone(): boolean {
    return this.isCut || this.hit !== null;
  }
}

/** Bounds of the first bands, which are not split: there is little to try yet. */
const firstBounds = [13, 15, 17, 18, 19, 20];

/** Width of the later bands, in bits: the wider, the less work is repeated. */
const bandBits = 2;

/** A band has about this many times as many candidates as the one before. */
const growth = 3.5;

/** Target size of a share, in candidates: a quarter of a second's work. */
const shareSize = 300_000;

/** Maximum cost of a candidate, in bits. */
export const maxBits = 44;

/**
 * A search by hints ends after so many candidates: a rule that a document describes is among the
 * first.
 */
export const maxHinted = 2_000_000;

/** The extent of a search. */
export interface SearchEnd extends Omit<Tally, 'isCut'> {
  /** Every candidate up to this cost was tried: every rule likelier than one in 2^bits. */
  readonly bits: number;
  /** Whether more time would not help: all candidates were tried, or as many as the search may. */
  readonly isComplete: boolean;
}

/** Hands out the shares of a search, the cheapest first, and adds up their results. */
export class ShareQueue {
  #total: Tally = { tried: 0, hit: null, isCut: false };
  /** The shares handed out and not yet noted. */
  readonly #open = new Set<Share>();
  #band = { from: 0, to: 0, parts: 0 };
  readonly #most: number;
  #isFull = false;
  #next = 0;
  /** Candidates in the noted shares of the current band. */
  #tried = 0;
  /** Number of the noted shares of the current band. */
  #done = 0;
  /** Candidates expected in all shares of the current band. */
  #expected = 0;

  /** `most` bounds the number of candidates, those of shares under way estimated. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** The lower bound of the current band: everything cheaper has been handed out. */
  get from(): number {
    return this.#band.from;
  }

  get total(): Tally {
    return this.#total;
  }

  get end(): SearchEnd {
    const isComplete = this.#total.hit === null && this.#isEmpty && this.#open.size === 0;
    const open = [...this.#open].map(({ from }) => from);
    const { tried, hit } = this.#total;
    const isWhole = open.length === 0 && this.#next === this.#band.parts;
    return { tried, hit, bits: isWhole ? this.#band.to : Math.min(this.from, ...open), isComplete };
  }

  /** The next share; null where none is left. */
  take(): Share | null {
    if (this.#total.isCut || this.#isEmpty) return null;
    if (this.#next === this.#band.parts) this.#openBand();
    const expected = this.#expected / this.#band.parts;
    this.#isFull = this.#total.tried + (this.#open.size + 1) * expected > this.#most;
    if (this.#isFull) return null;
    const share = { ...this.#band, part: this.#next };
    this.#next += 1;
    this.#open.add(share);
    return share;
  }

  /**
   * Records the result of a share. The number of its candidates determines how the next bands are
   * split.
   */
  note(share: Share, { tried, hit, isCut }: Tally): void {
    const { total } = this;
    this.#total = {
      tried: total.tried + tried,
      hit: total.hit ?? hit,
      isCut: total.isCut || isCut,
    };
    if (isCut) return;
    this.#open.delete(share);
    if (share.from !== this.from) return;
    this.#tried += tried;
    this.#done += 1;
  }

  get #isEmpty(): boolean {
    const isLast = this.#band.to >= maxBits && this.#next === this.#band.parts;
    return isLast || this.#isFull;
  }

  #openBand(): void {
    const { to: from, parts } = this.#band;
    const to = firstBounds.find((bound) => bound > from) ?? from + bandBits;
    // With many threads, a band may be handed out before any of its shares is recorded.
    this.#expected =
      (this.#done === 0 ? this.#expected : (this.#tried / this.#done) * parts) * growth;
    this.#band = { from, to, parts: Math.max(1, Math.ceil(this.#expected / shareSize)) };
    this.#next = 0;
    this.#tried = 0;
    this.#done = 0;
  }
}
