// Only "profile add --from" loads it.

import { isDeepStrictEqual } from 'node:util';
import { NoAnswerError } from '../../../client/call/errors.js';
import { secretDoubts } from '../../../core/contract/doubts.js';
import type { Platform } from '../../../core/platform/platform.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import type { HeaderSources } from '../../../core/profiles/header-source.js';
import {
  describeProfile,
  type Profile,
  type ProfilePatch,
  requestFields,
} from '../../../core/profiles/profile.js';
import { readSecret } from '../../../core/profiles/secret-source.js';
import { resolveSettings } from '../../../core/profiles/settings.js';
import { compileRecipes, signatureNames } from '../../../core/signing/app-signatures.js';
import { defaultRecipes } from '../../../core/signing/presets.js';
import { type Recipe, type SigningRecipes, unlessRefused } from '../../../core/signing/recipe.js';
import { paramOf } from '../../../core/signing/request.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { describeRecipe } from '../../../lab/describe-recipe.js';
import { type SecretSample, signedSample } from '../../../lab/sample.js';
import {
  type Candidates,
  candidatesOf,
  constantCandidate,
} from '../../../lab/settle/candidates.js';
import { maxSettling, type Settlement, settle, wholeReach } from '../../../lab/settle/settle.js';
import type { CliContext, Invocation } from '../../command.js';
import { CheckFailedError } from '../../errors.js';
import { inputName } from '../../input.js';
import { type Io, printAdvice, printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import { askPlatform, connectToAsk, productionReach } from '../../request/ask-platform.late.js';
import { commandOf, withFlags } from '../../request/command-text.js';
import { headerCommand, settingSources } from '../../request/deployment.js';
import { saveSigners } from '../../request/resolve-signing.js';
import { searchRules } from '../../request/search-rules.late.js';
import { runChecks } from '../doctor/index.js';
import { type Capture, headersOf } from './capture.late.js';

/** What the requests of a capture give a profile. */
interface CapturedRules {
  /** What the profile has besides the values that are asked for. */
  readonly patch: Pick<ProfilePatch, 'platform' | 'headers'>;
  /** The rules that sign the requests, the likeliest of each signature first. */
  readonly candidates: Candidates;
}

/** What else a profile is made of. */
export interface OtherSources {
  /** The values that options give. */
  readonly typedValues: ProfilePatch;
  /** The platform of the options, or of the profile that the new one is like. */
  readonly platform: Platform;
}

/**
 * Finds the rules of the requests, says what was taken and from where, and asks whether to store
 * them.
 *
 * @throws CheckFailedError if no rule is found, InvalidInputError if the answer is no
 */
export async function completeProfile(
  { context, io, options }: Invocation,
  capture: Capture,
  profile: Profile,
  { typedValues, platform }: OtherSources,
): Promise<CapturedRules> {
  // Refuses headers that cannot be stored before the search.
  const { plain, left } = headersOf(capture);
  const { kept, candidates } = await findRules(context, capture, profile, platform);
  const rules = likeliestOf(candidates);
  await printTaken(io, capture, [
    ...takenValues(profile, capture, typedValues),
    ...Object.entries(plain).map(([header, value]) => `header ${header}: ${value}`),
    ...takenRules(rules, kept),
  ]);
  await warnOfOtherValues(io, capture, typedValues);
  await adviseOfHeaders(io, profile, left);
  await confirmStore(context, profile, options.yes);
  const headers = { ...plain, ...typedValues.headers };
  return { patch: capturedPatch(platform, rules, headers), candidates };
}

/**
 * The rules that sign the requests; `kept` are those that the platform had before.
 *
 * @throws CheckFailedError if a signature has none
 */
async function findRules(
  context: CliContext,
  capture: Capture,
  profile: Profile,
  platform: Platform,
): Promise<{ readonly kept: Partial<SigningRecipes>; readonly candidates: Candidates }> {
  const { args, io } = context;
  const secret = await readSecret(profile.secret, io.env);
  const samples = capture.samples.map((sample) => ({ ...sample, secret }));
  const kept = givenRules(platform, samples);
  const candidates = await findCandidates(context, samples, kept);
  const missing = signatureNames.find((signature) => candidates[signature].length === 0);
  if (missing === undefined) return { kept, candidates };
  for (const warning of secretDoubts(secret, profile.app_key)) await warn(io, warning);
  const message = `no rule was found for the ${missing} of the requests`;
  throw notFound(args, message, capture, profile);
}

async function printTaken(
  io: Io,
  { samples, from }: Capture,
  lines: readonly string[],
): Promise<void> {
  const requests = samples.length === 1 ? 'a request' : `${samples.length} requests`;
  await printMessage(io, `From ${requests} in ${inputName(from)}:`);
  for (const line of lines) await printMessage(io, `  ${line}`);
}

/** Says how to set the headers whose values seem to be private. */
async function adviseOfHeaders(io: Io, { name }: Profile, left: readonly string[]): Promise<void> {
  if (left.length === 0) return;
  await printAdvice(io, {
    hint: 'Not taken, as their values seem to be secret or personal. For those that the platform needs, afterwards:',
    commands: left.map((header) => headerCommand(name, header)),
  });
}

/** @throws InvalidInputError if the answer is no */
async function confirmStore(
  context: CliContext,
  profile: Profile,
  yes: boolean | undefined,
): Promise<void> {
  const question = `Store ${describeProfile(profile)}, and check it by ${checksOf(profile)}?`;
  await confirm(context, question, yes);
}

/** What the requests change in the profile. */
function capturedPatch(
  platform: Platform,
  rules: Partial<SigningRecipes>,
  headers: HeaderSources,
): CapturedRules['patch'] {
  return withoutUndefined({
    platform: { ...platform, signing: { ...platform.signing, ...rules } },
    headers: Object.keys(headers).length > 0 ? headers : undefined,
  });
}

/** The requests that the question before storing a profile announces. */
function checksOf({ environment }: Profile): string {
  const some = 'some of them with a wrong signature';
  if (environment === 'production')
    return `up to ${maxSettling} reads of a code that was never issued, ${some}, in production`;
  return `up to ${maxSettling} requests that change nothing, ${some}`;
}

/** The values that are from the requests, in lines. */
function takenValues(profile: Profile, { values }: Capture, typedValues: ProfilePatch): string[] {
  const taken = requestFields.filter(
    (field) => typedValues[field] === undefined && values[field] !== undefined,
  );
  return taken.map((field) => {
    const source = field === 'base_url' ? 'the address' : `parameter ${field}`;
    return `${settingNames[field].title}: ${profile[field]} (${source})`;
  });
}

/** The rules that sign the requests, in lines; `kept` are those that were given. */
function takenRules(rules: Partial<SigningRecipes>, kept: Partial<SigningRecipes>): string[] {
  const lines: string[] = [];
  for (const signature of signatureNames) {
    const rule = rules[signature];
    const source = kept[signature] === undefined ? 'found' : 'kept, it signs the requests';
    if (rule !== undefined) lines.push(`${signature}: ${describeRecipe(rule)} (${source})`);
  }
  return lines;
}

/** Warns of options that contradict the requests. */
async function warnOfOtherValues(
  io: Io,
  { values }: Capture,
  typedValues: ProfilePatch,
): Promise<void> {
  for (const field of requestFields) {
    const typed = typedValues[field];
    const captured = values[field];
    if (typed === undefined || captured === undefined || typed === captured) continue;
    await warn(io, `${settingNames[field].flag} is ${typed}, but the request has ${captured}`);
  }
}

/** Searches the rules that sign all samples, but for those that are kept. */
async function findCandidates(
  context: CliContext,
  samples: readonly SecretSample[],
  kept: Partial<SigningRecipes>,
): Promise<Candidates> {
  const { app_sign, sign } = await searchRules(context, samples, { known: kept });
  const candidates = {
    app_sign: app_sign === null ? [] : candidatesOf(app_sign),
    sign: candidatesOf(sign),
  };
  const [first, ...others] = samples;
  if (candidates.app_sign.length > 0 || first === undefined || others.length > 0) return candidates;
  // The operator may have issued app_sign: the platform tells.
  const constant = paramOf(first, 'app_sign');
  if (constant === undefined) return candidates;
  return { ...candidates, app_sign: [constantCandidate(constant)] };
}

function likeliestOf({ app_sign, sign }: Candidates): Partial<SigningRecipes> {
  return withoutUndefined({
    app_sign: app_sign[0]?.recipe ?? undefined,
    sign: sign[0]?.recipe ?? undefined,
  });
}

/**
 * The rules of a platform file that give the signatures of all requests: what is given is not
 * replaced by a guess.
 */
function givenRules(
  { signing }: Platform,
  samples: readonly SecretSample[],
): Partial<SigningRecipes> {
  const signers = compileRecipes(signing);
  const kept: Partial<Record<keyof SigningRecipes, Recipe>> = {};
  for (const name of signatureNames) {
    if (isDeepStrictEqual(signing[name], defaultRecipes[name])) continue;
    const isKept = samples.every((sample) => {
      const { request, signature, secret } = signedSample(name, sample);
      return unlessRefused(() => signers[name].sign(request, secret))?.digest === signature;
    });
    if (isKept) kept[name] = signing[name];
  }
  return kept;
}

/**
 * The error of requests without a rule: the profile can be stored without them, and the search goes
 * on from it.
 */
function notFound(
  args: readonly string[],
  message: string,
  { from }: Capture,
  profile: Profile,
): CheckFailedError {
  const name = quoteWhereNeeded(profile.name);
  const values = requestFields.flatMap((field) => [settingNames[field].flag, profile[field]]);
  const isStdin = from === '-';
  const file = isStdin ? 'request.txt' : quoteWhereNeeded(from);
  const cause =
    'Nothing was stored. A wrong app secret is the likeliest cause: enter it again, by the first command.';
  const stored = isStdin
    ? 'store the request as request.txt, and the profile without the rule:'
    : 'store the profile without the rule:';
  return new CheckFailedError(message, {
    hint: `${cause}\nOr follow the operator's document: ${stored}`,
    commands: [
      ...commandOf(args),
      ...commandOf(withFlags(args, values, ['--from'])),
      `userinfo sign solve -p ${name} --save ${name} --sample ${file}`,
    ],
  });
}

/**
 * Lets the platform decide between the rules that sign the captured requests, stores what it
 * decided, and checks the profile as `userinfo doctor -p` does.
 */
export async function settleStored(
  invocation: Invocation<{ readonly rate?: number }>,
  name: string,
  candidates: Candidates,
): Promise<void> {
  const { context } = invocation;
  const { timeout, attempts, rate } = invocation.options;
  const options = { timeout, attempts, profile: name };
  const settings = await resolveSettings(settingSources(context, options));
  const reach = settings.environment.value === 'production' ? productionReach : wholeReach;
  const secret = await settings.secret.read();
  const client = await connectToAsk(context, settings, options, secret);
  const budget = { maxRequests: maxSettling - 1, rate };
  let settlement: Settlement | undefined;
  try {
    settlement = await askPlatform(context, client, budget, (asker) =>
      settle(asker, client, candidates, secret, reach),
    );
  } catch (error) {
    // The checks say why there is no answer.
    if (!(error instanceof NoAnswerError)) throw error;
  } finally {
    await client.close();
  }
  if (settlement !== undefined) await storeSettled(context, name, candidates, settlement);
  return runChecks({ ...invocation, options }, settlement);
}

/** Stores the rules that are left, if the likeliest of them is another one than before. */
async function storeSettled(
  context: CliContext,
  name: string,
  before: Candidates,
  { left, requests }: Settlement,
): Promise<void> {
  const { io } = context;
  const rules = likeliestOf(left);
  const stored = likeliestOf(before);
  const changed = signatureNames.filter((signature) => rules[signature] !== stored[signature]);
  if (changed.length === 0) return;
  await saveSigners(context, name, rules);
  await printMessage(io, `${requests} requests showed that other rules are right. Stored:`);
  for (const signature of changed) {
    const rule = rules[signature];
    if (rule !== undefined) await printMessage(io, `  ${signature}: ${describeRecipe(rule)}`);
  }
}
