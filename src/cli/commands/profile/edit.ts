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
import { type CliContext, command, type Invocation } from '../../command.js';
import { addText, parseRate } from '../../command-line/option-values.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
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
  run: runAdd,
});

async function runAdd(invocation: Invocation<AddOptions>, name: string): Promise<void> {
  const { context, io, options } = invocation;
  const { profiles, prompt } = context;
  checkNewName(await profiles.load(), name);
  const model: ProfilePatch =
    options.like === undefined ? {} : sharedWith(await profiles.get(options.like));
  if (options.from === '-' && options.appSecretStdin) {
    throw new InvalidInputError(
      'the request and the app secret cannot both come from standard input',
      {
        hint: 'Put the request into a file.',
      },
    );
  }
  const { tenant_code, channel, ...rules } = model;
  const given = { ...rules, ...(await patchOf(context, options, undefined)) };
  const tool = options.from === undefined ? null : await import('./capture.late.js');
  const capture = tool && (await tool.readCapture(context, options.from ?? '', given));
  const known: ProfilePatch = {
    ...(tenant_code !== undefined && { tenant_code }),
    ...(channel !== undefined && { channel }),
    ...capture?.values,
    ...given,
  };
  if (known.base_url !== undefined) checkBaseUrl(known.base_url, options.allowHttp);
  if (!prompt.possible) refuseMissing(known);
  const ask = async (field: (typeof requestFields)[number]) => {
    const value = known[field];
    if (value === undefined) return promptFor(context, field, options);
    return cutSpaceAround(io, `the ${settingNames[field].title}`, value);
  };
  const required: Profile = {
    name,
    environment:
      given.environment ??
      (prompt.possible
        ? parseEnvironment(await prompt.choose('Environment', environments))
        : 'test'),
    base_url: await ask('base_url'),
    tenant_code: await ask('tenant_code'),
    channel: await ask('channel'),
    app_key: await ask('app_key'),
    secret: given.secret ?? (await promptForSecret(context)),
  };
  await confirmIdentifiers(context, { ...given, ...required }, options.yes);
  await confirmAddress(context, required, options.yes);
  const found =
    tool && capture && (await tool.completeProfile(invocation, capture, required, given));
  const patch = { ...given, ...found?.patch };
  const list = await profiles.change((before) =>
    updateProfile(addProfile(before, required), name, patch),
  );
  await printMessage(
    io,
    `added ${describeProfile(required)}${list.active === name ? ', now active' : ''}`,
  );
  if (
    given.environment === undefined &&
    !prompt.possible &&
    !isLoopback(new URL(required.base_url).hostname)
  )
    await warn(
      io,
      'without --environment this is a test profile: writes by it are not asked about',
    );
  const hasSecret = await warnOfSecret(context, required);
  if (tool && found) await tool.settleStored(invocation, name, found.candidates);
  else if (hasSecret) await offerToAsk(invocation, required, patch);
}

/**
 * What the deployments of an application mostly have in common: not address, app key, secret,
 * headers and network.
 */
function sharedWith(profile: Profile): ProfilePatch {
  const { tenant_code, channel, platform, signing_module, key_prefix } = profile;
  return {
    tenant_code,
    channel,
    ...(platform !== undefined && { platform }),
    ...(signing_module !== undefined && { signing_module }),
    ...(key_prefix !== undefined && { key_prefix }),
  };
}

