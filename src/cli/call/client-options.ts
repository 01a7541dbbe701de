import type { ClientHooks } from '../../client/hooks.js';
import type { UserInfoClientOptions } from '../../client/options.js';
import { headerFromVariable } from '../../platform/headers.js';
import { readHeaders } from '../../profiles/header-source.js';
import { secretWarnings, settingSecretAgain } from '../../profiles/secret.js';
import { isFileTrusted, lackingHeaders, type Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import type { SignerPair } from '../../signing/app-signatures.js';
import type { Secret } from '../../signing/secret.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import type { CommonOptions } from '../command-line/options.js';
import type { CliContext } from '../context.js';
import { type Io, printAdvice } from '../io.js';
import { warn } from '../output/style.js';
import { showText } from '../output/terminal-text.js';
import { networkOptions } from './network.js';

/** The settings of a secret; of a command that only signs, the app may not be known. */
interface SecretSettings {
  readonly profile: string | null;
  readonly app_key?: { readonly value: string };
  readonly secret: Pick<Settings['secret'], 'source' | 'read'>;
}

/** Reads the secret, and warns of the app key in its place, and of characters that copy-and-paste may have added. */
export async function readSecretOf(
  { io }: CliContext,
  { profile, app_key, secret: { source, read } }: SecretSettings,
): Promise<Secret> {
  const secret = await read();
  const warnings = secretWarnings(secret, app_key?.value);
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
  const { loadSigners } = await import('../../profiles/load-signers.js');
  return loadSigners(platform.value.signing, signing_module);
}

/**
 * Reads the values of the headers of a profile.
 *
 * @throws InvalidInputError for one that the platform needs and the profile does not have, CredentialError
 */
async function headersOf(
  { io }: CliContext,
  settings: Settings,
): Promise<NonNullable<UserInfoClientOptions['headers']>> {
  const { headers, profile } = settings;
  const [missing] = lackingHeaders(settings);
  if (missing !== undefined) {
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      sent: 'nothing',
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

/** The options of a client: settings, command-line options, and the secret, which is read here unless given. */
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
    ...(options.attemptTimeout === undefined ? {} : { attemptTimeoutMs: options.attemptTimeout }),
    attempts: options.attempts,
    ...(await networkOptions(settings, io.env)),
    platform,
    signing: (await loadSigning(context, settings)).signers,
    headers: await headersOf(context, settings),
    ...(options.verbose ? traceExchange(io) : {}),
  };
}

/** For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data is masked. */
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
