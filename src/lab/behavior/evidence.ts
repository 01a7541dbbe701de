import type { StoppedAsking } from '../reply.js';
import type { ClockWindow } from './clock-window.js';
import type { ConstantReply, ProbeReply } from './probe-reply.js';
import type { ProbedUser, ProbeSession } from './probe-session.js';
import type { ProbeRequest, ReadVariantName } from './requests.js';

/**
 * A passback that a correct platform refuses, and its answer; `null` if it was not answered alike.
 */
export interface FaultyPassback {
  readonly asked: ProbeRequest;
  readonly answer: ConstantReply | null;
}

/**
 * The answers to the requests of a probe; what was not asked, or not answered alike twice, is
 * missing.
 */
export class Evidence {
  readonly user: ProbedUser;
  /** A read that is correct except for its code, to compare faults with. */
  control: ConstantReply;
  /** The answers to copies of the control, with the same `random` and `timestamp`. */
  copies: ConstantReply | null = null;
  /** Reads of codes that were never issued; `null`: not answered alike. */
  readonly faulty = new Map<ReadVariantName, ConstantReply | null>();
  /**
   * The same with a code that was issued, where the control hides what comes after the code. A
   * right read with that code was carried out after those that were refused.
   */
  readonly issued = new Map<ReadVariantName, ConstantReply | null>();
  window: ClockWindow | null = null;
  /** The answer to the passback of the probe's own key, before the faulty passbacks. */
  written: ProbeReply | null = null;
  /** The answer to the same passback, after the faulty ones. */
  writtenAgain: ProbeReply | null = null;
  readonly passbacks: FaultyPassback[] = [];
  /** The answer to the removal of the key. */
  removed: ProbeReply | null = null;
  /** The answers to copies of the removal, if what they copy was carried out. */
  removedCopies: ConstantReply | null = null;
  /** Reads with a code that was issued; `null` if there was none, or all were refused. */
  whole: ProbeReply | null = null;
  /** A read by names; `null` as above. */
  named: ProbeReply | null = null;
  /** Answers to codes of the user that were not valid at their first read. */
  readonly refusedCodes: ProbeReply[] = [];
  /** Whether reads by names are refused, where the same read of the whole record is carried out. */
  areNamesRefused = false;
  uses: CodeUses | null = null;
  /** Number of codes with which a read was carried out. */
  codesRead = 0;
  /** Answers that came in place of others for a time. */
  readonly throttled: readonly ProbeReply[];
  /** Why the rest was not asked; `null` if all was. */
  stopped: StoppedAsking | null = null;
  /** The lead of the platform's clock over ours, in seconds. */
  aheadBy = 0;
  readonly all: readonly ProbeReply[];

  constructor({ control, throttled, replies, user }: ProbeSession) {
    this.control = control;
    this.throttled = throttled;
    this.all = replies;
    this.user = user;
  }
}

/** The reads that the first code allowed. */
export interface CodeUses {
  readonly count: number;
  /** The refusal of one more read; `null` if none was refused. */
  readonly refusal: ProbeReply | null;
  /** Whether each answer was certain: an answer that is lost may have used the code. */
  readonly isCertain: boolean;
}
