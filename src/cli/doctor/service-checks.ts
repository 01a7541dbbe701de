import type { Answer } from '../../client/answer.js';
import type { UserInfoClient } from '../../client/client.js';
import { RejectedError } from '../../client/errors.js';
import type { Settings } from '../../profiles/settings.js';
import { defaultClockWindowSeconds, signLength } from '../../protocol/limits.js';
import { describeResultCode, resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import type { Secret } from '../../signing/secret.js';
import { clientOptions } from '../connect.js';
import type { CliContext } from '../context.js';
import type { CommonOptions } from '../options.js';
import { CheckFailedError } from '../report-error.js';
import type { Finding } from './checkup.js';

/** A request can be signed. The client makes one attempt per call. */
export async function checkSigning(
  context: CliContext,
  settings: Settings,
  secret: Secret,
  options: CommonOptions,
): Promise<Finding<UserInfoClient>> {
  const once = { ...options, attempts: 1 };
  const client = await context.connect(await clientOptions(context, settings, once, secret));
  const { searchParams } = client.signRead({ code: 'self-test' }).url;
  const lengthOf = (name: string) => searchParams.get(name)?.length ?? 0;
  const by = settings.signing === null ? 'the default recipes' : 'the signing of the profile';
  const detail = `by ${by}: app_sign has ${lengthOf('app_sign')} characters, sign ${lengthOf('sign')}`;
  const isUsual = lengthOf('sign') === signLength;
  const next = `The platform's document requires a sign of ${signLength} characters: check the recipe.`;
  return { detail, ...(isUsual ? {} : { next }), value: client };
}

/** The answer of the service, and how far its clock is ahead of ours. */
export interface ServiceAnswer {
  readonly answer: Answer;
  /** Seconds, rounded; `null` if the answer has no `Date` header. */
  readonly aheadBy: number | null;
}

/** Reads with a code that was never issued: nothing is written, and no code is consumed. */
export async function checkAnswer(
  client: UserInfoClient,
  { uniqueText, now, signal }: CliContext,
): Promise<Finding<ServiceAnswer>> {
  const sentAt = now();
  const answer = await client
    .read({ code: `userinfo-doctor-${uniqueText()}` }, { signal })
    .catch(rejectedAnswer);
  const receivedAt = now();
  const { code, msg } = answer.envelope;
  const detail = `HTTP ${answer.httpStatus}, code ${code} ${quoteName(msg)}, after ${receivedAt - sentAt} ms`;
  return { detail, value: { answer, aheadBy: secondsAhead(answer.date, (sentAt + receivedAt) / 2) } };
}

function rejectedAnswer(error: unknown): Answer {
  if (error instanceof RejectedError) return error.answer;
  throw error;
}

/** A `Date` header has whole seconds: half a second is missing on average. */
function secondsAhead(date: string | undefined, now: number): number | null {
  const theirs = Date.parse(date ?? '') + 500;
  return Number.isNaN(theirs) ? null : Math.round((theirs - now) / 1000);
}

/** The clocks differ by no more than a service usually allows. */
export async function checkClock({ aheadBy }: ServiceAnswer): Promise<Finding<null>> {
  if (aheadBy === null) return { detail: 'the answer has no Date header', value: null, skipped: true };
  const seconds = Math.abs(aheadBy);
  const detail =
    seconds === 0 ? 'same as the service' : `${seconds} s ${aheadBy > 0 ? 'behind' : 'ahead of'} the service`;
  if (seconds <= defaultClockWindowSeconds) return { detail, value: null };
  throw new CheckFailedError(detail, {
    hint: `Set the clock of this machine: timestamps further off than ${defaultClockWindowSeconds} s are usually refused.`,
  });
}

/** Evaluates the answer to a code that was never issued: any other error is about the rest of the request. */
export async function checkAcceptance({ answer }: ServiceAnswer): Promise<Finding<null>> {
  const { code } = answer.envelope;
  if (code === resultCode.codeNotValid) {
    return {
      detail: 'app key, app_sign, sign, tenant and channel: only the code was refused, as expected',
      value: null,
    };
  }
  if (code === resultCode.ok) return { detail: 'everything, the code too', value: null };
  if (describeResultCode(code) !== undefined) throw new RejectedError(answer);
  return {
    detail: `not known: the code ${code} is the platform's own`,
    next: `Ask the operator whether ${code} means that only the authorization code was refused.`,
    value: null,
    skipped: true,
  };
}
