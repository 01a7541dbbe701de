import { maxClockWindowSeconds } from '../protocol/limits.js';
import { alikeOf, type ConstantAnswer, isCarriedOut, type Observation, saysTheSame } from './answer.js';
import { Exchange, type ProbeConnection, StoppedError } from './exchange.js';
import {
  absentName,
  agedRead,
  controlRead,
  type FaultName,
  faultNames,
  faulty,
  faultyPassbacks,
  issuedRead,
  keyPassback,
  type ProbeRequest,
} from './requests.js';

/** A test user, whose data the probe may read and write. */
export interface ProbedUser {
  /** Codes that were issued for the user and not used. */
  readonly codes: readonly string[];
  readonly unionId: string | undefined;
  /** The key that is passed back. */
  readonly key: string;
}

/** Bounds of the largest accepted error of a timestamp in one direction, in seconds. */
interface Limit {
  readonly accepted: number;
  readonly refused: number;
}

/** The answers to the requests of a probe; what was not asked, or not answered alike twice, is missing. */
export class Evidence {
  /** A read that is correct except for its code, to compare faults with. */
  control: ConstantAnswer;
  /** Copies of it. */
  copies: ConstantAnswer | null = null;
  /** Reads of codes that were never issued; `null`: not answered alike. */
  readonly faulty = new Map<FaultName, ConstantAnswer | null>();
  /** The same with a code that was issued, where the control hides what comes after the code. */
  readonly issued = new Map<FaultName, ConstantAnswer | null>();
  window: { readonly old: Limit | null; readonly ahead: Limit | null } | null = null;
  /** The passback of the probe's own key, and its removal with copies of it. */
  written: Observation | null = null;
  removed: Observation | null = null;
  removedCopies: ConstantAnswer | null = null;
  readonly passbacks: (readonly [asked: ProbeRequest, answer: ConstantAnswer | null])[] = [];
  /** Reads with a code that was issued; `null` if there was none, or all were refused. */
  whole: Observation | null = null;
  /** A read by names; `null` as above. */
  named: Observation | null = null;
  /** Number of reads that the first code allowed, and whether one more was refused. */
  uses: { readonly count: number; readonly isUsedUp: boolean } | null = null;
  /** Answers that came in place of others for a time. */
  readonly throttled: readonly Observation[];
  /** Why the rest was not asked; `null` if all was. */
  stopped: StoppedError | null = null;
  /** The lead of the platform's clock over ours, in seconds. */
  aheadBy = 0;
  readonly all: readonly Observation[];

  constructor({ control, throttled, observations }: Exchange) {
    this.control = control;
    this.throttled = throttled;
    this.all = observations;
  }
}

/** Maximum number of reads with one code. */
export const maxCodeReads = 6;

/** The faults that a platform may find only once it has looked the code up. */
const lateFaults: readonly FaultName[] = [
  'unknownParameter',
  'otherScope',
  'oldTimestamp',
  'wrongAppSign',
  'wrongSign',
  'futureTimestamp',
];

/** Maximum number of requests: those of each step, as many again as a bad line or a limit of the rate may need. */
export function maxRequestsOf({ codes, unionId }: ProbedUser): number {
  const always = 5 + 5 + 3 * faultNames.length + 2 * maxWindowRequests;
  const ofCodes = codes.length === 0 ? 0 : maxCodeReads + 3 * lateFaults.length + 2 * codes.length;
  return always + ofCodes + (unionId === undefined ? 0 : 20) + 20;
}

/** Maximum number of requests that find one side of the clock window. */
const maxWindowRequests = 16;

/**
 * Sends the requests of a probe. Those that name a user come after all others, and only while the control is answered
 * as at the start.
 *
 * @throws NoAnswerError if no answer came, or the first is not an envelope; CancelledError, AbortError
 */
export async function gather(connection: ProbeConnection, user: ProbedUser): Promise<Evidence> {
  const exchange = new Exchange(connection);
  await exchange.begin().catch((error) => {
    if (!(error instanceof StoppedError)) throw error;
  });
  const evidence = new Evidence(exchange);
  try {
    for (const name of faultNames)
      evidence.faulty.set(name, await exchange.twice(() => faulty(controlRead(), [name])));
    evidence.copies = await exchange.copied(controlRead);
    evidence.window = {
      old: await findLimit(exchange, evidence, 1),
      ahead: await findLimit(exchange, evidence, -1),
    };
    await useUser(exchange, evidence, user);
    await exchange.controlled();
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    evidence.stopped = error;
    if (evidence.written !== null && evidence.removed === null && user.unionId !== undefined)
      evidence.removed = await exchange.ask(keyPassback(user.unionId, user.key, true)).catch(() => null);
  }
  evidence.control = exchange.control;
  evidence.aheadBy = exchange.skewMs / 1000;
  return evidence;
}

/** Windows that deployments have, in seconds: the search looks at them first. */
export const usualWindows = [10, 30, 60, 120, 180, 300, 600, maxClockWindowSeconds];

/**
 * Finds the largest accepted age of a timestamp, or its largest lead, by bisection; `null` if answers do not show
 * whether one was accepted.
 */
