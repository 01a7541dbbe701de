import { Option } from 'commander';
import { isLoopback } from '../../../core/contract/base-url.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { defaultPlatform } from '../../../core/platform/platform.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import {
  describeProfile,
  environments,
  type Profile,
  type ProfilePatch,
  parseEnvironment,
  parseIdentifier,
  requestFields,
} from '../../../core/profiles/profile.js';
import { addProfile, checkNewName, updateProfile } from '../../../core/profiles/profile-store.js';
import { resolveSettings } from '../../../core/profiles/settings.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { rateOption } from '../../command-line/options.js';
import { cutSpaceAround } from '../../command-line/space-around.js';
import { printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { answerFault } from '../../prompt.js';
import { settingSources } from '../../request/deployment.js';
import type { Capture } from './capture.late.js';
import type { OtherSources } from './captured-rules.late.js';
import { confirmAddress, confirmIdentifiers } from './confirm-profile.js';
import { promptForSecret, secretFlags, warnOfSecret } from './secret-options.js';
import { addValueOptions, checkBaseUrl, patchOf, type ValueOptions } from './value-options.js';

interface AddOptions extends ValueOptions {
  /** A file with captured requests, or - for standard input. */
  readonly from?: string;
  /** The profile that the new one is like. */
  readonly like?: string;
  /** Requests a second. */
  readonly rate?: number;
}

export const declareAdd = command({
  name: 'add',
  common: ['confirm'],
  summary: 'add a profile',
  takes: (command) =>
    addValueOptions(
      command
        .argument('<name>', 'name of the new profile')
        .addOption(
          new Option('--from <file>', 'accepted request; - is standard input').conflicts([
            'signingPreset',
            'signingModule',
          ]),
        )
        .option(
          '--like <profile>',
          'take tenant code, channel, signing rule and platform from this profile',
        )
        .addOption(rateOption()),
    ),
  action: runAdd,
});

async function runAdd(invocation: Invocation<AddOptions>, name: string): Promise<void> {
  const { context, io, options } = invocation;
  const { profiles } = context;
  checkNewName(await profiles.load(), name);
  const fromLike = await sharedWith(profiles, options.like);
  if (options.from === '-' && options.appSecretStdin) {
    throw new InvalidInputError(
      'the request and the app secret cannot both come from standard input',
      { hint: 'Put the request into a file.' },
    );
  }
  const fromOptions = await patchOf(context, options, undefined);
  const capture = await captureOf(context, options.from, fromOptions);
  const fromCapture = capture?.values;
  const known: ProfilePatch = { ...fromLike, ...fromCapture, ...fromOptions };
  const profile = await askForMissing(context, name, known, options);
  await confirmIdentifiers(context, { ...known, ...profile }, options.yes);
  await confirmAddress(context, profile, options.yes);
  const sources = { typedValues: fromOptions, platform: known.platform ?? defaultPlatform };
  const captured = capture && (await rulesOf(invocation, capture, profile, sources));
  const patch = { ...known, ...captured?.patch };
  const list = await profiles.change((before) =>
    updateProfile(addProfile(before, profile), name, patch),
  );
  const added = `added ${describeProfile(profile)}`;
  await printMessage(io, list.active === name ? `${added}, now active` : added);
  await warnOfTestProfile(context, profile, known);
  const hasSecret = await warnOfSecret(context, profile);
  if (captured) await captured.settle();
  else if (hasSecret) await offerToAsk(invocation, profile, patch);
}

/** The requests of `--from`; `null` without it. */
async function captureOf(
  context: CliContext,
  from: string | undefined,
  typedValues: ProfilePatch,
): Promise<Capture | null> {
  if (from === undefined) return null;
  const { readCapture } = await import('./capture.late.js');
  return readCapture(context, from, typedValues);
}

/** What the rules of captured requests change in the profile, and how the platform decides. */
async function rulesOf(
  invocation: Invocation<AddOptions>,
  capture: Capture,
  profile: Profile,
  sources: OtherSources,
) {
  const { completeProfile, settleStored } = await import('./captured-rules.late.js');
  const { patch, candidates } = await completeProfile(invocation, capture, profile, sources);
  return { patch, settle: () => settleStored(invocation, profile.name, candidates) };
}

/**
 * What the deployments of an application mostly have in common with the profile of `--like`: not
 * address, app key, secret, headers and network.
 */
async function sharedWith(
  profiles: CliContext['profiles'],
  like: string | undefined,
): Promise<ProfilePatch> {
  if (like === undefined) return {};
  const { tenant_code, channel, platform, signing_module, key_prefix } = await profiles.get(like);
  return withoutUndefined({ tenant_code, channel, platform, signing_module, key_prefix });
}

/**
 * The profile of the values that are known, and of the answers to a prompt for each other one.
 *
 * @throws InvalidInputError that names the missing values if there is no terminal to ask on
 */
async function askForMissing(
  context: CliContext,
  name: string,
  known: ProfilePatch,
  options: AddOptions,
): Promise<Profile> {
  if (known.base_url !== undefined) checkBaseUrl(known.base_url, options.allowHttp);
  if (!context.prompt.possible) refuseMissing(known);
  const askUnlessKnown = async (field: (typeof requestFields)[number]) => {
    const value = known[field];
    if (value === undefined) return promptFor(context, field, options);
    return cutSpaceAround(context.io, `the ${settingNames[field].title}`, value);
  };
  return {
    name,
    environment: known.environment ?? (await chooseEnvironment(context)),
    base_url: await askUnlessKnown('base_url'),
    tenant_code: await askUnlessKnown('tenant_code'),
    channel: await askUnlessKnown('channel'),
    app_key: await askUnlessKnown('app_key'),
    secret: known.secret ?? (await promptForSecret(context)),
  };
}

async function chooseEnvironment({ prompt }: CliContext): Promise<Profile['environment']> {
  if (!prompt.possible) return 'test';
  return parseEnvironment(await prompt.choose('Environment', environments));
}

/** Warns if a profile of a remote host is a test profile only by default. */
async function warnOfTestProfile(
  { io, prompt }: CliContext,
  { base_url }: Profile,
  known: ProfilePatch,
): Promise<void> {
  if (known.environment !== undefined || prompt.possible) return;
  if (isLoopback(new URL(base_url).hostname)) return;
  const effect = 'writes with it need no confirmation';
  await warn(io, `without --environment this is a test profile: ${effect}`);
}

/** Offers to find the rules of a test deployment by asking it, where nothing says them. */
async function offerToAsk(
  invocation: Invocation<AddOptions>,
  profile: Profile,
  patch: ProfilePatch,
): Promise<void> {
  const { context, options } = invocation;
  const { timeout, attempts, rate } = options;
  const rules = [options.like, patch.platform, patch.signing_module];
  if (rules.some((rule) => rule !== undefined)) return;
  if (profile.environment === 'production') return;
  if (!context.prompt.possible || options.yes) return;
  const { askAndSave, tryQuestion } = await import('../sign/try-rules.late.js');
  const question = `How it signs is not known. ${tryQuestion(profile.base_url, rate)}`;
  if (!(await context.prompt.confirm(question))) return;
  const { name } = profile;
  const asking = withoutUndefined({ timeout, attempts, profile: name, save: name, rate });
  const settings = await resolveSettings(settingSources(context, asking));
  await askAndSave({ ...invocation, options: asking }, settings);
}

/** Validates the answer at its prompt, before the next one. */
async function promptFor(
  { io, prompt }: CliContext,
  field: (typeof requestFields)[number],
  { allowHttp }: ValueOptions,
): Promise<string> {
  const { title } = settingNames[field];
  const question = title[0]?.toUpperCase() + title.slice(1);
  const check = (text: string) => {
    if (field === 'base_url') checkBaseUrl(text, allowHttp);
    else parseIdentifier(text, `the ${title}`);
  };
  const answer = await prompt.text(question, (text) => answerFault(() => check(text)));
  return cutSpaceAround(io, `the ${title}`, answer);
}

/** @throws InvalidInputError that names all missing values at once */
function refuseMissing(known: ProfilePatch): void {
  const missing: string[] = requestFields
    .filter((field) => known[field] === undefined)
    .map((field) => settingNames[field].flag);
  if (known.secret === undefined) missing.push(secretFlags);
  if (missing.length === 0) return;
  throw new InvalidInputError(`missing: ${missing.join(', ')}`, {
    hint: 'There is no terminal for prompts: pass them as options, or run the command on a terminal.',
  });
}
