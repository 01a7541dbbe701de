import type { ClientHooks } from '../../client/call/hooks.js';
import type { UserInfoClientOptions } from '../../client/call/options.js';
import { refuseApiPath, refusePlainHttp } from '../../core/contract/base-url.js';
import { secretDoubts } from '../../core/contract/doubts.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { headerFromVariable } from '../../core/platform/headers.js';
import { defaultPlatform, type Platform, parsePlatform } from '../../core/platform/platform.js';
import { describeOrigin } from '../../core/profiles/flags-and-environment.js';
import { readHeaders } from '../../core/profiles/header-source.js';
import { settingSecretAgain } from '../../core/profiles/secret.js';
import {
  isFileTrusted,
  lackingHeaders,
  resolveSettings,
  type Settings,
} from '../../core/profiles/settings.js';
import type { SignerPair } from '../../core/signing/app-signatures.js';
import type { Secret } from '../../core/signing/secret.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import type { CliContext } from '../command.js';
import type { CommonOptions, ConnectionOptions } from '../command-line/options.js';
import { type Io, inputName, printAdvice, printMessage, readJson } from '../io.js';
import { warn } from '../output/style.js';
import { showText } from '../output/terminal-text.js';
import { networkOptions } from './network.js';

/** Options of every call that no variable sets. */
const withoutVariable = ['--timeout', '--attempts', '--yes', '--allow-http'];

/** Resolves the settings of a command that calls the service, and prints their warnings. */
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
  const mode = settings.secret.source.kind === 'file' ? context.profiles.sharedMode() : null;
  if (mode !== null) {
    const { path } = context.profiles;
    await warn(io, `other users can read the app secret in ${path} (mode ${mode})`);
    await printAdvice(io, {
      hint: 'Restrict it:',
      commands: [`chmod 600 ${quoteWhereNeeded(path)}`],
    });
  }
  refuseUnfitUrl(settings);
  await announceProduction(io, settings);
  return settings;
}

/** @throws InvalidInputError for a base URL to which nothing may be sent */
export function refuseUnfitUrl({
  base_url,
  allow_http,
}: Pick<Settings, 'base_url' | 'allow_http'>): void {
  const label = `the base URL (${describeOrigin(base_url.origin)})`;
  refuseApiPath(base_url.value, label);
  refusePlainHttp(base_url.value, allow_http !== null, '--allow-http', label);
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
  const more = keys.length - maxKeys;
  return more > 0
    ? `${keys.slice(0, maxKeys).join(', ')} and ${more} more ${more === 1 ? 'key' : 'keys'}`
    : keys.join(', ');
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
  return `${profile === null ? '' : `profile "${profile}", `}${new URL(base_url.value).host}`;
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
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      hint: `Say where its value is${profile === null ? ', in a profile such as shop' : ''}:`,
      commands: [headerCommand(profile ?? 'shop', missing)],
    });
  }
  return readHeaders(headers, io.env);
}

/** The command by which a profile takes the value of a header from a variable. */
export function headerCommand(profile: string, header: string): string {
  return `userinfo profile set ${quoteWhereNeeded(profile)} --header ${quoteWhereNeeded(headerFromVariable(header))}`;
}

/**
 * The options of a client: settings, command-line options, and the secret, which is read here
 * unless given.
 */
export async function clientOptions(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  secret?: Secret,
): Promise<UserInfoClientOptions> {
  const { io } = context;
  const { signing: _, ...platform } = settings.platform.value;
  if (isFileTrusted(settings)) context.profiles.refuseUnsafeFile();
  return {
    baseUrl: settings.base_url.value,
    tenantCode: settings.tenant_code.value,
    channel: settings.channel.value,
    appKey: settings.app_key.value,
    appSecret: secret ?? (await readSecretOf(context, settings)),
    timeoutMs: options.timeout,
    attempts: options.attempts,
    ...(await networkOptions(settings, io.env)),
    platform,
    signing: (await loadSigning(context, settings)).signers,
    headers: await headersOf(context, settings),
    ...(options.verbose ? traceExchange(io) : {}),
  };
}

/**
 * For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data
 * is masked.
 */
function traceExchange(io: Io): ClientHooks {
  const print = (...lines: readonly string[]) =>
    io.stderr.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return {
    onRequest: ({ method, url, attempt, parameters }) =>
      print(
        `> ${method} ${url}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
        ...parameters.map(([name, value]) => `>   ${name}=${value}`),
      ),
    onResponse: ({ httpStatus, resultCode, durationMs, headers, envelope }) =>
      print(
        `< HTTP ${httpStatus}, code ${resultCode ?? 'none'}, ${durationMs} ms`,
        ...headers.map(([name, value]) => `<   ${name}: ${value}`),
        ...(envelope === undefined ? [] : [`<   ${envelope}`]),
      ),
    onNoAnswer: ({ message, reason, durationMs }) =>
      print(`< no answer (${reason}), ${durationMs} ms: ${message}`),
  };
}