async function findLimit(
  exchange: Exchange,
  { faulty: answers }: Evidence,
  direction: 1 | -1,
): Promise<Limit | null> {
  const beyond = answers.get(direction === 1 ? 'oldTimestamp' : 'futureTimestamp') ?? null;
  const { control } = exchange;
  if (beyond === null || isCarriedOut(beyond) || saysTheSame(beyond, control)) return null;
  const before = exchange.left;
  let [accepted, refused] = [0, 3600];
  let [surelyAccepted, surelyRefused] = [0, 3600];
  /** `null` if the answer is neither that of an accepted timestamp nor that of a refused one. */
  const isAccepted = async (age: number): Promise<boolean | null> => {
    for (let tries = 1; tries <= 2; tries += 1) {
      const seen = await exchange.ask(agedRead(direction * age));
      // The platform looks at its clock between the request and the answer.
      const late = seen.seconds < 0.3 ? 0 : seen.seconds;
      if (saysTheSame(seen, control)) {
        surelyAccepted = Math.max(surelyAccepted, direction === 1 ? age : age - late);
        return true;
      }
      if (saysTheSame(seen, beyond)) {
        surelyRefused = Math.min(surelyRefused, direction === 1 ? age + late : age);
        return false;
      }
      await exchange.controlled();
    }
    return null;
  };
  while (refused - accepted > 1 && accepted <= maxClockWindowSeconds) {
    if (before - exchange.left > maxWindowRequests - 4) return null;
    const usual = usualWindows.filter((seconds) => seconds > accepted && seconds < refused);
    const isUsual = accepted === 0 || usualWindows.includes(accepted);
    const age =
      usual[Math.floor(usual.length / 2)] ?? (isUsual ? accepted + 1 : Math.floor((accepted + refused) / 2));
    const found = await isAccepted(age);
    if (found === null) return null;
    if (found) accepted = age;
    else refused = age;
  }
  const isConfirmed =
    (accepted === 0 || (await isAccepted(accepted)) === true) && (await isAccepted(refused)) === false;
  return isConfirmed && surelyAccepted <= surelyRefused
    ? { accepted: surelyAccepted, refused: surelyRefused }
    : null;
}

/** What reads and passbacks of the test user show. The value of the probe's key is read back, and then removed. */
async function useUser(
  exchange: Exchange,
  evidence: Evidence,
  { codes, unionId, key }: ProbedUser,
): Promise<void> {
  const left = [...codes];
  const names = [key, absentName, 'device_info', 'location_info'];
  /** Asks until the request is carried out, or refused as a code that is not valid, or twice alike. */
  const ask = async (asked: ProbeRequest): Promise<Observation> => {
    const first = await exchange.ask(asked);
    if (isCarriedOut(first) || saysTheSame(first, exchange.control)) return first;
    const answer = await exchange.twice(() => asked);
    return answer === null ? first : answer.seen[0];
  };
  const readWhole = async () => {
    while (evidence.whole === null && left[0] !== undefined) {
      const seen = await ask(issuedRead(left[0]));
      if (isCarriedOut(seen)) evidence.whole = seen;
      else left.shift();
    }
  };
  // With one code, the read has to show what was passed back.
  const isFirst = codes.length > 1 || unionId === undefined;
  if (isFirst) await readWhole();
  if (unionId !== undefined) {
    const written = await ask(keyPassback(unionId, key));
    evidence.written = written;
    for (const asked of faultyPassbacks(unionId, key))
      evidence.passbacks.push([asked, await exchange.twice(() => asked)]);
  }
  if (!isFirst) await readWhole();
  await readNamed(exchange, evidence, left, names, ask);
  if (unionId === undefined || !isCarriedOut(evidence.written)) return;
  const removal = () => keyPassback(unionId, key, true);
  evidence.removed = await ask(removal());
  if (isCarriedOut(evidence.removed)) evidence.removedCopies = await exchange.copied(removal);
}

/** Reads by names until the first code is used up, then with the faults that may come after the code. */
async function readNamed(
  exchange: Exchange,
  evidence: Evidence,
  codes: string[],
  names: readonly string[],
  ask: (asked: ProbeRequest) => Promise<Observation>,
): Promise<void> {
  const [first] = codes;
  if (first === undefined || evidence.whole === null) return;
  let count = 1;
  let refused = 0;
  while (count < maxCodeReads && refused < 2) {
    const seen = await ask(issuedRead(first, names));
    if (isCarriedOut(seen)) {
      count += 1;
      evidence.named ??= seen;
    } else refused += 1;
  }
  evidence.uses = { count, isUsedUp: refused > 0 };
  if (refused > 0) codes.shift();
  const late = lateFaults.filter((name) => saysTheSame(evidence.faulty.get(name), exchange.control));
  const together: FaultName[] = late.filter((name) => name !== 'wrongSign' && name !== 'futureTimestamp');
  /** Whether the read was carried out; then the code is used up, unless it is for any number of reads. */
  const isDone = (seen: Observation) => {
    if (!isCarriedOut(seen)) return false;
    evidence.named ??= seen;
    if (refused > 0) codes.shift();
    return true;
  };
  const alone: FaultName[] = late.filter((name) => !together.includes(name));
  if (together.length > 0 && codes[0] !== undefined) {
    const seen = await ask(faulty(issuedRead(codes[0], names), together));
    const answer = alikeOf([seen]) as ConstantAnswer;
    if (isDone(seen)) for (const name of together) evidence.issued.set(name, answer);
    else alone.unshift(...together);
  }
  for (const name of alone) {
    if (codes[0] === undefined) break;
    const code = codes[0];
    const answer = await exchange.twice(() => faulty(issuedRead(code, names), [name]));
    // Looking a code up may use it up.
    if (!isCarriedOut(answer) && saysTheSame(answer, exchange.control)) codes.shift();
    else evidence.issued.set(name, answer);
    if (answer !== null) isDone(answer.seen[0]);
  }
  if (evidence.named === null && codes[0] !== undefined) isDone(await ask(issuedRead(codes[0], names)));
}
