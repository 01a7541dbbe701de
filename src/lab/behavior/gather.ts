import type { ConstantAnswer } from './answer.js';
import { findClockWindow, maxWindowRequests } from './clock-window.js';
import { Evidence } from './evidence.js';
import { type Exchange, type ProbedUser, reservedRequests, StoppedError } from './exchange.js';
import { faultNames, readWithFaults } from './requests.js';
import { maxUserRequests, removeKey, studyUser } from './test-user.js';

/**
 * Maximum number of requests: those of each step, as many again as a bad line or a limit of the
 * rate may need.
 */
export function maxRequestsOf(user: ProbedUser): number {
  const ofReads = 5 + 5 + 3 * faultNames.length + 2 * maxWindowRequests;
  const ofRemoval = user.unionId === undefined ? 0 : reservedRequests;
  return ofReads + maxUserRequests(user) + ofRemoval + 20;
}

/**
 * Sends the requests of a probe. Those that name a user come after all others, and only while the
 * control is answered as at the start. However it ends, the removal of the key is asked for, unless
 * it is cancelled.
 *
 * @throws NoAnswerError if no answer came, or the first is not an envelope; CancelledError,
 * AbortError
 */
export async function gather(exchange: Exchange): Promise<Evidence> {
  await exchange.begin().catch((error) => {
    if (!(error instanceof StoppedError)) throw error;
  });
  const evidence = new Evidence(exchange);
  try {
    for (const name of faultNames) {
      const answer = await exchange.twice(() => readWithFaults(exchange.controlRead(), [name]));
      evidence.faulty.set(name, answer);
    }
    evidence.copies = await copiesOfReads(exchange);
    evidence.window = await findClockWindow(exchange, evidence.faulty);
    await studyUser(exchange, evidence);
    await exchange.controlled();
  } catch (error) {
    await removeKey(exchange, evidence);
    if (!(error instanceof StoppedError)) throw error;
    evidence.stopped = error;
  }
  evidence.control = exchange.control;
  evidence.aheadBy = exchange.skewMs / 1000;
  return evidence;
}

async function copiesOfReads(exchange: Exchange): Promise<ConstantAnswer | null> {
  const { copies } = await exchange.copied(exchange.controlRead);
  return copies;
}
