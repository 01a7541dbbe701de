import { defaultPlatform, type Platform, parsePlatform } from '../../platform/platform.js';
import { describeOrigin, misnamedVariables } from '../../profiles/flags-and-environment.js';
import { resolveSettings, type Settings } from '../../profiles/settings.js';
import { refuseApiPath, refusePlainHttp } from '../../protocol/base-url.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import type { CommonOptions, ConnectionOptions } from '../command-line/options.js';
import type { CliContext } from '../context.js';
import { inputName, readJson } from '../input.js';
import { type Io, printAdvice, printMessage } from '../io.js';
import { warn } from '../output/style.js';

/** Options of every call that no variable sets. */
const withoutVariable = ['--timeout', '--attempts', '--attempt-timeout', '--yes', '--allow-http'];

/** Resolves the settings of a command that calls the service, and prints their warnings. */
export async function resolveDeployment(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<Settings> {
  const { io } = context;
  const [misnamed] = misnamedVariables(io.env);
  if (misnamed !== undefined)
    throw new InvalidInputError(misnamed, { sent: 'nothing', hint: 'Give it that name, or unset it.' });
  for (const name of withoutVariable) {
    const variable = `USERINFO_${name.slice(2).replaceAll('-', '_').toUpperCase()}`;
    if (io.env[variable]) await warn(io, `nothing reads the variable ${variable}: the option is ${name}`);
  }
  const settings = await resolveSettings(settingSources(context, options));
  for (const warning of settings.warnings) await warn(io, warning);
  const mode = settings.secret.source.kind === 'file' ? context.profiles.sharedMode() : null;
  if (mode !== null) {
    const { path } = context.profiles;
    await warn(io, `other users can read the app secret in ${path} (mode ${mode})`);
    await printAdvice(io, { hint: 'Restrict it:', commands: [`chmod 600 ${quoteWhereNeeded(path)}`] });
  }
  refuseUnfitUrl(settings);
  await announceProduction(io, settings);
  return settings;
}

/** @throws InvalidInputError for a base URL to which nothing may be sent */
export function refuseUnfitUrl({ base_url, allow_http }: Pick<Settings, 'base_url' | 'allow_http'>): void {
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
    readPlatform: async (file: string) => (file === '' ? defaultPlatform : readPlatform(context, file)),
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
