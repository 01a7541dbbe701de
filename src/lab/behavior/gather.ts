import { StoppedAsking } from '../reply.js';
import { findClockWindow, maxWindowRequests } from './clock-window.js';
import { Evidence } from './evidence.js';
import type { ConstantReply } from './probe-reply.js';
import {
  type ProbedUser,
  type ProbeSession,
  requestsOfBegin,
  requestsOfCopied,
  requestsOfTwice,
  reservedRequests,
} from './probe-session.js';
import { readVariantNames, readWithVariants } from './requests.js';
import { maxUserRequests, removeKey, studyUser } from './test-user.js';

/** Number of requests that a bad line, or a limit of the rate, may need besides. */
const spareRequests = 20;

/** Maximum number of requests: those of each step, and a few to spare. */
export function maxRequestsOf(user: ProbedUser): number {
  const ofFaults = readVariantNames.length * requestsOfTwice;
  const ofReads = requestsOfBegin + ofFaults + requestsOfCopied + 2 * maxWindowRequests;
  const ofRemoval = user.unionId === undefined ? 0 : reservedRequests;
  return ofReads + maxUserRequests(user) + ofRemoval + spareRequests;
}

/**
 * Sends the requests of a probe. Those that name a user come after all others, and only while the
 * control is answered as at the start. However it ends, the removal of the key is asked for, unless
 * it is cancelled.
 *
 * @throws NoAnswerError if no answer came, or the first is not an envelope; CancelledError,
 * AbortError
 */
export async function gather(session: ProbeSession): Promise<Evidence> {
  await session.begin().catch((error) => {
    if (!(error instanceof StoppedAsking)) throw error;
  });
  const evidence = new Evidence(session);
  try {
    for (const name of readVariantNames) {
      const answer = await session.twice(() => readWithVariants(session.controlRead(), [name]));
      evidence.faulty.set(name, answer);
    }
    evidence.copies = await copiesOfReads(session);
    evidence.window = await findClockWindow(session, evidence.faulty);
    await studyUser(session, evidence);
    await session.controlled();
  } catch (error) {
    await removeKey(session, evidence);
    if (!(error instanceof StoppedAsking)) throw error;
    evidence.stopped = error;
  }
  evidence.control = session.control;
  evidence.aheadBy = session.skewMs / 1000;
  return evidence;
}

async function copiesOfReads(session: ProbeSession): Promise<ConstantReply | null> {
  const { copies } = await session.copied(session.controlRead);
  return copies;
}
