import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  isLoopback,
  parseBaseUrl,
  refuseApiPath,
  refusePlainHttp,
} from '../../../core/contract/base-url.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { headerFromVariable } from '../../../core/platform/headers.js';
import { defaultPlatform, type Platform } from '../../../core/platform/platform.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import {
  editHeaders,
  type HeaderSources,
  seemsPrivate,
} from '../../../core/profiles/header-source.js';
import { findContradiction } from '../../../core/profiles/production-guard.js';
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
import { defaultRecipes } from '../../../core/signing/presets.js';
import type { SigningRecipes } from '../../../core/signing/recipe.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import {
  addConnectionOptions,
  addText,
  type ConnectionOptions,
  parseRate,
} from '../../command-line/options.js';
import { cutSpaceAround } from '../../command-line/space-around.js';
import { printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { answerFault, confirm } from '../../prompt.js';
import { readPlatform, settingSources } from '../../request/deployment.js';
import { confirmDoubts, doubtful } from '../../request/doubts.js';
import { parseOpenProxy } from '../../request/network.js';
import { requirePreset } from '../../request/resolve-signing.js';
import {
  addSecretOptions,
  promptForSecret,
  type SecretOptions,
  secretFlags,
  secretSourceOf,
  warnOfSecret,
} from './secret-options.js';

/** The values of a profile. */
interface EditOptions extends ConnectionOptions, SecretOptions {
  readonly signingPreset?: string;
  readonly signingModule?: string;
  readonly header?: readonly string[];
  readonly keyPrefix?: string;
}

interface AddOptions extends EditOptions {
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
    addEditOptions(
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
        .addOption(
          new Option('--rate <n/s>', 'maximum number of requests per second')
            .argParser(parseRate)
            .default(5, '5/s'),
        ),
    ),
  action: runAdd,
});

