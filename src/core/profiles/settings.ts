import { ServiceAddress, sameDeployment } from '../contract/base-url.js';
import { defaultPlatform, type Platform } from '../platform/platform.js';
import type { Secret } from '../signing/secret.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { CredentialError, ProfileFileError } from './errors.js';
import {
  cutNotes,
  describeOrigin,
  type ExplicitValues,
  misnamedVariables,
  type Origin,
  readExplicitValues,
  type Setting,
  type SettingFlags,
  secretVariable,
  settingNames,
} from './flags-and-environment.js';
import type { HeaderSources } from './header-source.js';
import { decideEnvironment } from './production-guard.js';
import { cutIdentifiers, type Environment, type Profile, requestFields } from './profile.js';
import { noProfiles, type ProfileList } from './profile-json.js';
import { activeProfile, findProfile, type ProfileStore, selecting } from './profile-store.js';
import { readSecret, type SecretSource } from './secret-source.js';

/** Everything a request needs in addition to its own content, and the source of each value. */
export interface Settings {
  /** The profile in use; `null` if flags and environment variables give every value. */
  readonly profile: string | null;
  /** If `production`: announce it, and ask before writing. */
  readonly environment: Setting<Environment>;
  /** The base URL, as `parseBaseUrl` normalizes it. */
  readonly base_url: Setting<string>;
  /**
   * Where requests are sent. The base URL is judged by the first call; later ones return the same.
   *
   * @throws InvalidInputError for a base URL to which nothing may be sent
   */
  readonly address: () => ServiceAddress;
  /** The code of the tenant (§5.3). */
  readonly tenant_code: Setting<string>;
  /** The code of the channel (§5.3). */
  readonly channel: Setting<string>;
  /** The key of the server application (§5.3). */
  readonly app_key: Setting<string>;
  /** Where the app secret is, and how it is read. */
  readonly secret: SecretSetting;
  /** What the spec leaves open, as this deployment does it. */
  readonly platform: Setting<Platform>;
  /** Headers of every request, and where their values are. */
  readonly headers: HeaderSources;
  /** The module of the profile that signs in place of the recipes of `platform`. */
  readonly signing_module: string | null;
  /** The prefix that custom keys should have (§4.2 rule 6). */
  readonly key_prefix: string | null;
  /** PEM file of certificate authorities to trust in addition to Node's. */
  readonly ca_file: Setting<string> | null;
  /** PEM files of the certificate of this client and of its key. */
  readonly client_cert: Setting<string> | null;
  readonly client_key: Setting<string> | null;
  /** Address of an http proxy; `null`: that of HTTPS_PROXY or HTTP_PROXY, if they are set. */
  readonly proxy: Setting<string> | null;
  /** Whether plain HTTP to another machine is allowed; `null` if not. */
  readonly allow_http: Setting<true> | null;
  /** To be shown before anything is sent, one sentence each. */
  readonly warnings: readonly string[];
}

/** Where the app secret is, and how it is read. */
interface SecretSetting {
  readonly source: SecretSource;
  readonly origin: Origin;
  /**
   * Reads the secret. Later calls return the same promise: a command may ask the user.
   *
   * @throws CredentialError
   */
  read(): Promise<Secret>;
}

/** Where settings come from, the first before the others. */
export interface SettingSources {
  readonly flags: SettingFlags;
  readonly env: EnvironmentVariables;
  readonly store: Pick<ProfileStore, 'load' | 'refuseUnsafeFile'>;
  /** Reads a platform file; an empty name is that of the defaults. */
  readPlatform(file: string): Promise<Platform>;
}

type RequiredField = (typeof requestFields)[number];

/**
 * Resolves each setting: flag, environment variable, then profile. The profile is the one selected
 * by -p or USERINFO_PROFILE, else the active one, if a value is still missing.
 *
 * @throws InvalidInputError for an invalid flag or variable, ProfileError for an unknown profile,
 * ProfileFileError for an invalid file that is needed, CredentialError that lists all missing
 * values
 */
