import { defaultPlatform, type Platform } from '../platform/platform.js';
import { describeOrigin } from '../profiles/flags-and-environment.js';
import { resolveSettings, type Settings } from '../profiles/settings.js';
import { refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
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
  refuseApiPath(settings.base_url);
  refusePlainHttp(
    settings.base_url.value,
    settings.allow_http !== null,
    '--allow-http',
    `the base URL (${describeOrigin(settings.base_url.origin)})`,
  );
  await announceProduction(io, settings);
  return settings;
}

/** Where settings come from: flags, then environment variables, then the profile in use. */
export function settingSources<Flags>(context: CliContext, flags: Flags) {
  const { io, profiles } = context;
  return {
    flags,
    env: io.env,
    store: profiles,
    readPlatform: (file: string) => readUsedPlatform(context, file),
  };
}

/** The platform of a file that is used, not stored; the defaults for an empty name. */
async function readUsedPlatform(context: CliContext, file: string): Promise<Platform> {
  if (file === '') return defaultPlatform;
  const { readPlatform, refuseCode } = await import('./platform-file.js');
  return refuseCode(await readPlatform(context, file), file);
}

/** @throws InvalidInputError for a base URL with the path of the operations, which is added to it */
function refuseApiPath({ value, origin }: Settings['base_url']): void {
  const [before, path] = value.split(/(?=\/api\/v1\b)/);
  if (path === undefined) return;
  throw new InvalidInputError(`the base URL (${describeOrigin(origin)}) contains ${path}`, {
    sent: 'nothing',
    hint: `Give what comes before it: ${before}`,
  });
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
