import { type Stats, statSync } from 'node:fs';
import { describeOrigin } from '../../profiles/flags-and-environment.js';
import { ProfileFileError } from '../../profiles/profile.js';
import { describeSecretSource, secretWarnings } from '../../profiles/secret.js';
import { resolveSettings, type Settings } from '../../profiles/settings.js';
import { refusePlainHttp } from '../../protocol/base-url.js';
import { quoteName } from '../../protocol/text.js';
import type { Secret } from '../../signing/secret.js';
import { quoteWhereNeeded, shellRunner } from '../../support/shell.js';
import { findUnsafePath } from '../../support/trusted-path.js';
import { announceProduction } from '../connect.js';
import type { CliContext } from '../context.js';
import type { CommonOptions, ConnectionOptions } from '../options.js';
import type { Finding } from './checkup.js';

/** The profile file is readable, and private to its owner. */
export async function checkProfileFile({ profiles, platform }: CliContext): Promise<Finding<null>> {
  const { path } = profiles;
  const { active, profiles: all } = await profiles.load();
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return { detail: `there is none: ${path}`, value: null, skipped: true };
  if (platform !== 'win32') refuseOpenFile(path, file);
  const count = all.size === 1 ? '1 profile' : `${all.size} profiles`;
  const detail = `${path}: ${count}, ${active === null ? 'none' : quoteName(active)} active`;
  const isGone = active !== null && !all.has(active);
  const next = 'Warning: the active profile does not exist: "userinfo profile use <name>" chooses another.';
  return { detail, ...(isGone && { next }), value: null };
}

const readableByOthers = 0o077;

function refuseOpenFile(path: string, file: Stats): void {
  if ((file.mode & readableByOthers) !== 0) {
    throw new ProfileFileError(`${path}: other users can read it (mode ${modeOf(file)})`, {
      hint: `Restrict it: chmod 600 ${quoteWhereNeeded(path)}`,
    });
  }
  const unsafe = findUnsafePath(path);
  if (unsafe !== null) throw new ProfileFileError(unsafe.reason, { hint: unsafe.hint });
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** All values that a request needs are set. */
export async function checkSettings(
  { io, profiles }: CliContext,
  options: ConnectionOptions & CommonOptions,
): Promise<Finding<Settings>> {
  const settings = await resolveSettings({
    flags: options,
    env: io.env,
    run: shellRunner(io.env),
    store: profiles,
  });
  await announceProduction(io, settings);
  const { environment, tenant_code, channel, app_key, profile, warnings } = settings;
  const values = [`tenant ${tenant_code.value}`, `channel ${channel.value}`, `app key ${app_key.value}`];
  const from = profile === null ? 'flags and environment variables' : `profile "${profile}"`;
  return {
    detail: `${environment.value}, ${values.join(', ')} (${from})`,
    ...adviceOf(warnings),
    value: settings,
  };
}

/** Requests may be sent to the base URL. */
export async function checkBaseUrl({ base_url, allow_http }: Settings): Promise<Finding<URL>> {
  const origin = describeOrigin(base_url.origin);
  refusePlainHttp(base_url.value, allow_http !== null, '--allow-http', `the base URL (${origin})`);
  return {
    detail: `${base_url.value} (${origin})`,
    ...(allow_http && { next: plainHttpAllowed(describeOrigin(allow_http.origin), new URL(base_url.value)) }),
    value: new URL(base_url.value),
  };
}

function plainHttpAllowed(origin: string, { protocol, host }: URL): string {
  const now = protocol === 'http:' ? `: personal data is sent unencrypted to ${host}` : ', and not needed';
  return `Warning: plain http is allowed (${origin})${now}. "userinfo profile set <name> --no-allow-http" disallows it.`;
}

/** The app secret can be read. */
export async function checkSecret({ secret }: Settings): Promise<Finding<Secret>> {
  const value = await secret.read();
  const detail = `found in ${describeSecretSource(secret.source)}`;
  return { detail, ...adviceOf(secretWarnings(value)), value };
}

function adviceOf(warnings: readonly string[]): { readonly next?: string } {
  return warnings.length === 0 ? {} : { next: `Warning: ${warnings.join('; ')}.` };
}
