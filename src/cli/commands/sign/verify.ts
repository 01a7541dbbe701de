import type { Command } from 'commander';
import type { Profile } from '../../../profiles/profile.js';
import type { SecretSource } from '../../../profiles/secret.js';
import { isModule, type SignerSource } from '../../../profiles/signing-source.js';
import { endpoints } from '../../../protocol/endpoints.js';
import { InvalidInputError, UserInfoError } from '../../../protocol/errors.js';
import { checkParameters, collectParameters, unsentParameters } from '../../../protocol/parameters.js';
import type { Recipe } from '../../../signing/recipe.js';
import type { Param, Sample } from '../../../signing/request.js';
import { Secret } from '../../../signing/secret.js';
import { namedPresets } from '../../../signing/verify/recipe-suspects.js';
import type { Named } from '../../../signing/verify/suspect.js';
import { verifySignature } from '../../../signing/verify/verify-signature.js';
import type { CliContext } from '../../context.js';
import { type CommonOptions, examples } from '../../options.js';
import { warn } from '../../output/color.js';
import { printData } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { addRecipeOption, type RecipeOptions, secretInForce, signingInForce } from '../../resolve-signing.js';
import { addSampleOptions, readSampleInput, type SampleOptions } from './sample-input.js';
import {
  type CheckedSignature,
  checkedSignatures,
  compareTheirs,
  faultOf,
  readTheirs,
  reportRecord,
  showReport,
  type VerifyReport,
} from './verify-report.js';

interface VerifyOptions extends CommonOptions, SampleOptions, RecipeOptions {
  readonly theirs?: string;
}

export function declareSignVerify(sign: Command, context: CliContext): void {
  const command = sign
    .command('verify')
    .summary('say whether a signed request is right, and if not, why')
    .description(
      'Check the signatures of a request: a URL, a curl command, an HTTP request as text, or a sample file. A wrong ' +
        "one is tried with the usual mistakes. --theirs compares the operator's text to sign with ours.",
    )
    .argument('[request]', 'a URL or a curl command; - reads standard input')
    .option('--theirs <text>', "the operator's text to sign; @file or - reads it from there");
  addSampleOptions(addRecipeOption(command))
    .addHelpText(
      'after',
      examples(
        [
          'USERINFO_APP_SECRET=s userinfo sign verify --recipe kv-suffix ' +
            "'https://example.com/api?b=2&a=1&sign=1d0396bcbc2c54e569e7af9cf9c4685e'",
          'whether a request is signed right',
        ],
        [
          'USERINFO_APP_SECRET=s userinfo sign verify --recipe kv-suffix ' +
            "\"curl 'https://example.com/api' -d 'b=2&a=1'\" --theirs 'a1b2******'",
          'whether the operator signs the same text',
        ],
      ),
    )
    .action((request: string | undefined) => runVerify(context, request, command.optsWithGlobals()));
}

async function runVerify(
  context: CliContext,
  request: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const signing = await signingInForce(context, options);
  const sample = await readSampleInput(context, request, options);
  if (options.theirs === '-' && (request ?? options.sample) === '-') {
    throw new InvalidInputError('the request and --theirs cannot both come from standard input', {
      hint: 'Put one of them into a file: --sample <file>, or --theirs @<file>.',
    });
  }
  const theirs = options.theirs === undefined ? null : await readTheirs(context, options.theirs);
  const rule = brokenRule(sample);
  if (rule !== null) await warn(io, `the service refuses this request however it is signed: ${rule}`);
  const signatures = checkedSignatures(signing, sample);
  const judged = signaturesToJudge(signatures, theirs !== null);
  const secret = await secretInForce(context, options, sample.secret);
  const known = await knownSuspects(context, sample);

  const report: VerifyReport = {
    verdicts: new Map(
      judged.map(({ name, received, ...signature }) => [
        name,
        received === null ? null : verifySignature({ ...signature, ...known, secret, received }),
      ]),
    ),
    comparison: theirs === null ? null : compareTheirs(signatures, theirs, secret),
  };
  await printData(isPlainTable(style) ? showReport(report) : reportRecord(report), io, style);
  const fault = faultOf(report);
  if (fault !== null) throw fault;
}

/** With another's text to compare, a request need not be signed. */
function signaturesToJudge(
  signatures: readonly CheckedSignature[],
  canBeUnsigned: boolean,
): CheckedSignature[] {
  const received = signatures.filter((signature) => signature.received !== null);
  if (canBeUnsigned) return received;
  if (received.length > 0) return [...signatures];
  const names = signatures.map(({ name }) => name);
  throw new InvalidInputError(`the request carries no ${names.join(' and no ')}`, {
    hint: 'Name the parameter with the signature by --sign-param, or show how it should be made by "sign explain".',
  });
}

/** What a wrong signature may have been made with, as far as this machine knows. */
interface KnownSuspects {
  readonly otherSecrets: readonly Named<Secret>[];
  readonly otherRecipes: readonly Named<Recipe>[];
  readonly unsent: readonly Param[];
}

/** The secrets, app keys and recipes of all profiles, the presets, and what the operation could have been sent. */
async function knownSuspects({ io, profiles }: CliContext, sample: Sample): Promise<KnownSuspects> {
  const known = await profiles.list().catch((error: unknown) => {
    if (error instanceof UserInfoError) return []; // a damaged file: it is not what this is about
    throw error;
  });
  return {
    otherSecrets: known.flatMap((profile) => secretsOf(profile, io.env)),
    otherRecipes: [...known.flatMap(recipesOf), ...namedPresets],
    unsent: unsentParams(sample),
  };
}

function secretsOf({ name, secret, app_key }: Profile, env: CliContext['io']['env']): Named<Secret>[] {
  const value = secretAtHand(secret, env);
  return [
    ...(value === null ? [] : [{ name: `the secret of profile "${name}"`, value }]),
    { name: `the app key of profile "${name}" in place of the secret`, value: new Secret(app_key) },
  ];
}

/** A command is not run for this: it may ask the user for a password. */
function secretAtHand(source: SecretSource, env: CliContext['io']['env']): Secret | null {
  if (source.kind === 'file') return source.value;
  const text = source.kind === 'environment' ? env[source.name] : undefined;
  return text ? new Secret(text) : null;
}

function recipesOf({ name, signing }: Profile): Named<Recipe>[] {
  if (signing === undefined || isModule(signing)) return [];
  const named = (signature: 'app_sign' | 'sign', source: SignerSource) =>
    isModule(source) ? [] : [{ name: `the ${signature} recipe of profile "${name}"`, value: source }];
  return [...named('app_sign', signing.app_sign), ...named('sign', signing.sign)];
}

/** What could have been signed of the operation, and was not sent. */
function unsentParams({ url, params }: Sample): Param[] {
  const endpoint = endpoints.find(({ path }) => url.endsWith(path));
  return endpoint === undefined ? [] : unsentParameters(endpoint, new Map(params));
}

/**
 * What makes the service refuse a request however it is signed, in words: a parameter that breaks a rule of §4 or §8.
 * `null` where nothing does, or where the request is for another service.
 */
function brokenRule({ url, params, signParam, signature }: Sample): string | null {
  const endpoint = endpoints.find(({ path }) => url.endsWith(path));
  if (endpoint === undefined || signature === null) return null;
  try {
    checkParameters(endpoint, collectParameters([...params, [signParam, signature]]));
    return null;
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message;
    throw error;
  }
}