async function runAdd(invocation: Invocation<AddOptions>, name: string): Promise<void> {
  const { context, io, options } = invocation;
  const { profiles } = context;
  checkNewName(await profiles.load(), name);
  const { tenant_code, channel, ...shared } = await sharedWith(profiles, options.like);
  if (options.from === '-' && options.appSecretStdin) {
    throw new InvalidInputError(
      'the request and the app secret cannot both come from standard input',
      { hint: 'Put the request into a file.' },
    );
  }
  const chosen = { ...shared, ...(await patchOf(context, options, undefined)) };
  const tool = options.from === undefined ? null : await import('./capture.late.js');
  const capture = tool && (await tool.readCapture(context, options.from ?? '', chosen));
  const known: ProfilePatch = {
    ...withoutUndefined({ tenant_code, channel }),
    ...capture?.values,
    ...chosen,
  };
  const profile = await askForMissing(context, name, known, options);
  await confirmIdentifiers(context, { ...chosen, ...profile }, options.yes);
  await confirmAddress(context, profile, options.yes);
  const captured =
    tool && capture && (await tool.completeProfile(invocation, capture, profile, chosen));
  const patch = { ...chosen, ...captured?.patch };
  const list = await profiles.change((before) =>
    updateProfile(addProfile(before, profile), name, patch),
  );
  const added = `added ${describeProfile(profile)}`;
  await printMessage(io, list.active === name ? `${added}, now active` : added);
  await warnOfTestProfile(context, profile, chosen);
  const hasSecret = await warnOfSecret(context, profile);
  if (tool && captured) await tool.settleStored(invocation, name, captured.candidates);
  else if (hasSecret) await offerToAsk(invocation, profile, patch);
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

/** Warns of a profile of another machine that is one for tests because nobody said otherwise. */
async function warnOfTestProfile(
  { io, prompt }: CliContext,
  { base_url }: Profile,
  chosen: ProfilePatch,
): Promise<void> {
  if (chosen.environment !== undefined || prompt.possible) return;
  if (isLoopback(new URL(base_url).hostname)) return;
  const warning = 'without --environment this is a test profile: writes by it are not asked about';
  await warn(io, warning);
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

/**
 * Asks where the address of a profile is that of one of the other environment: writes to it would
 * not be asked about.
 *
 * @throws InvalidInputError if the answer is no
 */
export async function confirmAddress(
  context: CliContext,
  profile: Pick<Profile, 'name' | 'environment' | 'base_url'>,
  yes: boolean | undefined,
): Promise<void> {
  const { profiles } = await context.profiles.load();
  const contradiction = findContradiction(profile, profiles.values());
  if (contradiction === undefined) return;
  const isTest = profile.environment === 'test';
  const test = quoteName(isTest ? profile.name : contradiction.name);
  const production = quoteName(isTest ? contradiction.name : profile.name);
  const { host } = new URL(profile.base_url);
  await confirm(
    context,
    `The test profile ${test} and the production profile ${production} have the same address, ${host}: ` +
      `writes by ${test} are not asked about. Store it?`,
    yes,
  );
}

/**
 * Asks whether doubtful identifiers are meant before a profile has them.
 *
 * @throws InvalidInputError if the answer is no
 */
export function confirmIdentifiers(
  context: CliContext,
  values: Pick<ProfilePatch, 'tenant_code' | 'channel' | 'app_key' | 'key_prefix'>,
  yes = false,
): Promise<void> {
  const { tenant_code = '', channel = '', app_key = '', key_prefix } = values;
  const doubts = [
    ...doubtful('the tenant code', tenant_code, 'id'),
    ...doubtful('the channel', channel, 'id'),
    ...doubtful('the app key', app_key, 'id'),
    ...doubtful('the key prefix', key_prefix ?? '', 'id'),
  ];
  return confirmDoubts(context, doubts, 'Store it as it is?', yes);
}

/** Validates the answer at its prompt, before the next one. */
async function promptFor(
  { io, prompt }: CliContext,
  field: (typeof requestFields)[number],
  { allowHttp }: EditOptions,
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

/** @throws InvalidInputError for one to which no command could send */
function checkBaseUrl(text: string, allowHttp = false): void {
  const baseUrl = parseBaseUrl(text);
  refuseApiPath(baseUrl);
  refusePlainHttp(baseUrl, allowHttp, '--allow-http');
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

export const declareSet = command({
  name: 'set',
  common: ['confirm'],
  summary: 'change values of a profile',
  takes: (command) =>
    addEditOptions(command.argument('<name>', 'the profile')).option(
      '--no-allow-http',
      'disallow plain HTTP to another machine',
    ),
  action: async ({ context, io, options }: Invocation<EditOptions>, name: string) => {
    const { profiles } = context;
    const current = await profiles.get(name);
    const patch = await patchOf(context, options, current);
    if (Object.keys(patch).length === 0) {
      throw new InvalidInputError('nothing to change', {
        hint: 'The options are listed by:',
        commands: ['userinfo profile set --help'],
      });
    }
    await confirmIdentifiers(context, patch, options.yes);
    const { environment = current.environment, base_url = current.base_url } = patch;
    if (environment !== current.environment || base_url !== current.base_url)
      await confirmAddress(context, { name, environment, base_url }, options.yes);
    if (current.environment === 'production' && environment === 'test') {
      const effect = 'becomes a test profile: writes by it are not asked about';
      const question = `Profile ${describeProfile(current)} ${effect}. Change it?`;
      await confirm(context, question, options.yes);
    }
    const list = await profiles.change((before) => updateProfile(before, name, patch));
    const changed = list.profiles.get(name);
    if (changed === undefined) return;
    await printMessage(io, `changed ${describeProfile(changed)}`);
    if (patch.secret !== undefined) await warnOfSecret(context, changed);
  },
});

function addEditOptions(command: Command): Command {
  return addSecretOptions(addConnectionOptions(command, 'Values:').optionsGroup('Values:'))
    .option(
      '--signing-preset <names>',
      'sign with presets: sign=NAME, app_sign=NAME, or both with a comma; "default" restores the default recipes',
    )
    .addOption(
      new Option(
        '--signing-module <file>',
        'sign with a JavaScript module, which runs with your permissions',
      ).conflicts('signingPreset'),
    )
    .option(
      '--header <name=source>',
      'header of every request: X-Key=env:VARIABLE, X-Key=command:COMMAND or X-Region=TEXT; X-Key= removes it',
      addText,
    )
    .option(
      '--key-prefix <prefix>',
      'prefix that custom keys should have; other keys cause a warning',
    );
}

/**
 * The values that the options give. `current` is the profile.
 *
 * @throws InvalidInputError for an invalid value, and for a base URL of plain HTTP without
 * --allow-http
 */
async function patchOf(
  context: CliContext,
  options: EditOptions,
  current: Profile | undefined,
): Promise<ProfilePatch> {
  const { environment, baseUrl, header, proxy, allowHttp } = options;
  if (baseUrl !== undefined) checkBaseUrl(baseUrl, allowHttp);
  if (proxy) parseOpenProxy(proxy, settingNames.proxy.flag);
  return withoutUndefined({
    environment: environment === undefined ? undefined : parseEnvironment(environment),
    base_url: baseUrl,
    tenant_code: options.tenantCode,
    channel: options.channel,
    app_key: options.appKey,
    secret: await secretSourceOf(options, context),
    platform: await platformOf(context, options, current?.platform ?? defaultPlatform),
    signing_module: moduleOf(options),
    headers: header && headersOf(header, current?.headers),
    key_prefix: removable(options.keyPrefix),
    ca_file: absolute(options.caFile),
    client_cert: absolute(options.clientCert),
    client_key: absolute(options.clientKey),
    proxy: removable(proxy),
    allow_http: permissionOf(options),
  });
}

/** The text of an option; an empty text removes the value. */
function removable(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

/** The absolute path of a file; an empty path removes the value. */
function absolute(path: string | undefined): string | null | undefined {
  return path ? resolve(path) : removable(path);
}

/** The permission for plain HTTP. Another base URL ends one that is not given again. */
function permissionOf({ allowHttp, baseUrl }: EditOptions): true | null | undefined {
  if (allowHttp === true) return true;
  if (allowHttp === false || baseUrl !== undefined) return null;
  return undefined;
}

/**
 * The platform that the options give, `undefined` if none: that of the file, else `current`, with
 * the presets.
 */
async function platformOf(
  context: CliContext,
  { platform: file, signingPreset }: EditOptions,
  current: Platform,
): Promise<Platform | undefined> {
  if (file === undefined && signingPreset === undefined) return undefined;
  const platform = await basePlatform(context, file, current);
  if (signingPreset === undefined) return platform;
  return { ...platform, signing: fromPresets(signingPreset, platform.signing) };
}

async function basePlatform(
  context: CliContext,
  file: string | undefined,
  current: Platform,
): Promise<Platform> {
  if (file === undefined) return current;
  return file === '' ? defaultPlatform : readPlatform(context, file);
}

/** The module is not loaded here; presets and a platform file take its place. */
function moduleOf({
  signingModule,
  signingPreset,
  platform,
}: EditOptions): string | null | undefined {
  const isReplaced = signingPreset !== undefined || platform !== undefined;
  if (signingModule === undefined) return isReplaced ? null : undefined;
  if (signingModule === '') return null;
  const file = resolve(signingModule);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new InvalidInputError(`--signing-module: ${quoteName(signingModule)} is not a file`);
}

/** The headers of a profile with the changes of `--header`; `null` if none is left. */
function headersOf(changes: readonly string[], current: HeaderSources = {}): HeaderSources | null {
  for (const change of changes) {
    const [, name = '', value = ''] =
      /^([^=:]+)[=:]\s*(?!\s|env:|command[:,])(.+)$/s.exec(change) ?? [];
    if (seemsPrivate(name, value) === 'secret') throw plainSecret(name);
  }
  const headers = editHeaders(current, changes);
  return Object.keys(headers).length === 0 ? null : headers;
}

function plainSecret(header: string): InvalidInputError {
  const fromVariable = quoteWhereNeeded(headerFromVariable(header));
  return new InvalidInputError(
    `--header ${header}: the profile file does not store a secret in plain text`,
    {
      hint: `Name a variable that has it, such as --header ${fromVariable}, or a command that prints it.`,
    },
  );
}

function fromPresets(names: string, current: SigningRecipes): SigningRecipes {
  if (names === 'default') return defaultRecipes;
  const chosen = names.split(',').map((choice) => {
    const [, signature = 'sign', name = ''] = /^(?:(app_sign|sign)=)?(.*)$/s.exec(choice) ?? [];
    if (name === '') throw new InvalidInputError(`${quoteName(choice)} names no preset`);
    return [signature, requirePreset(name).recipe];
  });
  return { ...current, ...Object.fromEntries(chosen) };
}