export async function resolveSettings(sources: SettingSources): Promise<Settings> {
  const { explicit, list, profile, secret, warnings } = await chooseProfile(sources);
  const find = (field: ProfileSetting) => explicit[field] ?? fromProfile(profile, field);
  const values = {
    base_url: find('base_url'),
    tenant_code: find('tenant_code'),
    channel: find('channel'),
    app_key: find('app_key'),
  };
  if (!isComplete(values) || secret === null) {
    const missing = requestFields.filter((field) => values[field] === null);
    throw missingValues(missing, secret === null, list, sources.env);
  }
  const { base_url } = values;
  const headers = headersFor(base_url.value, profile);
  const guarded = decideEnvironment(explicit, profile, base_url, list.profiles.values());
  const allow_http = findAllowHttp(sources.flags, profile, base_url);
  return {
    profile: profile?.name ?? null,
    environment: guarded.environment,
    ...values,
    address: addressOnce(base_url, allow_http),
    secret,
    ...(await chooseSigning(sources, explicit, profile)),
    headers: headers.sent,
    key_prefix: profile?.key_prefix ?? null,
    ca_file: find('ca_file'),
    client_cert: find('client_cert'),
    client_key: find('client_key'),
    proxy: find('proxy'),
    allow_http,
    warnings: [
      ...misnamedVariables(sources.env),
      ...warnings,
      ...guarded.warnings,
      ...headers.warnings,
    ],
  };
}

/** The settings that flags, variables and profiles have alike. */
type ProfileSetting = RequiredField | 'ca_file' | 'client_cert' | 'client_key' | 'proxy';

function fromProfile(profile: Profile | null, field: ProfileSetting): Setting<string> | null {
  const value = profile?.[field];
  if (profile === null || value === undefined) return null;
  return { value, origin: { kind: 'profile', name: profile.name } };
}

function isComplete(
  values: Readonly<Record<RequiredField, Setting<string> | null>>,
): values is Record<RequiredField, Setting<string>> {
  return requestFields.every((field) => values[field] !== null);
}

/** The headers of a profile are for its own base URL alone. */
function headersFor(
  baseUrl: string,
  profile: Profile | null,
): { readonly sent: HeaderSources; readonly warnings: readonly string[] } {
  if (profile?.headers === undefined) return { sent: {}, warnings: [] };
  if (sameDeployment(baseUrl, profile.base_url)) return { sent: profile.headers, warnings: [] };
  const warning = `the headers of profile "${profile.name}" are sent to its own base URL alone`;
  return { sent: {}, warnings: [warning] };
}

/** Returns the address of a base URL, which is judged by the first call. */
function addressOnce(
  { value, origin }: Setting<string>,
  allow_http: Setting<true> | null,
): () => ServiceAddress {
  let address: ServiceAddress | undefined;
  return () => {
    const permission = { allowHttp: allow_http !== null, option: '--allow-http' };
    address ??= new ServiceAddress(value, permission, `the base URL (${describeOrigin(origin)})`);
    return address;
  };
}

/**
 * Whether nobody else may write to the profile file: the profile says what is loaded, sent in
 * headers or trusted on the way.
 */
export function needsSafeFile({
  signing_module,
  headers,
  proxy,
  ca_file,
  client_cert,
}: Settings): boolean {
  const isNamed = signing_module !== null || Object.keys(headers).length > 0;
  return (
    isNamed || [proxy, ca_file, client_cert].some((setting) => setting?.origin.kind === 'profile')
  );
}

/** The names of headers that the platform needs, and that are not set. */
export function lackingHeaders({
  headers,
  platform,
}: Pick<Settings, 'headers' | 'platform'>): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return platform.value.headers.filter((name) => !names.includes(name.toLowerCase()));
}

/** The settings needed to sign, but not to send. */
export interface SigningSettings extends Pick<Settings, 'profile' | 'platform' | 'signing_module'> {
  /** @throws CredentialError if there is none */
  secret(): SecretSetting;
}

/**
 * Resolves the settings of commands that sign but do not send. The profile is chosen as in
 * `resolveSettings`.
 *
 * @throws as `resolveSettings`, except for missing values
 */
export async function resolveSigning(sources: SettingSources): Promise<SigningSettings> {
  const { explicit, list, profile, secret } = await chooseProfile(sources);
  return {
    profile: profile?.name ?? null,
    ...(await chooseSigning(sources, explicit, profile)),
    secret() {
      if (secret === null) throw missingValues([], true, list, sources.env);
      return secret;
    },
  };
}

/** The profile in use, and what is known besides of the settings. */
interface ProfileChoice {
  /** The values of flags and variables. */
  readonly explicit: ExplicitValues;
  readonly list: ProfileList;
  /** `null` if no profile is in use. */
  readonly profile: Profile | null;
  /** `null` if there is none. */
  readonly secret: SecretSetting | null;
  readonly warnings: readonly string[];
}

