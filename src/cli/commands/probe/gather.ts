// Apart from index.ts: only a run of the command loads it.
import { isObject } from '../../../protocol/fields.js';
import { maxClockWindowSeconds } from '../../../protocol/limits.js';
import { resultCode } from '../../../protocol/result-codes.js';
import { Exchange, type Observation, type ProbeConnection } from './exchange.js';
import {
  absentName,
  agedRead,
  type FaultyRead,
  faultyPassbacks,
  faultyReads,
  issuedRead,
  keyPassback,
  oldSeconds,
  unknownCodeRead,
} from './requests.js';

/** A test user, whose data the probe may read and write. */
export interface ProbedUser {
  /** Codes that were issued for the user and not used. The first is used until it is refused. */
  readonly codes: readonly string[];
  readonly unionId: string | undefined;
  /** The key that is passed back. */
  readonly key: string;
}

/** The largest accepted error of a timestamp, in seconds; `above` the maximum of a platform file. */
interface ClockWindow {
  readonly seconds: number | 'unlimited';
  /** Whether a timestamp a second above it was refused. */
  readonly isExact: boolean;
  /** Whether a timestamp that is as far ahead is treated alike. */
  readonly isSymmetric: boolean;
}

/** The answers to the requests of a probe. */
export interface Evidence {
  /** The answer to a right read but for its code: other faults are told apart from it. */
  readonly unknownCode: Observation;
  /** A copy of the same request. */
  readonly copy: Observation;
  /** The same at the end: a platform that blocks a caller has others. */
  readonly last: Observation;
  readonly faulty: Readonly<Record<FaultyRead, Observation>>;
  /** `null` if answers do not show whether a timestamp was accepted. */
  readonly window: ClockWindow | null;
  /** The passback of the probe's own key, and a copy of that request; `null` if no user was given. */
  readonly written: { readonly first: Observation; readonly copy: Observation } | null;
  readonly refusedPassbacks: readonly Observation[];
  /** Reads with a code that was issued; `null` if there was none, or all were refused. */
  readonly whole: Observation | null;
  readonly named: Observation | null;
  /** Number of reads that the first code allowed, and whether one more was refused. */
  readonly uses: { readonly count: number; readonly isUsedUp: boolean } | null;
  /** The answer to a throttled request. */
  readonly throttled: Observation | null;
  /** The lead of the platform's clock over ours, in seconds. */
  readonly aheadBy: number;
  readonly all: readonly Observation[];
}

/** Maximum number of reads with one code. */
export const maxCodeReads = 6;

/** Whether two answers say the same, but for numbers in their text. */
export function saysTheSame(one: Observation, other: Observation): boolean {
  const saying = ({ httpStatus, code, msg }: Observation) =>
    [httpStatus, code, msg.replaceAll(/\d+/g, '0')].join(' ');
  return saying(one) === saying(other);
}

export function isCarriedOut({ code }: Observation): boolean {
  return code === resultCode.ok;
}

/** Whether an unknown code is answered unlike a wrong signature: then answers show how far a request came. */
export function tellsApart({ unknownCode, faulty }: Pick<Evidence, 'unknownCode' | 'faulty'>): boolean {
  const signatures = [faulty.wrongAppSign, faulty.wrongSign];
  return !isCarriedOut(unknownCode) && !signatures.some((answer) => saysTheSame(answer, unknownCode));
}

/**
 * Sends the requests of a probe. Those that name a user come after all others.
 *
 * @throws what `Exchange.send` throws
 */
export async function gather(connection: ProbeConnection, user: ProbedUser): Promise<Evidence> {
  const exchange = new Exchange(connection);
  const unknownCode = await exchange.send(unknownCodeRead());
  const copy = await exchange.send(unknownCode.asked, true);
  const answers: [string, Observation][] = [];
  for (const [name, asked] of Object.entries(faultyReads)) answers.push([name, await exchange.send(asked)]);
  const faulty = Object.fromEntries(answers) as Record<FaultyRead, Observation>;
  const isTold = tellsApart({ unknownCode, faulty });
  const window = isTold ? await findWindow(exchange, unknownCode, faulty.oldTimestamp) : null;
  const passbacks = await passBack(exchange, user);
  const reads = await readUser(exchange, user);
  const last = await exchange.send(unknownCodeRead());
  const { throttled, observations: all } = exchange;
  const aheadBy = aheadOf(all);
  return { unknownCode, copy, last, faulty, window, ...passbacks, ...reads, throttled, aheadBy, all };
}

