import { maxClockWindowSeconds } from '../../core/contract/limits.js';
import { type ConstantAnswer, isCarriedOut, saysTheSame } from './answer.js';
import type { Exchange } from './exchange.js';
import { agedRead, type FaultName, oldSeconds } from './requests.js';

/** Bounds of the largest accepted error of a timestamp in one direction, in seconds. */
export interface Limit {
  readonly accepted: number;
  readonly refused: number;
}

/**
 * The largest accepted age of a timestamp and its largest lead; `null` where answers do not show
 * it.
 */
export interface ClockWindow {
  readonly old: Limit | null;
  readonly ahead: Limit | null;
}

/** Maximum number of requests that find one side of the clock window. */
export const maxWindowRequests = 16;
/** Those of them that confirm what was found. */
const confirmingRequests = 4;

/** Windows that deployments have, in seconds: the search looks at them first. */
export const usualWindows = [10, 30, 60, 120, 180, 300, 600, maxClockWindowSeconds];

export async function findClockWindow(
  exchange: Exchange,
  faulty: ReadonlyMap<FaultName, ConstantAnswer | null>,
): Promise<ClockWindow> {
  const { control } = exchange;
  const isTold = (beyond: ConstantAnswer | null | undefined): beyond is ConstantAnswer =>
    beyond != null && !isCarriedOut(beyond) && !saysTheSame(beyond, control);
  const old = faulty.get('oldTimestamp');
  const ahead = faulty.get('futureTimestamp');
  return {
    old: isTold(old) ? await new LimitSearch(exchange, old, 1).bisect() : null,
    ahead: isTold(ahead) ? await new LimitSearch(exchange, ahead, -1).bisect() : null,
  };
}

/** Finds the largest accepted age of a timestamp, or its largest lead, by bisection. */
class LimitSearch {
  readonly #exchange: Exchange;
  /** The answer to a timestamp that is outside of the window. */
  readonly #beyond: ConstantAnswer;
  /** 1 for ages, -1 for leads. */
  readonly #direction: 1 | -1;
  /** What is certain, as the platform looks at its clock between the request and the answer. */
  #surely: Limit = { accepted: 0, refused: oldSeconds };

  constructor(exchange: Exchange, beyond: ConstantAnswer, direction: 1 | -1) {
    this.#exchange = exchange;
    this.#beyond = beyond;
    this.#direction = direction;
  }

  async bisect(): Promise<Limit | null> {
    const before = this.#exchange.left;
    let limit: Limit = { accepted: 0, refused: oldSeconds };
    while (limit.refused - limit.accepted > 1 && limit.accepted <= maxClockWindowSeconds) {
      if (before - this.#exchange.left > maxWindowRequests - confirmingRequests) return null;
      const age = nextAge(limit);
      const isAccepted = await this.#isAccepted(age);
      if (isAccepted === null) return null;
      limit = isAccepted ? { ...limit, accepted: age } : { ...limit, refused: age };
    }
    if (limit.accepted > 0 && (await this.#isAccepted(limit.accepted)) !== true) return null;
    if ((await this.#isAccepted(limit.refused)) !== false) return null;
    return this.#surely.accepted <= this.#surely.refused ? this.#surely : null;
  }

  /** `null` if the answer is neither that of an accepted timestamp nor that of a refused one. */
  async #isAccepted(age: number): Promise<boolean | null> {
    const exchange = this.#exchange;
    const isOld = this.#direction === 1;
    for (let tries = 1; tries <= 2; tries += 1) {
      const answer = await exchange.ask(agedRead(exchange.inventCode(), this.#direction * age));
      const late = answer.seconds < 0.3 ? 0 : answer.seconds;
      const { accepted, refused } = this.#surely;
      if (saysTheSame(answer, exchange.control)) {
        this.#surely = { accepted: Math.max(accepted, isOld ? age : age - late), refused };
        return true;
      }
      if (saysTheSame(answer, this.#beyond)) {
        this.#surely = { accepted, refused: Math.min(refused, isOld ? age + late : age) };
        return false;
      }
      await exchange.controlled();
    }
    return null;
  }
}

/** A usual window or its end, if one is between the bounds; otherwise their middle. */
function nextAge({ accepted, refused }: Limit): number {
  const usual = usualWindows.filter((seconds) => seconds > accepted && seconds < refused);
  const middle = usual[Math.floor(usual.length / 2)];
  if (middle !== undefined) return middle;
  const isUsual = accepted === 0 || usualWindows.includes(accepted);
  return isUsual ? accepted + 1 : Math.floor((accepted + refused) / 2);
}