async function chooseProfile(sources: SettingSources): Promise<ProfileChoice> {
  const { flags, env, store } = sources;
  const explicit = readExplicitValues(flags, env);
  const hasAllValues = Boolean(env[secretVariable]) && isComplete(explicit);
  const needsNone = explicit.profile === null && hasAllValues;
  const warnings: string[] = [];
  const list = await store.load().catch((error: unknown) => {
    if (!needsNone || !(error instanceof ProfileFileError)) throw error;
    // The file is read for the production guard alone, and may be invalid.
    warnings.push(
      `cannot check whether the base URL belongs to a production profile: ${error.message}`,
    );
    return noProfiles;
  });
  warnings.push(...cutNotes(explicit, env));
  const selected = needsNone ? null : selectProfile(list, explicit.profile);
  if (selected === null)
    return { explicit, list, profile: null, warnings, secret: findSecret(sources, null) };
  const { profile, notes } = cutIdentifiers(selected);
  warnings.push(...notes);
  return { explicit, list, profile, warnings, secret: findSecret(sources, profile) };
}

/**
 * The platform, and the module of the profile, which signs unless a flag or a variable names a platform file.
 */
async function chooseSigning(
  { readPlatform }: SettingSources,
  { platform: file }: ExplicitValues,
  profile: Profile | null,
): Promise<Pick<Settings, 'platform' | 'signing_module'>> {
  if (file !== null) {
    const platform = { value: await readPlatform(file.value), origin: file.origin };
    return { platform, signing_module: null };
  }
  return { platform: platformOf(profile), signing_module: profile?.signing_module ?? null };
}

function platformOf(profile: Profile | null): Setting<Platform> {
  if (profile?.platform === undefined)
    return { value: defaultPlatform, origin: { kind: 'default' } };
  return { value: profile.platform, origin: { kind: 'profile', name: profile.name } };
}

/** @throws ProfileError if the profile does not exist */
function selectProfile(list: ProfileList, named: Setting<string> | null): Profile | null {
  if (named === null) return activeProfile(list);
  const { value, origin } = named;
  if (origin.kind === 'environment') return findProfile(list, value, origin.name);
  return findProfile(list, value);
}

function findSecret(sources: SettingSources, profile: Profile | null): SecretSetting | null {
  const { env, store } = sources;
  if (env[secretVariable]) {
    const variable = { kind: 'environment', name: secretVariable } as const;
    return { source: variable, origin: variable, read: readOnce(variable) };
  }
  if (profile === null) return null;
  const { name, secret } = profile;
  return { source: secret, origin: { kind: 'profile', name }, read: readOnce(secret) };

  function readOnce(source: SecretSource): () => Promise<Secret> {
    let read: Promise<Secret> | undefined;
    return async () => {
      if (source.kind === 'command') store.refuseUnsafeFile();
      read ??= readSecret(source, env);
      return read;
    };
  }
}

/**
 * The permission of a profile applies to its own base URL only, not to that of a flag or a
 * variable.
 */
function findAllowHttp(
  { allowHttp }: SettingFlags,
  profile: Profile | null,
  base_url: Setting<string>,
): Setting<true> | null {
  if (allowHttp) return { value: true, origin: { kind: 'flag', name: '--allow-http' } };
  if (!profile?.allow_http || base_url.origin.kind !== 'profile') return null;
  return { value: true, origin: base_url.origin };
}

function missingValues(
  fields: readonly RequiredField[],
  needsSecret: boolean,
  list: ProfileList,
  env: EnvironmentVariables,
): CredentialError {
  const hasNoProfile = list.profiles.size === 0;
  const areAllMissing = needsSecret && fields.length === requestFields.length;
  if (hasNoProfile && areAllMissing) return noProfileYet(list, env);
  const missing = fields.map((field) => {
    const { title, flag, variable } = settingNames[field];
    return `${title} (${flag} or ${variable})`;
  });
  if (needsSecret) missing.push(`app secret (${secretVariable})`);
  const advice = hasNoProfile
    ? 'Store them in a profile, which prompts for each:'
    : 'No profile is active. Select one with -p, or for all commands:';
  return new CredentialError(`missing: ${missing.join(', ')}`, {
    hint: [...misnamedHints(env), advice].join(' '),
    ...selecting(list),
  });
}

function noProfileYet(list: ProfileList, env: EnvironmentVariables): CredentialError {
  const advice = 'Add one, which asks for each value, or start a service to try:';
  return new CredentialError('there is no profile yet', {
    hint: [...misnamedHints(env), advice].join(' '),
    commands: [...selecting(list).commands, 'userinfo serve --demo'],
  });
}

/** What is said of misnamed variables, as sentences. */
function misnamedHints(env: EnvironmentVariables): string[] {
  return misnamedVariables(env).map((warning) => `${warning[0]?.toUpperCase()}${warning.slice(1)}`);
}
