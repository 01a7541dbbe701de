// Only "profile add --from" loads it.
import { isDeepStrictEqual } from 'node:util';
import { NoAnswerError } from '../../../client/call/errors.js';
import { parseBaseUrl } from '../../../core/contract/base-url.js';
import { secretDoubts } from '../../../core/contract/doubts.js';
import { endpoints } from '../../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { checkHeaderName, checkHeaderValue } from '../../../core/platform/headers.js';
import { defaultPlatform, type Platform } from '../../../core/platform/platform.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import { type HeaderSources, seemsPrivate } from '../../../core/profiles/header-source.js';
import {
  describeProfile,
  type Profile,
  type ProfilePatch,
  requestFields,
} from '../../../core/profiles/profile.js';
import { readSecret } from '../../../core/profiles/secret.js';
import { resolveSettings } from '../../../core/profiles/settings.js';
import { compileRecipes } from '../../../core/signing/app-signatures.js';
import { defaultRecipes } from '../../../core/signing/presets.js';
import { type Recipe, type SigningRecipes, unlessRefused } from '../../../core/signing/recipe.js';
import { paramOf, type Sample } from '../../../core/signing/request.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { describeRecipe } from '../../../lab/describe-recipe.js';
import { type SecretSample, signedSample } from '../../../lab/sample.js';
import {
  type Candidates,
  candidatesOf,
  constantCandidate,
} from '../../../lab/settle/candidates.js';
import { maxSettling, type Settlement, settle, wholeReach } from '../../../lab/settle/settle.js';
import type { CliContext, Invocation } from '../../command.js';
import { inputName, printAdvice, printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import { CheckFailedError } from '../../report-error.js';
import { askPlatform, connectToAsk, productionReach } from '../../request/ask-platform.late.js';
import { commandOf, withFlags } from '../../request/command-text.js';
import { headerCommand, settingSources } from '../../request/deployment.js';
import { saveSigners } from '../../request/resolve-signing.js';
import { searchRules } from '../../request/search-rules.late.js';
import { runChecks } from '../doctor/index.js';
import { readSignedInputs } from '../sign/sample-input.js';

type Values = Partial<Record<(typeof requestFields)[number], string>>;

/** Requests of one application of the platform. */
export interface Capture {
  readonly from: string;
  readonly samples: readonly Sample[];
  /** What they say of the deployment. */
  readonly values: Values;
}

/**
 * Number of requests that are searched: one is enough for most rules, more tell those apart that
 * fit it.
 */
const maxSamples = 4;

/**
 * Reads the requests to the platform (§4) in a file, or in standard input for `-`. Where they are
 * of several applications, the values that options give choose one.
 *
 * @throws InvalidInputError if there is none, if they are of several, or for one without a
 * signature; SampleError
 */
export async function readCapture(
  context: CliContext,
  from: string,
  given: Values,
): Promise<Capture> {
  const all = await readSignedInputs(context, undefined, {
    sample: from,
    pick: 'all',
    accepted: true,
  });
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

function severalApps(
  from: string,
  apps: readonly { readonly values: Values }[],
): InvalidInputError {
  const lines = apps.map(({ values }) =>
    requestFields.map((field) => values[field] ?? '?').join('  '),
  );
  return new InvalidInputError(`${inputName(from)} has requests of ${apps.length} applications`, {
    hint: ['Choose one, by --app-key, --tenant-code, --channel or --base-url:', ...lines].join(
      '\n',
    ),
  });
}

/** Headers that clients, browsers and proxies add by themselves. */
const addedHeaders = new RegExp(
  '^(?:' +
    ':.*|accept|accept-.*|alt-used|baggage|cache-control|cdn-loop|cf-.*|connection|' +
    'content-(?:encoding|length)|dnt|expect|forwarded|host|http2-settings|if-.*|keep-alive|max-forwards|' +
    'origin|postman-token|pragma|priority|proxy-.*|purpose|range|referer|save-data|sec-.*|te|traceparent|' +
    'tracestate|trailer|transfer-encoding|true-client-ip|upgrade|upgrade-insecure-requests|user-agent|via|' +
    'x-amzn-trace-id|x-b3-.*|x-client-data|x-cloud-trace-context|x-envoy-.*|x-forwarded-.*|x-http2-.*|' +
    'x-real-ip|x-requested-with' +
    ')$',
  'i',
);

/** Headers of one request, besides those that clients and proxies add. */
const ofOneRequest = /^(?:(?:access-control|content)-.*|x-(?:request|correlation|trace)-id)$/i;

/**
 * The headers that every request has alike: those to store, and the names of those that seem to be
 * private.
 */
function headersOf({ samples }: Capture): {
  readonly plain: HeaderSources;
  readonly left: string[];
} {
  const [first, ...others] = samples;
  const plain: Record<string, string> = {};
  const left: string[] = [];
  for (const [name, value] of Object.entries(first?.headers ?? {})) {
    if ([addedHeaders, ofOneRequest].some((known) => known.test(name))) continue;
    if (others.some(({ headers }) => headers[name] !== value)) continue;
    if (seemsPrivate(name, value) !== null) left.push(name);
    else {
      checkHeaderName(name, 'the request');
      plain[name] = checkHeaderValue(value, `the header ${name} of the request`);
    }
  }
  return { plain, left };
}

/** What the requests of a capture give a profile. */
interface CapturedRules {
  /** What the profile has besides the values that are asked for. */
  readonly patch: Pick<ProfilePatch, 'platform' | 'headers'>;
  /** The rules that sign the requests, the likeliest of each signature first. */
  readonly candidates: Candidates;
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
  given: ProfilePatch,
): Promise<CapturedRules> {
  const { name } = profile;
  // Refuses headers that cannot be stored before the search.
  const { plain, left } = headersOf(capture);
  const secret = await readSecret(profile.secret, io.env);
  const samples = capture.samples.map((sample) => ({ ...sample, secret }));
  const { platform = defaultPlatform, headers = {} } = given;
  const kept = givenRules(platform ?? defaultPlatform, samples);
  const candidates = await findCandidates(context, samples, kept);
  const missing = signatureNames.find((signature) => candidates[signature].length === 0);
  if (missing !== undefined) {
    for (const warning of secretDoubts(secret, profile.app_key)) await warn(io, warning);
    throw notFound(
      context.args,
      `no usual rule gives the ${missing} of the requests`,
      capture,
      profile,
    );
  }
  const rules = likeliestOf(candidates);
  const whereOf = (field: keyof Values) =>
    field === 'base_url' ? 'the address' : `parameter ${field}`;
  const taken = [
    ...requestFields
      .filter((field) => given[field] === undefined && capture.values[field] !== undefined)
      .map((field) => `${settingNames[field].title}: ${profile[field]} (${whereOf(field)})`),
    ...Object.entries(plain).map(([header, value]) => `header ${header}: ${value}`),
    ...signatureNames.flatMap((signature) => {
      const rule = rules[signature];
      const from = kept[signature] === undefined ? 'found' : 'kept, it signs the requests';
      return rule === undefined ? [] : [`${signature}: ${describeRecipe(rule)} (${from})`];
    }),
  ];
  const requests =
    capture.samples.length === 1 ? 'a request' : `${capture.samples.length} requests`;
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
  const most = `up to ${maxSettling}`;
  const checks =
    profile.environment === 'production'
      ? `${most} reads of a code that nobody has, some of them with a wrong signature, in production`
      : `${most} requests that change nothing, some of them with a wrong signature`;
  await confirm(
    context,
    `Store ${describeProfile(profile)}, and check it by ${checks}?`,
    options.yes,
  );
  const signing = { ...(platform ?? defaultPlatform).signing, ...rules };
  const all = { ...plain, ...headers };
  return {
    patch: {
      platform: { ...(platform ?? defaultPlatform), signing },
      ...(Object.keys(all).length > 0 && { headers: all }),
    },
    candidates,
  };
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
  const [first] = samples;
  const isOnly = candidates.app_sign.length === 0 && samples.length === 1 && first !== undefined;
  const constant = isOnly ? paramOf(first, 'app_sign') : undefined;
  // The operator may have issued app_sign: the platform tells.
  return constant === undefined
    ? candidates
    : { ...candidates, app_sign: [constantCandidate(constant)] };
}

function likeliestOf({ app_sign, sign }: Candidates): Partial<SigningRecipes> {
  const rules = { app_sign: app_sign[0]?.recipe, sign: sign[0]?.recipe };
  return Object.fromEntries(Object.entries(rules).filter(([, recipe]) => recipe));
}

const signatureNames = ['app_sign', 'sign'] as const;

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
    const signs = samples
      .map((sample) => signedSample(name, sample))
      .every(
        ({ request, signature, secret }) =>
          unlessRefused(() => signers[name].sign(request, secret))?.digest === signature,
      );
    if (signs) kept[name] = signing[name];
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
  const file = from === '-' ? 'request.txt' : quoteWhereNeeded(from);
  const kept = from === '-' ? ', and the request as request.txt' : '';
  return new CheckFailedError(message, {
    hint:
      'Nothing was stored. A wrong app secret is the likeliest cause: enter it again.\n' +
      `To go on with what the document says, store the profile without the rule${kept}:`,
    commands: [
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
  let settlement: Settlement | undefined;
  try {
    settlement = await askPlatform(
      context,
      client,
      { maxRequests: maxSettling - 1, rate },
      (asker) => settle(asker, client, candidates, secret, reach),
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
  const [rules, stored] = [likeliestOf(left), likeliestOf(before)];
  const changed = signatureNames.filter((signature) => rules[signature] !== stored[signature]);
  if (changed.length === 0) return;
  await saveSigners(context, name, rules);
  await printMessage(
    io,
    `By ${requests} requests the platform decided for other rules, which are stored:`,
  );
  for (const signature of changed) {
    const rule = rules[signature];
    if (rule !== undefined) await printMessage(io, `  ${signature}: ${describeRecipe(rule)}`);
  }
}
