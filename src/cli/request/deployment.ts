import type { CallClient } from '../../client/call/call-client.js';
import type { ClientHooks } from '../../client/call/hooks.js';
import type { UserInfoClientOptions } from '../../client/call/options.js';
import { secretDoubts } from '../../core/contract/doubts.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { headerFromVariable } from '../../core/platform/headers.js';
import { defaultPlatform, type Platform, parsePlatform } from '../../core/platform/platform.js';
import { readHeaders } from '../../core/profiles/header-source.js';
import { settingSecretAgain } from '../../core/profiles/secret-source.js';
import {
  lackingHeaders,
  needsSafeFile,
  resolveSettings,
  type Settings,
} from '../../core/profiles/settings.js';
import type { SignerPair } from '../../core/signing/app-signatures.js';
import type { Secret } from '../../core/signing/secret.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { CliContext } from '../command.js';
import type { CommonOptions, ConnectionOptions } from '../command-line/options.js';
import { inputName, readJson } from '../input.js';
import { type Io, printAdvice, printMessage } from '../io.js';
import { warn } from '../output/style.js';
import { showText } from '../output/terminal-text.js';
import { networkOptions } from './network.js';

/** Options of every call that no variable sets. */
const withoutVariable = ['--timeout', '--attempts', '--yes', '--allow-http'];

/**
 * Resolves the settings of a command that calls the service, and prints their warnings.
 *
 * @throws InvalidInputError, CredentialError, ProfileError, ProfileFileError as `resolveSettings`;
 * InvalidInputError for a base URL to which nothing may be sent
 */
