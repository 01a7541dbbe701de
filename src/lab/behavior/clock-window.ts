import { maxClockWindowSeconds } from '../../core/contract/limits.js';
import { type ConstantReply, isAlike, isCarriedOut } from './probe-reply.js';
import type { ProbeSession } from './probe-session.js';
import { agedRead, oldSeconds, type ReadVariantName } from './requests.js';

/** Bounds of the largest accepted error of a timestamp in one direction, in seconds. */
export interface TimestampBounds {
  readonly accepted: number;
  readonly refused: number;
}

/**
 * The largest accepted age of a timestamp and its largest lead; `null` where answers do not show
 * it.
 */
export interface ClockWindow {
  readonly old: TimestampBounds | null;
  readonly ahead: TimestampBounds | null;
}

/** Maximum number of requests that find one side of the clock window. */
export const maxWindowRequests = 16;
/** Those of them that confirm what was found. */
const confirmingRequests = 4;

/** Windows that deployments have, in seconds: the search looks at them first. */
export const usualWindows = [10, 30, 60, 120, 180, 300, 600, maxClockWindowSeconds];

export async function findClockWindow(
  session: ProbeSession,
  faulty: ReadonlyMap<ReadVariantName, ConstantReply | null>,
): Promise<ClockWindow> {
  const { control } = session;
  const isTold = (beyond: ConstantReply | null | undefined): beyond is ConstantReply =>
    beyond != null && !isCarriedOut(beyond) && !isAlike(beyond, control);
  const old = faulty.get('oldTimestamp');
  const ahead = faulty.get('futureTimestamp');
  return {
    old: isTold(old) ? await new BoundsSearch(session, old, 1).bisect() : null,
    ahead: isTold(ahead) ? await new BoundsSearch(session, ahead, -1).bisect() : null,
  };
}

/** Finds the largest accepted age of a timestamp, or its largest lead, by bisection. */
class BoundsSearch {
  readonly #session: ProbeSession;
  /** The answer to a timestamp that is outside of the window. */
  readonly #beyond: ConstantReply;
  /** 1 for ages, -1 for leads. */
  readonly #direction: 1 | -1;
  /** What is certain, as the platform looks at its clock between the request and the answer. */
  #surely: TimestampBounds = { accepted: 0, refused: oldSeconds };

  constructor(session: ProbeSession, beyond: ConstantReply, direction: 1 | -1) {
    this.#session = session;
    this.#beyond = beyond;
    this.#direction = direction;
  }

  async bisect(): Promise<TimestampBounds | null> {
    const before = this.#session.left;
    let bounds: TimestampBounds = { accepted: 0, refused: oldSeconds };
    while (bounds.refused - bounds.accepted > 1 && bounds.accepted <= maxClockWindowSeconds) {
      if (before - this.#session.left > maxWindowRequests - confirmingRequests) return null;
      const age = nextAge(bounds);
      const isAccepted = await this.#isAccepted(age);
      if (isAccepted === null) return null;
      bounds = isAccepted ? { ...bounds, accepted: age } : { ...bounds, refused: age };
    }
    if (bounds.accepted > 0 && (await this.#isAccepted(bounds.accepted)) !== true) return null;
    if ((await this.#isAccepted(bounds.refused)) !== false) return null;
    return this.#surely.accepted <= this.#surely.refused ? this.#surely : null;
  }

  /** `null` if the answer is neither that of an accepted timestamp nor that of a refused one. */
  async #isAccepted(age: number): Promise<boolean | null> {
    const session = this.#session;
    const isOld = this.#direction === 1;
    for (let tries = 1; tries <= 2; tries += 1) {
      const answer = await session.ask(agedRead(session.inventCode(), this.#direction * age));
      const delaySeconds = answer.seconds < 0.3 ? 0 : answer.seconds;
      const { accepted, refused } = this.#surely;
      if (isAlike(answer, session.control)) {
        this.#surely = { accepted: Math.max(accepted, isOld ? age : age - delaySeconds), refused };
        return true;
      }
      if (isAlike(answer, this.#beyond)) {
        this.#surely = { accepted, refused: Math.min(refused, isOld ? age + delaySeconds : age) };
        return false;
      }
      await session.controlled();
    }
    return null;
  }
}

/** A usual window or its end, if one is between the bounds; otherwise their middle. */
function nextAge({ accepted, refused }: TimestampBounds): number {
  const usual = usualWindows.filter((seconds) => seconds > accepted && seconds < refused);
  const middle = usual[Math.floor(usual.length / 2)];
  if (middle !== undefined) return middle;
  const isUsual = accepted === 0 || usualWindows.includes(accepted);
  return isUsual ? accepted + 1 : Math.floor((accepted + refused) / 2);
}
