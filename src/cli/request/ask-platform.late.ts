// Only commands that ask a platform for its rules load it.
import type { CallClient } from '../../client/call/client.js';
import type { OperationName } from '../../core/contract/endpoints.js';
import { quoteName } from '../../core/contract/errors.js';
import type { Settings } from '../../core/profiles/settings.js';
import type { Secret } from '../../core/signing/secret.js';
import { Asker, type Reply, type StopReason } from '../../lab/settle/asker.js';
import type { HarmlessKind } from '../../lab/settle/harmless-requests.js';
import type { Reach, Settlement, Sight, Sighting } from '../../lab/settle/settle.js';
import type { CliContext } from '../command.js';
import type { CommonOptions } from '../command-line/options.js';
import { withProgress } from '../output/progress.js';
import { clientOptions } from './deployment.js';

/** Requests a second, unless `--rate` says otherwise. */
export const usualRate = 5;

/** A client for harmless requests. */
export async function connectToAsk(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  secret: Secret,
): Promise<CallClient> {
  const given = await clientOptions(context, settings, { ...options, attempts: 1 }, secret);
  // What a passback is answered with is looked at, not judged.
  return context.connect({ ...given, platform: { ...given.platform, passback_union_id: 'any' } });
}

/** How many requests may be sent. */
interface Budget {
  readonly maxRequests: number;
  readonly rate?: number | undefined;
  readonly more?: (sent: number) => Promise<number>;
}

/** Sends harmless requests, with a line of progress on a terminal. */
export async function askPlatform<T>(
  { io, signal }: CliContext,
  client: CallClient,
  { maxRequests, rate = usualRate, more }: Budget,
  work: (asker: Asker) => Promise<T>,
): Promise<T> {
  const asker = new Asker({
    client,
    signal,
    pauseMs: 1000 / rate,
    maxRequests,
    ...(more && { more }),
  });
  const progressNow = () => {
    const total = asker.sent + asker.left;
    return {
      doing: 'asking',
      unit: 'requests',
      rows: asker.sent,
      share: asker.sent / total,
      total,
    };
  };
  return withProgress(io, { quiet: !io.stderr.isTTY }, progressNow, () => work(asker));
}

/** In production, only reads are sent. */
export const productionReach: Reach = { reads: ['named', 'odd'], passbacks: [] };

/** The question before the harmless requests. */
export function askingQuestion({ environment, base_url }: Settings, most: number): string {
  const { host } = new URL(base_url.value);
  const isProduction = environment.value === 'production';
  const requests = isProduction
    ? 'reads of a code that nobody has'
    : 'requests that change nothing';
  const where = isProduction ? `production (${host})` : host;
  return `Send up to ${most} ${requests} to ${where}, some with a wrong signature, to see which are accepted?`;
}

/** What was seen of an operation, for a person. */
export interface OperationReport {
  readonly sight: Sight;
  readonly detail: string;
  readonly next?: string;
}

const kindsOf: Readonly<Record<OperationName, readonly HarmlessKind[]>> = {
  read: ['plain', 'named', 'onlyNamed', 'odd'],
  passback: ['byKey', 'ofNobody', 'byOddKey'],
};

/** What was seen of the signatures of an operation: accepted only if an answer showed it. */
export function reportOperation(operation: OperationName, settlement: Settlement): OperationReport {
  const { sightings, refusals, carriedOut } = settlement;
  const own = sightings.filter(({ kind }) => kindsOf[operation].includes(kind));
  const refused = own.find(({ sign, app_sign }) => sign === 'refused' || app_sign === 'refused');
  if (refused !== undefined) {
    const name = refused.sign === 'refused' ? 'sign' : 'app_sign';
    return { sight: 'refused', detail: `${refused.title}: ${name} is refused like a wrong one` };
  }
  const accepted = own.find(({ sign }) => sign === 'accepted');
  if (accepted === undefined)
    return { sight: 'unseen', detail: whyUnseen(operation, own, settlement) };
  const answer = `${describeReply(accepted.reply)}, a wrong sign ${describeReply(refusals.sign)}`;
  const next = assumptions(operation, own, carriedOut);
  if (accepted.app_sign !== 'accepted') {
    const detail = `sign was accepted (${answer}); whether app_sign is right could not be seen: a wrong one is answered alike`;
    return { sight: 'unseen', detail, ...next };
  }
  return { sight: 'accepted', detail: `app_sign and sign were accepted: ${answer}`, ...next };
}

function whyUnseen(
  operation: OperationName,
  own: readonly Sighting[],
  { stopped, refusals, carriedOut }: Settlement,
): string {
  const [first] = own;
  if (stopped !== null) return `not seen: ${stopWords[stopped]}`;
  if (first === undefined)
    return refusals.sign === null ? 'not asked: nothing was seen of a read' : 'not asked';
  if (carriedOut !== null) return 'not seen: the platform accepts a wrong signature';
  const answer = describeReply(first.reply);
  return operation === 'read'
    ? `not seen: a wrong signature is answered alike, ${answer}`
    : `not seen: the platform refuses something else before the signature, ${answer}`;
}

export const stopWords: Readonly<Record<StopReason, string>> = {
  'requests used up': 'the requests were used up',
  throttled: 'the platform throttles',
  'other answer': 'the platform answers otherwise than at the start',
};

/** What was not seen, or cannot be, of an operation whose signature was accepted. */
function assumptions(
  operation: OperationName,
  own: readonly Sighting[],
  carriedOut: HarmlessKind | null,
): { readonly next?: string } {
  const sentences: string[] = [];
  const unseen = own
    .filter(({ sign, kind }) => sign === 'unseen' && kind !== 'odd')
    .map(({ title }) => title);
  if (unseen.length > 0) sentences.push(`Not seen: ${unseen.join(', ')}.`);
  if (carriedOut !== null && operation === 'passback')
    sentences.push(
      'The platform answers a passback that names no user with a success: none was sent after it.',
    );
  if (operation === 'passback')
    sentences.push(
      'That union_id is signed as primary_key is an assumption, until the first passback by it.',
    );
  return sentences.length === 0 ? {} : { next: sentences.join(' ') };
}

/** An answer, for a person: `1003 "sign error"`. */
export function describeReply(reply: Reply | null): string {
  if (reply === null) return 'nothing';
  const { code, httpStatus, msg } = reply;
  return code === null ? `HTTP ${httpStatus}` : `${code}${msg === '' ? '' : ` ${quoteName(msg)}`}`;
}
