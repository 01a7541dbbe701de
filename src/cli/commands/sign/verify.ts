import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { formNames } from '../../../core/contract/endpoints.js';
import { InvalidInputError, UserInfoError } from '../../../core/contract/errors.js';
import {
  checkParameters,
  collectParameters,
  unsentParameters,
} from '../../../core/contract/parameters.js';
import type { Profile } from '../../../core/profiles/profile.js';
import { signaturesOf } from '../../../core/signing/app-signatures.js';
import type { Recipe } from '../../../core/signing/recipe.js';
import { parseRecipeParts } from '../../../core/signing/recipe-parts.js';
import { paramOf } from '../../../core/signing/request.js';
import { Secret } from '../../../core/signing/secret.js';
import { missingForm, operationOf, type Sample } from '../../../lab/samples/captured-request.js';
import { namedPresets } from '../../../lab/verify/recipe-suspects.js';
import type { Named, OtherInputs } from '../../../lab/verify/suspect.js';
import { type Verification, verification } from '../../../lab/verify/verify-signature.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { CheckFailedError } from '../../errors.js';
import { readText } from '../../input.js';
import { printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import {
  addRecipeOption,
  type RecipeOptions,
  selectRule,
  selectSecret,
} from '../../request/resolve-signing.js';
import { addSampleOptions, readSignedInputs, type SampleOptions } from './sample-input.js';
import {
  compareTheirs,
  faultOf,
  reportRecord,
  showReport,
  type VerifyReport,
} from './verify-report.js';

interface VerifyOptions extends SampleOptions, RecipeOptions {
  readonly theirs?: string;
}

export const declareSignVerify = command({
  name: 'verify',
  common: ['profile', 'output'],
  summary: 'check a signed request, and explain what is wrong',
  takes: (command) =>
    addSampleOptions(
      addRecipeOption(
        command
          .argument('[request]', 'such as a URL or a curl command; - for standard input')
          .option('--theirs <text>', "the operator's text to sign, @file, or - for standard input"),
      ),
    ),
  action: verify,
});

async function verify(invocation: Invocation<VerifyOptions>, request?: string): Promise<void> {
  const { context, io, options, isTable, print } = invocation;
  refuseTwoInputs(options, request);
  const { signing, from } = await selectRule(context, options);
  const [sample] = await readSignedInputs(context, request, options);
  const theirs = await readTheirs(context, options.theirs);
  const rule = brokenRule(sample);
  if (rule !== null)
    await warn(io, `the service refuses this request whatever its signature: ${rule}`);
  const signatures = await signedInputs(invocation, signing, sample);
  const report: VerifyReport = {
    profile: options.profile,
    rule: from,
    verdicts: await verdictsOf(context, sample, signatures, theirs !== null),
    comparison: theirs === null ? null : compareTheirs(signatures, theirs),
  };
  await print(isTable ? showReport(report) : reportRecord(report));
  const fault = faultOf(report);
  if (fault !== null) throw fault;
  if (isTable && options.recipe === undefined && theirs === null) {
    await printMessage(
      io,
      `the signatures match ${from}. If the platform refused the request, it uses another rule. ` +
        'Find it with userinfo sign solve, from a request that it accepted.',
    );
  }
}

/** @throws InvalidInputError if both texts are to be read from standard input */
function refuseTwoInputs({ theirs, sample }: VerifyOptions, request: string | undefined): void {
  if (theirs !== '-' || (request ?? sample) !== '-') return;
  throw new InvalidInputError('the request and --theirs cannot both come from standard input', {
    hint: 'Put one of them into a file: --sample <file>, or --theirs @<file>.',
  });
}

/** A signature to check: what it signs by the rule, and what else it may have been signed with. */
type SignedInputs = ReturnType<typeof signaturesOf>[number] &
  OtherInputs & { readonly secret: Secret };

async function signedInputs(
  { context, options }: Invocation<VerifyOptions>,
  signing: Parameters<typeof signaturesOf>[0],
  sample: Sample,
): Promise<SignedInputs[]> {
  const secret = await selectSecret(context, options, sample.secret);
  const others = await otherInputs(context, sample);
  return signaturesOf(signing, sample).map((signature) => ({ ...signature, ...others, secret }));
}

/**
 * Whether each signature of a request is right, and if not, why; null for one that it lacks.
 *
 * @throws InvalidInputError for a request without a signature, unless it `canBeUnsigned`;
 * CheckFailedError for a signature over a form that the text of the request lacks
 */
async function verdictsOf(
  { signal }: CliContext,
  sample: Sample,
  signatures: readonly SignedInputs[],
  canBeUnsigned: boolean,
): Promise<VerifyReport['verdicts']> {
  const names = signatures.map(({ name }) => name);
  const received = receivedSignatures(sample, names, canBeUnsigned);
  const hidden = missingForm(sample);
  const verdicts = new Map<string, Verification | null>();
  for (const { name, ...inputs } of signatures) {
    const digest = received.get(name);
    if (digest === undefined) continue;
    if (hidden !== null && readsForm(inputs.recipe) && !isRight(inputs, digest))
      throw withoutForm(name, hidden);
    if (digest === null) verdicts.set(name, null);
    else verdicts.set(name, await inTurns(verification({ ...inputs, received: digest }), signal));
  }
  return verdicts;
}

function isRight(
  { signer, request, secret }: Omit<SignedInputs, 'name'>,
  digest: string | null,
): boolean {
  return digest !== null && signer.sign(request, secret).digest === digest;
}

function withoutForm(name: string, hint: string): CheckFailedError {
  return new CheckFailedError(
    `${name} cannot be checked: the text lacks the form of the passback`,
    { hint },
  );
}

/** Whether a rule signs the form, as it was sent or as parameters; a module may read any. */
function readsForm(recipe: Recipe | null): boolean {
  if (recipe === null) return true;
  return parseRecipeParts(recipe).allTokens.some(({ source, name }) => {
    if (source === 'params') return takesForm(recipe.params);
    return source === 'body' || (source === 'param' && formNames.has(name));
  });
}

function takesForm({ from, include, order }: Recipe['params']): boolean {
  if (from === 'query') return false;
  const listed = typeof order === 'string' ? include : order;
  if (listed === null) return true;
  return listed.some((name) => formNames.has(name));
}

const turnMs = 20;

/** Runs to the end, with turns for other work: Ctrl-C ends it at the next one. */
async function inTurns<T>(steps: Generator<void, T>, signal: AbortSignal): Promise<T> {
  for (let end = performance.now() + turnMs; ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < end) continue;
    await yieldToOthers();
    signal.throwIfAborted();
    end = performance.now() + turnMs;
  }
}

