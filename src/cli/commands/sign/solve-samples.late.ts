// Only "sign solve" loads it.

import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import {
  type SignatureName,
  type SigningChoice,
  signaturesOf,
} from '../../../core/signing/app-signatures.js';
import { paramOf } from '../../../core/signing/request.js';
import { UserInfoError } from '../../../core/support/errors.js';
import { isObject } from '../../../core/support/json.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { SecretSample } from '../../../lab/sample.js';
import { type Sample, unsignedSample } from '../../../lab/samples/captured-request.js';
import { isDigest } from '../../../lab/search.js';
import type { CliContext, Invocation } from '../../command.js';
import { CheckFailedError } from '../../errors.js';
import { readJson } from '../../input.js';
import { printAdvice, printMessage } from '../../io.js';
import { saveSigners, selectRule, selectSecret } from '../../request/resolve-signing.js';
import { searchRules } from '../../request/search-rules.late.js';
import {
  hasDoubts,
  likeliestRules,
  type SolveReport,
  showSolveReport,
  solveFault,
  solveReportRecord,
} from './solve-report.late.js';

export interface SolveOptions {
  readonly sample?: readonly string[];
  /** Numbers of the requests to take from a text with several, from 1. */
  readonly pick?: readonly number[];
  /** What a document says: a file with a recipe with "?" in it. */
  readonly recipe?: string;
  /** Name of the profile that receives the recipes. */
  readonly save?: string;
}

/**
 * Searches the rules, prints them and saves the likeliest.
 *
 * @throws CheckFailedError if no rule fits, ProfileError if there is no such profile, before the
 * search
 */
export async function solveSamples(
  { context, io, options, isTable, print }: Invocation<SolveOptions>,
  samples: readonly Sample[],
): Promise<void> {
  const { save } = options;
  // Fails before the search if there is no such profile.
  if (save !== undefined) await context.profiles.get(save);
  const signed: SecretSample[] = [];
  for (const sample of samples) {
    checkSignature(sample);
    signed.push({ ...sample, secret: await selectSecret(context, options, sample.secret) });
  }
  await checkOwnRule(context, options, signed);
  const partial = await readPartial(context, options.recipe);
  const startedAt = Date.now();
  const rules = await searchRules(context, signed, { partial });
  const report = { rules, sampleCount: signed.length, ms: Date.now() - startedAt };
  await print(isTable ? showSolveReport(report) : solveReportRecord(report));
  const likeliest = likeliestRules(report);
  const names = Object.keys(likeliest);
  if (save !== undefined && names.length > 0) {
    await saveSigners(context, save, likeliest);
    await printMessage(io, `saved in profile "${save}": ${names.join(' and ')}`);
  }
  const fault = solveFault(report, options.profile ?? save);
  if (fault !== null) throw fault;
  await adviseSettling(context, options, report);
  if (!isTable) return;
  await printAdvice(io, exportAdvice(save));
}

function exportAdvice(save: string | undefined): { hint: string; commands: string[] } {
  if (save === undefined) {
    return {
      hint: 'As source code, pipe the output of --json into:',
      commands: ['userinfo sign export --lang python --recipe -'],
    };
  }
  return {
    hint: 'As source code:',
    commands: [`userinfo sign export --lang python -p ${save}`],
  };
}

/**
 * @throws SampleError for a request without a signature, InvalidInputError for one that is no
 * digest
 */
function checkSignature(sample: Sample): void {
  const { signature } = sample;
  if (signature === null) throw unsignedSample(sample);
  if (!isDigest(signature))
    throw new InvalidInputError(`${quoteName(signature)} is no digest in hex or base64`);
}

/**
 * The recipes that a document gives, by the signature that they are for; one alone is that of
 * `sign`.
 */
async function readPartial(
  context: CliContext,
  file: string | undefined,
): Promise<Partial<Record<SignatureName, unknown>>> {
  if (file === undefined) return {};
  const json = await readJson(context, file);
  if (isObject(json) && ('app_sign' in json || 'sign' in json)) return json;
  return { sign: json };
}

/** Says what settles the doubts that the samples leave. */
async function adviseSettling(
  { io }: CliContext,
  { save, profile = save }: Invocation<SolveOptions>['options'],
  report: SolveReport,
): Promise<void> {
  if (!hasDoubts(report)) return;
  const requests = report.sampleCount === 1 ? 'The request leaves' : 'The requests leave';
  const hint =
    `${requests} more than one rule. ` +
    'Add a request that settles it (--sample), or ask a test deployment:';
  const name = quoteWhereNeeded(profile ?? 'shop');
  await printAdvice(io, { hint, commands: [`userinfo sign try -p ${name} --save ${name}`] });
}

/**
 * Requests that the present rule signs prove nothing about the platform's: a person who was refused
 * may have taken their own request.
 *
 * @throws CheckFailedError if the profile to save into has that rule already
 */
async function checkOwnRule(
  context: CliContext,
  { save, recipe, ...options }: Invocation<SolveOptions>['options'],
  samples: readonly SecretSample[],
): Promise<void> {
  const ruleOptions = save === undefined ? options : { ...options, profile: save };
  const presentRule = await selectRule(context, ruleOptions).catch((error: unknown) => {
    // A module that cannot be loaded signs nothing.
    if (error instanceof UserInfoError) return null;
    throw error;
  });
  if (presentRule === null) return;
  const signedByIt = samples.map((sample) => signsAll(presentRule.signing, sample));
  if (!signedByIt.includes(true)) return;
  const areAllSigned = !signedByIt.includes(false);
  const which = areAllSigned ? 'this is' : `request ${signedByIt.indexOf(true) + 1} is`;
  const advice =
    'If the platform refused it, its rule is another one: take one that the platform accepted.';
  if (save === undefined) {
    await printMessage(context.io, `${which} signed by ${presentRule.from}. ${advice}`);
    return;
  }
  const problem = `${which} signed by the rule that profile "${save}" already has`;
  if (areAllSigned) throw new CheckFailedError(`${problem}: nothing was saved`, { hint: advice });
  await printMessage(context.io, `${problem}. ${advice}`);
}

/** Whether a rule gives every signature that a sample has. */
function signsAll(signing: SigningChoice, sample: SecretSample): boolean {
  return signaturesOf(signing, sample).every(({ name, signer, request }) => {
    const received = name === 'sign' ? sample.signature : paramOf(sample, name);
    try {
      return signer.sign(request, sample.secret).digest === received;
    } catch (error) {
      if (error instanceof UserInfoError) return false;
      throw error;
    }
  });
}
