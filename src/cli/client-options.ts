import { dirname } from 'node:path';
import type { ClientHooks } from '../client/hooks.js';
import type { UserInfoClientOptions } from '../client/options.js';
import { type SigningSource, usesModule } from '../platform/signing-source.js';
import { howToMend, readHeaders, secretWarnings } from '../profiles/secret.js';
import type { Settings } from '../profiles/settings.js';
import type { Signers } from '../signing/app-signatures.js';
import type { Secret } from '../signing/secret.js';
import type { CliContext } from './context.js';
import { type Io, printAdvice } from './io.js';
import { networkOptions } from './network.js';
import type { CommonOptions } from './options.js';
import { warn } from './output/style.js';
import { showText } from './output/terminal-text.js';

/** Reads the secret, and warns of characters that copy-and-paste may have added. */
export async function readSecretOf(
  { io }: CliContext,
  { profile, secret: { source, read } }: { readonly profile: string | null; readonly secret: ReadableSecret },
): Promise<Secret> {
  const secret = await read();
  const warnings = secretWarnings(secret);
  for (const warning of warnings) await warn(io, warning);
  if (warnings.length > 0) await printAdvice(io, howToMend(profile, source));
  return secret;
}

type ReadableSecret = Pick<Settings['secret'], 'source' | 'read'>;

/** Creates the signers of a profile; this loads a signing module. */
export async function loadSigning({ profiles }: CliContext, source: SigningSource): Promise<Signers> {
  if (usesModule(source)) profiles.refuseUnsafeFile();
  const { loadSigners } = await import('../profiles/load-signers.js');
  return loadSigners(source, dirname(profiles.path));
}

/** The options of a client: settings, command-line options, and the secret, which is read here unless given. */
export async function clientOptions(
  context: CliContext,
  settings: Settings,
  options: CommonOptions,
  secret?: Secret,
): Promise<UserInfoClientOptions> {
  const { io } = context;
  const { signing, ...platform } = settings.platform.value;
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
    signing: await loadSigning(context, signing),
    headers: await readHeaders(platform.headers, io.env, () => context.profiles.refuseUnsafeFile()),
    ...(options.verbose ? traceExchange(io) : {}),
  };
}

/** For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data is masked. */
function traceExchange(io: Io): Required<ClientHooks> {
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