export async function resolveDeployment(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<Settings> {
  const { io } = context;
  for (const name of withoutVariable) {
    const variable = `USERINFO_${name.slice(2).replaceAll('-', '_').toUpperCase()}`;
    if (io.env[variable])
      await warn(io, `nothing reads the variable ${variable}: the option is ${name}`);
  }
  const settings = await resolveSettings(settingSources(context, options));
  for (const warning of settings.warnings) await warn(io, warning);
  if (settings.secret.source.kind === 'file') await warnOfSharedFile(context);
  settings.address();
  await announceProduction(io, settings);
  return settings;
}

async function warnOfSharedFile({ io, profiles }: CliContext): Promise<void> {
  const mode = profiles.sharedMode();
  if (mode === null) return;
  await warn(io, `other users can read the app secret in ${profiles.path} (mode ${mode})`);
  const commands = [`chmod 600 ${quoteWhereNeeded(profiles.path)}`];
  await printAdvice(io, { hint: 'Restrict it:', commands });
}

/** The sources of settings: flags, then environment variables, then the profile in use. */
export function settingSources<Flags>(context: CliContext, flags: Flags) {
  const { io, profiles } = context;
  return {
    flags,
    env: io.env,
    store: profiles,
    readPlatform: async (file: string) =>
      file === '' ? defaultPlatform : readPlatform(context, file),
  };
}

/** @throws InvalidInputError for a file that cannot be read, or a field that is not valid */
export async function readPlatform(context: CliContext, file: string): Promise<Platform> {
  return parsePlatform(await readJson(context, file), inputName(file));
}

/** Maximum number of keys that a question names. */
const maxKeys = 6;

/** The keys that are about to be written. */
export function listKeys(keys: readonly string[]): string {
  const named = keys.slice(0, maxKeys).join(', ');
  const unnamed = keys.length - maxKeys;
  if (unnamed <= 0) return named;
  return `${named} and ${unnamed} more ${unnamed === 1 ? 'key' : 'keys'}`;
}

/** Production, with the profile and the host. */
export function describeProduction(settings: Pick<Settings, 'profile' | 'base_url'>): string {
  return `production (${describeHost(settings)})`;
}

/** Announces that a command is about to call production. */
export async function announceProduction(io: Io, settings: Settings): Promise<void> {
  if (settings.environment.value === 'production')
    await printMessage(io, `production: ${describeHost(settings)}`);
}

function describeHost({ profile, base_url }: Pick<Settings, 'profile' | 'base_url'>): string {
  const { host } = new URL(base_url.value);
  return profile === null ? host : `profile "${profile}", ${host}`;
}

/** The settings of a secret; of a command that only signs, the app may not be known. */
interface SecretSettings {
  readonly profile: string | null;
  readonly app_key?: { readonly value: string };
  readonly secret: Pick<Settings['secret'], 'source' | 'read'>;
}

/**
 * Reads the secret, and warns of the app key in its place, and of characters that copy-and-paste
 * may have added.
 */
export async function readSecretOf(
  { io }: CliContext,
  { profile, app_key, secret: { source, read } }: SecretSettings,
): Promise<Secret> {
  const secret = await read();
  const warnings = secretDoubts(secret, app_key?.value);
  for (const warning of warnings) await warn(io, warning);
  if (warnings.length > 0) await printAdvice(io, settingSecretAgain(profile, source));
  return secret;
}

/** Creates the signers of a profile; this loads a signing module. */
export async function loadSigning(
  { profiles }: CliContext,
  { platform, signing_module }: Pick<Settings, 'platform' | 'signing_module'>,
): Promise<SignerPair> {
  if (signing_module !== null) profiles.refuseUnsafeFile();
  const { loadSigners } = await import('../../core/profiles/load-signers.js');
  return loadSigners(platform.value.signing, signing_module);
}

/** The command by which a profile takes the value of a header from a variable. */
export function headerCommand(profile: string, header: string): string {
  const source = quoteWhereNeeded(headerFromVariable(header));
  return `userinfo profile set ${quoteWhereNeeded(profile)} --header ${source}`;
}

/** What a command asks of its client besides the settings and the options. */
interface ConnectOptions {
  /** The app secret, if it was read before. */
  readonly secret?: Secret;
  /** Maximum number of open connections. */
  readonly connections?: number;
  /** What a passback is answered with is looked at, not judged: it may name another user. */
  readonly acceptsAnyUser?: true;
}

/**
 * A client for the deployment of the settings. Nothing is sent yet; the secret and the headers are
 * read, and a signing module is loaded.
 *
 * @throws InvalidInputError for a base URL, a proxy or a file that cannot be used, and for a header
 * that the platform needs and the profile does not have; CredentialError, ProfileFileError,
 * SigningModuleError
 */
export async function connectTo(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  { secret, connections, acceptsAnyUser }: ConnectOptions = {},
): Promise<CallClient> {
  const { io } = context;
  if (needsSafeFile(settings)) context.profiles.refuseUnsafeFile();
  const appSecret = secret ?? (await readSecretOf(context, settings));
  const network = await networkOptions(settings, io.env);
  const { signers } = await loadSigning(context, settings);
  const { signing: _, ...platform } = settings.platform.value;
  const headers = await headersOf(context, settings);
  const hooks = options.verbose ? traceExchange(io) : {};
  return context.connect(
    withoutUndefined({
      ...network,
      baseUrl: settings.address(),
      tenantCode: settings.tenant_code.value,
      channel: settings.channel.value,
      appKey: settings.app_key.value,
      appSecret,
      timeoutMs: options.timeout,
      attempts: options.attempts,
      connections,
      platform: acceptsAnyUser ? { ...platform, passback_union_id: 'any' as const } : platform,
      signing: signers,
      headers,
      ...hooks,
    }),
  );
}

/**
 * Reads the values of the headers of a profile.
 *
 * @throws InvalidInputError for one that the platform needs and the profile does not have,
 * CredentialError
 */
async function headersOf(
  { io }: CliContext,
  settings: Settings,
): Promise<NonNullable<UserInfoClientOptions['headers']>> {
  const { headers, profile } = settings;
  const [missing] = lackingHeaders(settings);
  if (missing !== undefined) {
    const noProfile = 'Say where its value is, in a profile such as shop:';
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      hint: profile === null ? noProfile : 'Say where its value is:',
      commands: [headerCommand(profile ?? 'shop', missing)],
    });
  }
  return readHeaders(headers, io.env);
}

/**
 * For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data
 * is masked.
 */
function traceExchange(io: Io): ClientHooks {
  const print = (lines: readonly string[]) =>
    io.stderr.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return {
    onRequest: ({ method, url, attempt, parameters }) => {
      const number = attempt > 1 ? ` (attempt ${attempt})` : '';
      const shownParameters = parameters.map(([name, value]) => `>   ${name}=${value}`);
      print([`> ${method} ${url}${number}`, ...shownParameters]);
    },
    onResponse: ({ httpStatus, resultCode, durationMs, headers, envelope }) => {
      const lines = [`< HTTP ${httpStatus}, code ${resultCode ?? 'none'}, ${durationMs} ms`];
      for (const [name, value] of headers) lines.push(`<   ${name}: ${value}`);
      if (envelope !== undefined) lines.push(`<   ${envelope}`);
      print(lines);
    },
    onNoAnswer: ({ message, reason, durationMs }) => {
      print([`< no answer (${reason}), ${durationMs} ms: ${message}`]);
    },
  };
}
