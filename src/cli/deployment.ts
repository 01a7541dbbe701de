import { defaultPlatform, type Platform } from '../platform/platform.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import { resolveSettings, type Settings } from '../profiles/settings.js';
import { refuseApiPath, refusePlainHttp } from '../protocol/base-url.js';
import type { CliContext } from './context.js';
import { type Io, printMessage } from './io.js';
import type { CommonOptions, ConnectionOptions } from './options.js';
import { warn } from './output/style.js';

/** Resolves the settings of a command that calls the service, and prints their warnings. */
export async function resolveDeployment(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<Settings> {
  const { io } = context;
  const settings = await resolveSettings(settingSources(context, options));
  for (const warning of settings.warnings) await warn(io, warning);
  const { value, origin } = settings.base_url;
  const label = `the base URL (${describeOrigin(origin)})`;
  refuseApiPath(value, label);
  refusePlainHttp(value, settings.allow_http !== null, '--allow-http', label);
  await announceProduction(io, settings);
  return settings;
}

/** The sources of settings: flags, then environment variables, then the profile in use. */
export function settingSources<Flags>(context: CliContext, flags: Flags) {
  const { io, profiles } = context;
  return {
    flags,
    env: io.env,
    store: profiles,
    async readPlatform(file: string): Promise<Platform> {
      if (file === '') return defaultPlatform;
      const { readUsedPlatform } = await import('./platform-file.js');
      return readUsedPlatform(context, file);
    },
  };
}

/** Maximum number of keys that a question names. */
const maxKeys = 6;

/** The keys that are about to be written. */
export function listKeys(keys: readonly string[]): string {
  const more = keys.length - maxKeys;
  return more > 0 ? `${keys.slice(0, maxKeys).join(', ')} and ${more} more keys` : keys.join(', ');
}

/** Production, with the profile and the host. */
export function describeProduction({ profile, base_url }: Pick<Settings, 'profile' | 'base_url'>): string {
  const { host } = new URL(base_url.value);
  return `production (${profile === null ? host : `profile "${profile}", ${host}`})`;
}

/** Announces that a command is about to call production. */
export async function announceProduction(
  io: Io,
  { environment, profile, base_url }: Pick<Settings, 'environment' | 'profile' | 'base_url'>,
): Promise<void> {
  if (environment.value !== 'production') return;
  const who = profile === null ? '' : `profile "${profile}", `;
  await printMessage(io, `production: ${who}${new URL(base_url.value).host}`);
}
