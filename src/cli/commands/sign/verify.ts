import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { InvalidInputError, UserInfoError } from '../../../core/contract/errors.js';
import {
  checkParameters,
  collectParameters,
  unsentParameters,
} from '../../../core/contract/parameters.js';
import type { Profile } from '../../../core/profiles/profile.js';
import { signaturesOf } from '../../../core/signing/app-signatures.js';
import type { Recipe } from '../../../core/signing/recipe.js';
import { partsOf } from '../../../core/signing/recipe-parts.js';
import { paramOf, type Sample } from '../../../core/signing/request.js';
import { Secret } from '../../../core/signing/secret.js';
import { formFields, missingForm, operationOf } from '../../../lab/samples/captured-request.js';
import { namedPresets } from '../../../lab/verify/recipe-suspects.js';
import type { Named, OtherInputs } from '../../../lab/verify/suspect.js';
import { type Verification, verification } from '../../../lab/verify/verify-signature.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { printMessage, readText } from '../../io.js';
import { warn } from '../../output/style.js';
import { CheckFailedError } from '../../report-error.js';
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

async function verify(
  { context, io, options, isTable, print }: Invocation<VerifyOptions>,
  request?: string,
): Promise<void> {
  const { signing, from } = await selectRule(context, options);
  const [sample] = await readSignedInputs(context, request, options);
  if (options.theirs === '-' && (request ?? options.sample) === '-') {
    throw new InvalidInputError('the request and --theirs cannot both come from standard input', {
      hint: 'Put one of them into a file: --sample <file>, or --theirs @<file>.',
    });
  }
  const theirs = options.theirs === undefined ? null : await readTheirs(context, options.theirs);
  const rule = brokenRule(sample);
  if (rule !== null)
    await warn(io, `the service refuses this request whatever its signature: ${rule}`);
  const signatures = signaturesOf(signing, sample);
  const received = receivedSignatures(
    sample,
    signatures.map(({ name }) => name),
    theirs !== null,
  );
  const secret = await selectSecret(context, options, sample.secret);
  const others = await otherInputs(context, sample);
  const hidden = missingForm(sample);
  const verdicts = new Map<string, Verification | null>();
  const signed = signatures.map((signature) => ({ ...signature, ...others, secret }));
  for (const { name, ...inputs } of signed) {
    const digest = received.get(name);
    if (digest === undefined) continue;
    const { signer, request: own, recipe } = inputs;
    if (
      hidden !== null &&
      readsForm(recipe) &&
      (digest === null || signer.sign(own, secret).digest !== digest)
    ) {
      throw new CheckFailedError(
        `${name} cannot be checked: the text lacks the form of the passback`,
        {
          hint: hidden,
        },
      );
    }
    const steps = digest === null ? null : verification({ ...inputs, received: digest });
    verdicts.set(name, steps && (await inTurns(steps, context.signal)));
  }
  const report: VerifyReport = {
    profile: options.profile,
    rule: from,
    verdicts,
    comparison: theirs === null ? null : compareTheirs(signed, theirs),
  };
  await print(isTable ? showReport(report) : reportRecord(report));
  const fault = faultOf(report);
  if (fault !== null) throw fault;
  if (isTable && options.recipe === undefined && theirs === null) {
    await printMessage(
      io,
      `right by ${from}: if the platform refused it, its rule is another one. Find that from a request that the ` +
        'platform accepted: userinfo sign solve',
    );
  }
}

/** Whether a rule signs the form, as it was sent or as parameters; a module may read any. */
function readsForm(recipe: Recipe | null): boolean {
  if (recipe === null) return true;
  return partsOf(recipe).allTokens.some(({ source, name }) => {
    if (source === 'params') return takesForm(recipe.params);
    return source === 'body' || (source === 'param' && formFields.has(name));
  });
}

function takesForm({ from, include, order }: Recipe['params']): boolean {
  const listed = typeof order === 'string' ? include : order;
  return from !== 'query' && (listed === null || listed.some((name) => formFields.has(name)));
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
  const digestOf = (name: string) =>
    name === 'sign' ? sample.signature : (paramOf(sample, name) ?? null);
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
 * file or of standard input is removed.
 */
async function readTheirs(context: CliContext, theirs: string): Promise<string> {
  if (theirs !== '-' && !theirs.startsWith('@')) return theirs;
  return (await readText(context, theirs.replace(/^@/, ''), "the operator's text to sign")).replace(
    /\r?\n$/,
    '',
  );
}

/**
 * Collects secrets, app keys and recipes of all profiles, the presets, and optional parameters that
 * were not sent.
 */
async function otherInputs(
  { io, profiles }: CliContext,
  { url, params }: Sample,
): Promise<OtherInputs> {
  const known = await profiles.list().catch((error: unknown) => {
    if (error instanceof UserInfoError) return []; // a damaged file does not prevent the check
    throw error;
  });
  const endpoint = operationOf(url);
  return {
    otherSecrets: known.flatMap((profile) => secretsOf(profile, io.env)),
    otherRecipes: [...known.flatMap(recipesOf), ...namedPresets],
    unsent:
      endpoint === undefined
        ? []
        : unsentParameters(endpoint, new Map(params.map(([name, value]) => [name, value]))),
  };
}

/** A command is not run here: it may prompt for a password. */
function secretsOf(
  { name, secret, app_key }: Profile,
  env: CliContext['io']['env'],
): Named<Secret>[] {
  const text = secret.kind === 'environment' ? env[secret.name] : undefined;
  const value = secret.kind === 'file' ? secret.value : text && new Secret(text);
  return [
    ...(value ? [{ name: `the secret of profile "${name}"`, value }] : []),
    { name: `the app key of profile "${name}" in place of the secret`, value: new Secret(app_key) },
  ];
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
