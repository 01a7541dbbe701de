// Only "profile add --from" loads it.
import { isDeepStrictEqual } from 'node:util';
import { checkHeaderName, checkHeaderValue } from '../../../platform/headers.js';
import { defaultPlatform, type Platform } from '../../../platform/platform.js';
import { settingNames } from '../../../profiles/flags-and-environment.js';
import { type HeaderSources, seemsPrivate } from '../../../profiles/header-source.js';
import {
  describeProfile,
  type Profile,
  type ProfilePatch,
  requestFields,
} from '../../../profiles/profile.js';
import { readSecret } from '../../../profiles/secret.js';
import { parseBaseUrl } from '../../../protocol/base-url.js';
import { secretDoubts } from '../../../protocol/doubts.js';
import { endpoints } from '../../../protocol/endpoints.js';
import { InvalidInputError, quoteName } from '../../../protocol/errors.js';
import { compileRecipes, forAppSign, forSign } from '../../../signing/app-signatures.js';
import { defaultRecipes } from '../../../signing/presets.js';
import { type Recipe, type SigningRecipes, unlessRefused } from '../../../signing/recipe.js';
import { paramOf, type Sample } from '../../../signing/request.js';
import type { Secret } from '../../../signing/secret.js';
import { describeRecipe } from '../../../signing-tools/describe-recipe.js';
import { addedHeaders } from '../../../solve/signed-headers.js';
import { quoteWhereNeeded } from '../../../support/shell.js';
import { commandOf, withFlags } from '../../call/command-text.js';
import { headerCommand } from '../../call/deployment.js';
import type { Call, CliContext } from '../../command.js';
import { inputName, printAdvice, printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import { CheckFailedError } from '../../report-error.js';
import { runChecks } from '../doctor/index.js';
import { readSignedInputs } from '../sign/sample-input.js';
import { defaultTimeMs } from '../sign/solve.js';
import { solveFault } from '../sign/solve-report.js';
import { isAmbiguous, likeliest, searchRules } from '../sign/solve-samples.late.js';

type Values = Partial<Record<(typeof requestFields)[number], string>>;

/** Requests of one application of the platform. */
export interface Capture {
  readonly from: string;
  readonly samples: readonly Sample[];
  /** What they say of the deployment. */
  readonly values: Values;
}

/** Number of requests that are searched: one is enough for most rules, more tell those apart that fit it. */
const maxSamples = 4;

/**
 * Reads the requests to the platform (§4) in a file, or in standard input for `-`. Where they are of several
 * applications, the values that options give choose one.
 *
 * @throws InvalidInputError if there is none, if they are of several, or for one without a signature; SampleError
 */
export async function readCapture(context: CliContext, from: string, given: Values): Promise<Capture> {
  const all = await readSignedInputs(context, undefined, { sample: from, pick: 'all', accepted: true });
  const apps = new Map<string, { values: Values; samples: Sample[] }>();
  for (const sample of all) {
    const path = endpoints.map((endpoint) => endpoint.path).find((one) => sample.url.endsWith(one));
    if (path === undefined && sample.url !== '') continue;
    const values = valuesOf(sample, path ?? '');
    const key = JSON.stringify(values);
    const app = apps.get(key) ?? { values, samples: [] };
    app.samples.push(sample);
    apps.set(key, app);
  }
  if (apps.size === 0) {
    throw new InvalidInputError(`${inputName(from)} has no request to the platform`, {
      hint: `Its addresses end with ${endpoints.map(({ path }) => path).join(' or ')}, not as ${quoteName(all[0]?.url ?? '')}.`,
    });
  }
  const isMeant = ({ values }: { values: Values }) =>
    requestFields.every((field) => given[field] === undefined || given[field] === values[field]);
  const meant = apps.size === 1 ? [...apps.values()] : [...apps.values()].filter(isMeant);
  const [app] = meant;
  if (app === undefined || meant.length > 1) throw severalApps(from, [...apps.values()]);
  const samples = app.samples.slice(0, maxSamples);
  if (samples.some(({ signature }) => signature === null)) {
    throw new InvalidInputError(`the request in ${inputName(from)} has no parameter "sign"`, {
      hint: 'Take one that the platform accepted, as it was sent. To go without one, leave out --from.',
    });
  }
  return { from, samples, values: app.values };
}

function valuesOf(sample: Sample, path: string): Values {
  const base = sample.url.slice(0, sample.url.length - path.length);
  const values: Record<string, string> = {};
  if (/^https?:/i.test(base)) values.base_url = parseBaseUrl(base, 'the address of the request');
  for (const field of requestFields) {
    const value = paramOf(sample, field);
    if (value !== undefined) values[field] = value;
  }
  return values;
}

function severalApps(from: string, apps: readonly { readonly values: Values }[]): InvalidInputError {
  const lines = apps.map(({ values }) => requestFields.map((field) => values[field] ?? '?').join('  '));
  return new InvalidInputError(`${inputName(from)} has requests of ${apps.length} applications`, {
    hint: ['Choose one, by --app-key, --tenant-code, --channel or --base-url:', ...lines].join('\n'),
  });
}

/** Headers of one request, besides those that clients and proxies add. */
const ofOneRequest = /^(?:(?:access-control|content)-.*|x-(?:request|correlation|trace)-id)$/i;

/** The headers that every request has alike: those to store, and the names of those that seem to be private. */
function headersOf({ samples }: Capture): { readonly plain: HeaderSources; readonly left: string[] } {
  const [first, ...others] = samples;
  const plain: Record<string, string> = {};
  const left: string[] = [];
  for (const name of first?.headers ?? []) {
    const value = first?.extra[name] ?? '';
    if ([addedHeaders, ofOneRequest].some((known) => known.test(name))) continue;
    if (others.some(({ extra }) => extra[name] !== value)) continue;
    if (seemsPrivate(name, value) !== null) left.push(name);
    else {
      checkHeaderName(name, 'the request');
      plain[name] = checkHeaderValue(value, `the header ${name} of the request`);
    }
  }
  return { plain, left };
}

/**
 * Finds the rule of the requests, says what was taken and from where, and asks whether to store it.
 *
 * @returns what the profile has besides the values that are asked for
 * @throws CheckFailedError if no rule is found, InvalidInputError if the answer is no
 */
export async function completeProfile(
  { context, io, options }: Call<{ readonly maxTime?: number }>,
  capture: Capture,
  profile: Profile,
  given: ProfilePatch,
): Promise<Pick<ProfilePatch, 'platform' | 'headers'>> {
  const { name } = profile;
  // Refuses headers that cannot be stored before the search.
  const { plain, left } = headersOf(capture);
  const secret = await readSecret(profile.secret, io.env);
  const samples = capture.samples.map((sample) => ({ ...sample, secret }));
  const { platform = defaultPlatform, headers = {} } = given;
  const kept = givenRules(platform ?? defaultPlatform, samples);
  const isSearched = signatureNames.some((name) => kept[name] === undefined);
  const report = isSearched
    ? await searchRules(context, samples, { maxTime: options.maxTime ?? defaultTimeMs })
    : null;
  const fault = report && solveFault(kept.app_sign === undefined ? report : { ...report, appSign: null });
  if (fault) {
    for (const warning of secretDoubts(secret, profile.app_key)) await warn(io, warning);
    throw notFound(context.args, fault.message, capture, profile);
  }
  const rules = { ...(report && likeliest(report)), ...kept };
  const whereOf = (field: keyof Values) => (field === 'base_url' ? 'the address' : `parameter ${field}`);
  const taken = [
    ...requestFields
      .filter((field) => given[field] === undefined && capture.values[field] !== undefined)
      .map((field) => `${settingNames[field].title}: ${profile[field]} (${whereOf(field)})`),
    ...Object.entries(plain).map(([header, value]) => `header ${header}: ${value}`),
    ...signatureNames.flatMap((signature) => {
      const rule = rules[signature];
      const from = kept[signature] === undefined ? 'found by sign solve' : 'kept, it signs the requests';
      return rule === undefined ? [] : [`${signature}: ${describeRecipe(rule)} (${from})`];
    }),
  ];
  const requests = capture.samples.length === 1 ? 'a request' : `${capture.samples.length} requests`;
  await printMessage(io, `From ${requests} in ${inputName(capture.from)}:`);
  for (const line of taken) await printMessage(io, `  ${line}`);
  for (const field of requestFields) {
    const [typed, captured] = [given[field], capture.values[field]];
    if (typed === undefined || captured === undefined || typed === captured) continue;
    await warn(io, `${settingNames[field].flag} is ${typed}, but the request has ${captured}`);
  }
  if (left.length > 0) {
    await printAdvice(io, {
      hint: 'Not taken, as their values seem to be secret or personal. For those that the platform needs, afterwards:',
      commands: left.map((header) => headerCommand(name, header)),
    });
  }
  await confirm(context, `Store ${describeProfile(profile)}, and check it by a read?`, options.yes);
  const signing = { ...(platform ?? defaultPlatform).signing, ...rules };
  const all = { ...plain, ...headers };
  if (report !== null && isAmbiguous(report)) {
    await printMessage(
      io,
      'More than one rule fits; the likeliest is taken. A second request in the file tells them apart.',
    );
  }
  return {
    platform: { ...(platform ?? defaultPlatform), signing },
    ...(Object.keys(all).length > 0 && { headers: all }),
  };
}

const signatureNames = ['app_sign', 'sign'] as const;

/** The rules of a platform file that give the signatures of all requests: what is given is not replaced by a guess. */
function givenRules(
  { signing }: Platform,
  samples: readonly (Sample & { readonly secret: Secret })[],
): Partial<SigningRecipes> {
  const signers = compileRecipes(signing);
  const kept: Partial<Record<keyof SigningRecipes, Recipe>> = {};
  for (const name of signatureNames) {
    if (isDeepStrictEqual(signing[name], defaultRecipes[name])) continue;
    const signs = samples.every((sample) => {
      const [request, received] =
        name === 'sign'
          ? [forSign(sample), sample.signature]
          : [forAppSign(sample), paramOf(sample, 'app_sign')];
      const signature = unlessRefused(() => signers[name].sign(request, sample.secret));
      return signature?.digest === received;
    });
    if (signs) kept[name] = signing[name];
  }
  return kept;
}

/** The error of requests without a rule: the profile can be stored without them, and the search goes on from it. */
function notFound(
  args: readonly string[],
  message: string,
  { from }: Capture,
  profile: Profile,
): CheckFailedError {
  const name = quoteWhereNeeded(profile.name);
  const values = requestFields.flatMap((field) => [settingNames[field].flag, profile[field]]);
  const file = from === '-' ? 'request.txt' : quoteWhereNeeded(from);
  const kept = from === '-' ? ', and the request as request.txt' : '';
  return new CheckFailedError(message, {
    hint:
      'Nothing was stored. A wrong app secret is the likeliest cause: enter it again. Or search for longer: --max-time 5m.\n' +
      `To search with what the document says (--steps, --join, --headers, --constant), store the profile without the rule${kept}:`,
    commands: [
      ...commandOf(withFlags(args, values, ['--from', '--max-time'])),
      `userinfo sign solve -p ${name} --save ${name} --sample ${file}`,
    ],
  });
}

/** Checks the stored profile, as `userinfo doctor -p` does. */
export function checkStored(call: Call, name: string): Promise<void> {
  const { timeout, attempts } = call.options;
  return runChecks({ ...call, options: { timeout, attempts, profile: name } });
}
