import { dirname } from 'node:path';
import { secretWarnings } from '../profiles/copy-warnings.js';
import { describeOrigin } from '../profiles/given-values.js';
import { shellRunner } from '../profiles/run-command.js';
import { resolveSettings, type Settings } from '../profiles/settings.js';
import { namesModule, type SigningSource } from '../profiles/signing-source.js';
import { refusePlainHttp } from '../protocol/base-url.js';
import type { Signers } from '../signing/app-signatures.js';
import type { Secret } from '../signing/secret.js';
import type { CliContext } from './context.js';
import { type Io, say } from './io.js';
import type { CommonOptions, ConnectionOptions } from './options.js';
import { warn } from './output/warn.js';

/** The settings of a command that calls the service; what the user should know of them is said. */
export async function resolveService(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<Settings> {
  const { io, profiles } = context;
  const settings = await resolveSettings({
    flags: options,
    env: io.env,
    run: shellRunner(io.env),
    store: profiles,
  });
  for (const warning of settings.warnings) await warn(io, warning);
  refusePlainHttp(
    settings.base_url.value,
    settings.allow_http !== null,
    '--allow-http',
    `the base URL (${describeOrigin(settings.base_url.origin)})`,
  );
  await announceProduction(io, settings);
  return settings;
}

/** Nobody should meet production without being told. */
export async function announceProduction(
  io: Io,
  { environment, profile, base_url }: Pick<Settings, 'environment' | 'profile' | 'base_url'>,
): Promise<void> {
  if (environment.value !== 'production') return;
  const who = profile === null ? '' : `profile "${profile}", `;
  await say(io, `production: ${who}${new URL(base_url.value).host}`);
}

/** Fetches the secret, and warns of what copying it may have added. */
export async function readSecretOf(context: CliContext, settings: Pick<Settings, 'secret'>): Promise<Secret> {
  const secret = await settings.secret.read();
  for (const warning of secretWarnings(secret)) await warn(context.io, warning);
  return secret;
}

/** What signs for a profile; a module of the user's is loaded here. */
export async function loadSigning({ profiles }: CliContext, source: SigningSource): Promise<Signers> {
  if (namesModule(source)) profiles.refuseShared();
  const { loadSigners } = await import('../profiles/load-signers.js');
  return loadSigners(source, dirname(profiles.path));
}
