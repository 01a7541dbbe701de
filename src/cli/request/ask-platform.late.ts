// Only commands that ask a platform for its rules load it.
import type { CallClient } from '../../client/call/call-client.js';
import type { OperationName } from '../../core/contract/endpoints.js';
import { quoteName } from '../../core/contract/errors.js';
import { maskWords } from '../../core/contract/masking.js';
import type { Settings } from '../../core/profiles/settings.js';
import type { Secret } from '../../core/signing/secret.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { StopReason } from '../../lab/reply.js';
import { Asker, type HarmlessReply } from '../../lab/settle/asker.js';
import type { HarmlessKind } from '../../lab/settle/harmless-requests.js';
import type { Judgment, Observation, Reach, Settlement } from '../../lab/settle/settle.js';
import type { CliContext } from '../command.js';
import { type CommonOptions, usualRate } from '../command-line/options.js';
import { ProgressDisplay } from '../output/progress.js';
import { connectTo } from './deployment.js';

/** A client for harmless requests. */
export async function connectToAsk(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  secret: Secret,
): Promise<CallClient> {
  return connectTo(
    context,
    settings,
    { ...options, attempts: 1 },
    { secret, acceptsAnyUser: true },
  );
}

/** How many requests may be sent. */
interface Budget {
  readonly maxRequests: number;
  /**
   * Requests a second.
   *
   * @default usualRate
   */
  readonly rate?: number | undefined;
  /** How many more may be sent after `sent` requests. */
  readonly more?: (sent: number) => Promise<number>;
}

/** Sends harmless requests, with a line of progress on a terminal. */
export async function askPlatform<T>(
  { io, signal }: CliContext,
  client: CallClient,
  { maxRequests, rate = usualRate, more }: Budget,
  work: (asker: Asker) => Promise<T>,
): Promise<T> {
  const display = new ProgressDisplay(io, () => {
    const { sent, maxRequests: total } = asker;
    return {
      doing: 'asking',
      unit: 'requests',
      rows: sent,
      share: sent / total,
      total,
    };
  });
  const askForMore = more && ((sent: number) => display.pauseFor(() => more(sent)));
  const pauseMs = 1000 / rate;
  const asker = new Asker(
    withoutUndefined({ client, signal, pauseMs, maxRequests, more: askForMore }),
  );
  if (!io.stderr.isTTY) return work(asker);
  return display.during(() => work(asker));
}

/** In production, only reads are sent. */
export const productionReach: Reach = { read: ['named', 'odd'], passback: [] };

/** The question before the harmless requests. */
export function askingQuestion({ environment, base_url }: Settings, maxRequests: number): string {
  const { host } = new URL(base_url.value);
  const purpose = 'some with a wrong signature, to see which are accepted?';
  if (environment.value === 'production') {
    const reads = `up to ${maxRequests} reads of a code that was never issued`;
    return `Send ${reads} to production (${host}), ${purpose}`;
  }
  return `Send up to ${maxRequests} requests that change nothing to ${host}, ${purpose}`;
}

/** What was seen of an operation, for a person. */
export interface OperationReport {
  /** The name that a report for programs has for it. */
  readonly sight: Judgment;
  readonly detail: string;
  readonly next?: string;
}

/** The words of the report about an operation, besides what was seen. */
interface OperationWords {
  /** Why nothing was seen, before the answer. */
  readonly unseen: string;
  /** Where an answer was a success; `null` for a read, which changes nothing. */
  readonly carriedOut: string | null;
  /** What is not asked; `null` if all is. */
  readonly assumed: string | null;
}

const words: Readonly<Record<OperationName, OperationWords>> = {
  read: { unseen: 'a wrong signature is answered alike', carriedOut: null, assumed: null },
  passback: {
    unseen: 'the platform refuses something else before the signature',
    carriedOut:
      'The platform answers a passback that names no user with a success: none was sent after it.',
    assumed:
      'Passbacks by union_id are not tried: they are assumed to be signed like those by primary_key.',
  },
};

/** What was seen of the signatures of an operation: accepted only if an answer showed it. */
export function reportOperation(operation: OperationName, settlement: Settlement): OperationReport {
  const { observations, refusals, carriedOut } = settlement;
  const ofOperation = observations.filter((observation) => observation.operation === operation);
  for (const { title, sign, app_sign } of ofOperation) {
    if (sign === 'refused')
      return { sight: 'refused', detail: `${title}: sign is refused like a wrong one` };
    if (app_sign === 'refused')
      return { sight: 'refused', detail: `${title}: app_sign is refused like a wrong one` };
  }
  const accepted = ofOperation.find(({ sign }) => sign === 'accepted');
  if (accepted === undefined)
    return { sight: 'unseen', detail: whyUnseen(operation, ofOperation, settlement) };
  const answer = `${describeReply(accepted.reply)}, a wrong sign ${describeReply(refusals.sign)}`;
  const next = assumptions(operation, ofOperation, carriedOut);
  if (accepted.app_sign !== 'accepted') {
    const why = 'whether app_sign is right could not be seen: a wrong one is answered alike';
    return { sight: 'unseen', detail: `sign was accepted (${answer}); ${why}`, ...next };
  }
  return { sight: 'accepted', detail: `app_sign and sign were accepted: ${answer}`, ...next };
}

function whyUnseen(
  operation: OperationName,
  ofOperation: readonly Observation[],
  { stopped, refusals, carriedOut }: Settlement,
): string {
  const [first] = ofOperation;
  if (stopped !== null) return `not seen: ${stopWords[stopped]}`;
  if (first === undefined && refusals.sign === null) return 'not asked: the read showed nothing';
  if (first === undefined) return 'not asked';
  if (carriedOut !== null) return 'not seen: the platform accepts a wrong signature';
  return `not seen: ${words[operation].unseen}, ${describeReply(first.reply)}`;
}

export const stopWords: Readonly<Record<StopReason, string>> = {
  'requests used up': 'the requests were used up',
  throttled: 'the platform throttles',
  'other answer': 'the platform no longer answers as it did at the start',
  'no envelope': 'the answer is no envelope',
  'accepts any signature': 'the platform accepts a wrong signature',
};

/** What was not seen, or cannot be, of an operation whose signature was accepted. */
function assumptions(
  operation: OperationName,
  ofOperation: readonly Observation[],
  carriedOutKind: HarmlessKind | null,
): { readonly next?: string } {
  const { carriedOut, assumed } = words[operation];
  const sentences: string[] = [];
  const unseen = ofOperation
    .filter(({ sign, kind }) => sign === 'unseen' && kind !== 'odd')
    .map(({ title }) => title);
  if (unseen.length > 0) sentences.push(`Not seen: ${unseen.join(', ')}.`);
  if (carriedOutKind !== null && carriedOut !== null) sentences.push(carriedOut);
  if (assumed !== null) sentences.push(assumed);
  return sentences.length === 0 ? {} : { next: sentences.join(' ') };
}

/** An answer, for a person: `1003 "sign error"`. */
export function describeReply(reply: HarmlessReply | null): string {
  if (reply === null) return 'nothing';
  const { code, httpStatus, msg } = reply;
  if (code === null) return `HTTP ${httpStatus}`;
  return msg === '' ? String(code) : `${code} ${quoteName(maskWords(msg))}`;
}