/** Windows that deployments have, in seconds: the search looks at them first. */
const usualWindows = [10, 30, 60, 120, 180, 300, 600, maxClockWindowSeconds];

/** Finds the window by bisecting ages of a timestamp, by a few requests where it is a usual one. */
async function findWindow(
  exchange: Exchange,
  unknownCode: Observation,
  old: Observation,
): Promise<ClockWindow> {
  if (saysTheSame(old, unknownCode)) return { seconds: 'unlimited', isExact: true, isSymmetric: true };
  const aheadBy = aheadOf(exchange.observations);
  const accepts = async (age: number): Promise<boolean> => {
    for (let number = 1; ; number += 1) {
      const answer = await exchange.send(agedRead(age - aheadBy));
      if (answer.isWithinSecond || number === 3) return saysTheSame(answer, unknownCode);
    }
  };
  let [accepted, refused] = [0, oldSeconds];
  while (refused - accepted > 1 && accepted <= maxClockWindowSeconds) {
    const usual = usualWindows.filter((seconds) => seconds > accepted && seconds < refused);
    const isUsual = accepted === 0 || usualWindows.includes(accepted);
    const age =
      usual[Math.floor(usual.length / 2)] ?? (isUsual ? accepted + 1 : Math.floor((accepted + refused) / 2));
    if (await accepts(age)) accepted = age;
    else refused = age;
  }
  const seconds = Math.min(accepted, maxClockWindowSeconds);
  return { seconds, isExact: accepted === seconds, isSymmetric: !(await accepts(-(seconds + 2))) };
}

/** The lead of the platform's clock, in whole seconds; 0 for what may be rounding. */
function aheadOf(observations: readonly Observation[]): number {
  const leads = observations.flatMap(({ aheadBy }) => aheadBy ?? []).toSorted((a, b) => a - b);
  const median = leads[Math.floor(leads.length / 2)] ?? 0;
  return Math.abs(median) <= 1 ? 0 : median;
}

async function passBack(
  exchange: Exchange,
  { unionId, key }: ProbedUser,
): Promise<Pick<Evidence, 'written' | 'refusedPassbacks'>> {
  if (unionId === undefined) return { written: null, refusedPassbacks: [] };
  const first = await exchange.send(keyPassback(unionId, key));
  const copy = await exchange.send(first.asked, true);
  const refusedPassbacks: Observation[] = [];
  for (const asked of faultyPassbacks(unionId, key)) {
    refusedPassbacks.push(await exchange.send(asked));
  }
  return { written: { first, copy }, refusedPassbacks };
}

/** Reads the whole record, then by names, with the first code that is good for it. */
async function readUser(
  exchange: Exchange,
  { codes: [code, ...others], key }: ProbedUser,
): Promise<Pick<Evidence, 'whole' | 'named' | 'uses'>> {
  if (code === undefined) return { whole: null, named: null, uses: null };
  const named = (of: string) => issuedRead(of, [key, absentName, 'device_info', 'location_info']);
  const reads: Observation[] = [];
  let isUsedUp = false;
  while (!isUsedUp && reads.length < maxCodeReads) {
    const answer = await exchange.send(reads.length === 0 ? issuedRead(code) : named(code));
    if (isCarriedOut(answer)) reads.push(answer);
    else isUsedUp = true;
  }
  const uses = { count: reads.length, isUsedUp };
  let [whole = null, second = null] = reads;
  for (const other of others) {
    const asked = whole === null ? issuedRead(other) : second === null ? named(other) : null;
    const answer = asked === null ? null : await exchange.send(asked);
    if (answer === null || !isCarriedOut(answer)) continue;
    if (whole === null) whole = answer;
    else second = answer;
  }
  return { whole, named: second, uses: uses.count === 0 ? null : uses };
}

/** `data` of a success; empty if it is no object, or there is no answer. */
export function dataOf(answer: Observation | null): Readonly<Record<string, unknown>> {
  const data = answer?.members.data;
  return isObject(data) ? data : {};
}