/** Offers to find the rules of a test deployment by asking it, where nothing says them. */
async function offerToAsk(
  invocation: Invocation<AddOptions>,
  profile: Profile,
  patch: ProfilePatch,
): Promise<void> {
  const { context, options } = invocation;
  const { timeout, attempts, rate } = options;
  const isSaid = [options.like, patch.platform, patch.signing_module].some(
    (rule) => rule !== undefined,
  );
  if (isSaid || profile.environment === 'production' || !context.prompt.possible || options.yes)
    return;
  const { askAndSave, tryQuestion } = await import('../sign/try-rules.late.js');
  const question = `How it signs is not known. ${tryQuestion(profile.base_url, rate)}`;
  if (!(await context.prompt.confirm(question))) return;
  const asking = {
    timeout,
    attempts,
    profile: profile.name,
    save: profile.name,
    ...(rate !== undefined && { rate }),
  };
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
  const other = findContradiction(profile, (await context.profiles.load()).profiles.values());
  if (other === undefined) return;
  const [test, production] = profile.environment === 'test' ? [profile, other] : [other, profile];
  await confirm(
    context,
    `The test profile ${quoteName(test.name)} and the production profile ${quoteName(production.name)} have the same ` +
      `address, ${new URL(profile.base_url).host}: writes by ${quoteName(test.name)} are not asked about. Store it?`,
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
  const answer = await prompt.text(title[0]?.toUpperCase() + title.slice(1), (text) =>
    answerFault(() =>
      field === 'base_url' ? checkBaseUrl(text, allowHttp) : parseIdentifier(text, `the ${title}`),
    ),
  );
  return cutSpaceAround(io, `the ${title}`, answer);
}

/** @throws InvalidInputError for one to which no command could send */
function checkBaseUrl(text: string, allowHttp = false): void {
  const baseUrl = parseBaseUrl(text);
  refuseApiPath(baseUrl);
  refusePlainHttp(baseUrl, allowHttp, '--allow-http');
}

/** Reports all missing values at once if there is no terminal to ask on. */
function refuseMissing(given: ProfilePatch): void {
  const missing: string[] = requestFields
    .filter((field) => given[field] === undefined)
    .map((field) => settingNames[field].flag);
  if (given.secret === undefined) missing.push(secretFlags);
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
  run: async ({ context, io, options }: Invocation<EditOptions>, name: string) => {
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
      const question = `Profile ${describeProfile(current)} becomes a test profile: writes by it are not asked about. Change it?`;
      await confirm(context, question, options.yes);
    }
    const changed = (
      await profiles.change((list) => updateProfile(list, name, patch))
    ).profiles.get(name);
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
  const removable = (text: string | undefined) => (text === '' ? null : text);
  const file = (path: string | undefined) => (path ? resolve(path) : removable(path));
  // The permission for plain HTTP applied to the previous base URL.
  const allowed = baseUrl === undefined ? undefined : null;
  const patch = {
    environment: environment && parseEnvironment(environment),
    base_url: baseUrl,
    tenant_code: options.tenantCode,
    channel: options.channel,
    app_key: options.appKey,
    secret: await secretSourceOf(options, context),
    platform: await platformOf(context, options, current?.platform ?? defaultPlatform),
    ...moduleOf(options),
    headers: header && headersOf(header, current?.headers),
    key_prefix: removable(options.keyPrefix),
    ca_file: file(options.caFile),
    client_cert: file(options.clientCert),
    client_key: file(options.clientKey),
    proxy: removable(proxy),
    allow_http: allowHttp === undefined ? allowed : allowHttp || null,
  };
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
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
  const given =
    file === ''
      ? defaultPlatform
      : file === undefined
        ? current
        : await readPlatform(context, file);
  return signingPreset === undefined
    ? given
    : { ...given, signing: fromPresets(signingPreset, given.signing) };
}

/** The module is not loaded here; presets and a platform file take its place. */
function moduleOf({
  signingModule,
  signingPreset,
  platform,
}: EditOptions): Pick<ProfilePatch, 'signing_module'> {
  if (signingModule === undefined)
    return signingPreset === undefined && platform === undefined ? {} : { signing_module: null };
  if (signingModule === '') return { signing_module: null };
  const file = resolve(signingModule);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return { signing_module: file };
  throw new InvalidInputError(`--signing-module: ${quoteName(signingModule)} is not a file`);
}

function headersOf(given: readonly string[], current: HeaderSources = {}): HeaderSources | null {
  for (const header of given) {
    const [, name = '', value = ''] =
      /^([^=:]+)[=:]\s*(?!\s|env:|command[:,])(.+)$/s.exec(header) ?? [];
    if (seemsPrivate(name, value) !== 'secret') continue;
    throw new InvalidInputError(
      `--header ${name}: the profile file does not store a secret in plain text`,
      {
        hint: `Name a variable that has it, such as --header ${quoteWhereNeeded(headerFromVariable(name))}, or a command that prints it.`,
      },
    );
  }
  const headers = editHeaders(current, given);
  return Object.keys(headers).length === 0 ? null : headers;
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