/** The received signature by each name to judge; null where the request lacks it. */
function receivedSignatures(
  sample: Sample,
  names: readonly string[],
  canBeUnsigned: boolean,
): ReadonlyMap<string, string | null> {
  const digestOf = (name: string) => {
    if (name === 'sign') return sample.signature;
    return paramOf(sample, name) ?? null;
  };
  const received = new Map(names.map((name) => [name, digestOf(name)]));
  const present = [...received].filter(([, digest]) => digest !== null);
  if (canBeUnsigned) return new Map(present);
  if (present.length > 0) return received;
  throw new InvalidInputError(`the request has no ${names.join(' and no ')}`, {
    hint:
      missingForm(sample) ??
      'Take the request as it was sent. "sign explain" shows the signatures that it should have.',
  });
}

/**
 * Reads `--theirs`: the text itself, `@file`, or `-` for standard input. A final line break of a
 * file or of standard input is removed. Null without the option.
 */
async function readTheirs(context: CliContext, theirs: string | undefined): Promise<string | null> {
  if (theirs === undefined) return null;
  if (theirs !== '-' && !theirs.startsWith('@')) return theirs;
  const file = theirs.replace(/^@/, '');
  const text = await readText(context, file, "the operator's text to sign");
  return text.replace(/\r?\n$/, '');
}

/**
 * Collects secrets, app keys and recipes of all profiles, the presets, and optional parameters that
 * were not sent.
 */
async function otherInputs(
  { io, profiles }: CliContext,
  { url, params }: Sample,
): Promise<OtherInputs> {
  const stored = await profiles.list().catch((error: unknown) => {
    if (error instanceof UserInfoError) return []; // a damaged file does not prevent the check
    throw error;
  });
  return {
    otherSecrets: stored.flatMap((profile) => secretsOf(profile, io.env)),
    otherRecipes: [...stored.flatMap(recipesOf), ...namedPresets],
    unsent: unsentIn(url, params),
  };
}

/** The optional parameters of an operation that a request to it lacks, with their defaults. */
function unsentIn(url: string, params: Sample['params']): OtherInputs['unsent'] {
  const endpoint = operationOf(url);
  if (endpoint === undefined) return [];
  const sent = new Map(params.map(([name, value]) => [name, value]));
  return unsentParameters(endpoint, sent);
}

function secretsOf(profile: Profile, env: CliContext['io']['env']): Named<Secret>[] {
  const { name, app_key } = profile;
  const appKey = {
    name: `the app key of profile "${name}" in place of the secret`,
    value: new Secret(app_key),
  };
  const value = secretValue(profile, env);
  if (value === null) return [appKey];
  return [{ name: `the secret of profile "${name}"`, value }, appKey];
}

/** The secret of a profile; null for one of a command, which may prompt for a password. */
function secretValue({ secret }: Profile, env: CliContext['io']['env']): Secret | null {
  if (secret.kind === 'file') return secret.value;
  if (secret.kind !== 'environment') return null;
  const text = env[secret.name];
  if (!text) return null;
  return new Secret(text);
}

function recipesOf({ name, platform }: Profile): Named<Recipe>[] {
  return Object.entries(platform?.signing ?? {}).map(([signature, value]) => ({
    name: `the ${signature} recipe of profile "${name}"`,
    value,
  }));
}

/**
 * The rule of §4 or §8 that a parameter breaks: the service refuses the request whatever its
 * signature.
 */
function brokenRule({ url, params, signature }: Sample): string | null {
  const endpoint = operationOf(url);
  if (endpoint === undefined || signature === null) return null;
  try {
    checkParameters(endpoint, collectParameters([...params, ['sign', signature]]));
    return null;
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message;
    throw error;
  }
}
