import { sameDeployment } from '../contract/base-url.js';
import { defaultPlatform, type Platform } from '../platform/platform.js';
import type { Secret } from '../signing/secret.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { CredentialError, ProfileFileError } from './errors.js';
import {
  cutNotes,
  type GivenValues,
  misnamedVariables,
  type Origin,
  readGivenValues,
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
import { readSecret, type SecretSource } from './secret.js';

/** Everything a request needs in addition to its own content, and the source of each value. */
export interface Settings {
  /** The profile in use; `null` if flags and environment variables give every value. */
  readonly profile: string | null;
  /** If `production`: announce it, and ask before writing. */
  readonly environment: Setting<Environment>;
  readonly base_url: Setting<string>;
  readonly tenant_code: Setting<string>;
  readonly channel: Setting<string>;
  readonly app_key: Setting<string>;
  readonly secret: SecretSetting;
  /** What the spec leaves open, as this deployment does it. */
  readonly platform: Setting<Platform>;
  /** Headers of every request, and where their values are. */
  readonly headers: HeaderSources;
  /** The module of the profile that signs in place of the recipes of `platform`. */
  readonly signing_module: string | null;
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
  const { given, list, profile, secret, warnings } = await chooseProfile(sources);
  const fromProfile = <T>(value: T | undefined): Setting<T> | null =>
    profile && value !== undefined
      ? { value, origin: { kind: 'profile', name: profile.name } }
      : null;
  const find = (field: RequiredField) => given[field] ?? fromProfile(profile?.[field]);
  const missing = requestFields.filter((field) => find(field) === null);
  if (missing.length > 0 || secret === null)
    throw missingValues(missing, secret === null, list, sources.env);
  const values = Object.fromEntries(requestFields.map((field) => [field, find(field)])) as Record<
    RequiredField,
    Setting<string>
  >;

  const { base_url } = values;
  const isElsewhere = profile !== null && !sameDeployment(base_url.value, profile.base_url);
  const guarded = decideEnvironment(given, profile, base_url, list.profiles.values());
  return {
    profile: profile?.name ?? null,
    environment: guarded.environment,
    ...values,
    secret,
    ...(await chooseSigning(sources, given, profile)),
    headers: isElsewhere ? {} : (profile?.headers ?? {}),
    key_prefix: profile?.key_prefix ?? null,
    ca_file: given.ca_file ?? fromProfile(profile?.ca_file),
    client_cert: given.client_cert ?? fromProfile(profile?.client_cert),
    client_key: given.client_key ?? fromProfile(profile?.client_key),
    proxy: given.proxy ?? fromProfile(profile?.proxy),
    allow_http: findAllowHttp(sources.flags, profile, base_url),
    warnings: [
      ...misnamedVariables(sources.env),
      ...warnings,
      ...guarded.warnings,
      ...(isElsewhere && profile?.headers
        ? [`the headers of profile "${profile.name}" are sent to its own base URL alone`]
        : []),
    ],
  };
}

/**
 * Whether the profile says what is loaded, sent in headers or trusted on the way: nobody else may
 * write to its file then.
 */
export function isFileTrusted({
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
  const given = Object.keys(headers).map((name) => name.toLowerCase());
  return platform.value.headers.filter((name) => !given.includes(name.toLowerCase()));
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
  const { given, list, profile, secret } = await chooseProfile(sources);
  return {
    profile: profile?.name ?? null,
    ...(await chooseSigning(sources, given, profile)),
    secret() {
      if (secret === null) throw missingValues([], true, list, sources.env);
      return secret;
    },
  };
}

async function chooseProfile(sources: SettingSources) {
  const { flags, env, store } = sources;
  const given = readGivenValues(flags, env);
  const isComplete =
    Boolean(env[secretVariable]) && requestFields.every((field) => given[field] !== null);
  const needsNone = given.profile === null && isComplete;
  const warnings: string[] = [];
  const list = await store.load().catch((error: unknown) => {
    if (!needsNone || !(error instanceof ProfileFileError)) throw error;
    // The file is read for the production guard alone, and may be invalid.
    warnings.push(
      `cannot check whether the base URL belongs to a production profile: ${error.message}`,
    );
    return noProfiles;
  });
  warnings.push(...cutNotes(given, env));
  const selected = needsNone ? null : selectProfile(list, given.profile);
  if (selected === null)
    return { given, list, profile: null, warnings, secret: findSecret(sources, null) };
  const { profile, notes } = cutIdentifiers(selected);
  warnings.push(...notes);
  return { given, list, profile, warnings, secret: findSecret(sources, profile) };
}

/**
 * The platform, and the module of the profile, which signs unless the platform is given besides.
 */
async function chooseSigning(
  { readPlatform }: SettingSources,
  { platform: file }: GivenValues,
  profile: Profile | null,
): Promise<Pick<Settings, 'platform' | 'signing_module'>> {
  if (file !== null)
    return {
      platform: { value: await readPlatform(file.value), origin: file.origin },
      signing_module: null,
    };
  const signing_module = profile?.signing_module ?? null;
  if (profile?.platform === undefined)
    return { platform: { value: defaultPlatform, origin: { kind: 'default' } }, signing_module };
  return {
    platform: { value: profile.platform, origin: { kind: 'profile', name: profile.name } },
    signing_module,
  };
}

/** @throws ProfileError if the profile does not exist */
function selectProfile(list: ProfileList, named: Setting<string> | null): Profile | null {
  if (named === null) return activeProfile(list);
  const { value, origin } = named;
  return findProfile(list, value, origin.kind === 'environment' ? origin.name : undefined);
}

function findSecret(sources: SettingSources, profile: Profile | null): SecretSetting | null {
  const { env, store } = sources;
  const variable = { kind: 'environment', name: secretVariable } as const;
  const source = env[secretVariable] ? variable : profile?.secret;
  if (source === undefined) return null;
  let secret: Promise<Secret> | undefined;
  return {
    source,
    origin: source === variable ? variable : { kind: 'profile', name: profile?.name ?? '' },
    async read() {
      if (source.kind === 'command') store.refuseUnsafeFile();
      secret ??= readSecret(source, env);
      return secret;
    },
  };
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
  const missing = fields.map((field) => {
    const { title, flag, variable } = settingNames[field];
    return `${title} (${flag} or ${variable})`;
  });
  if (needsSecret) missing.push(`app secret (${secretVariable})`);
  const misnamed = misnamedVariables(env).map(
    (warning) => `${warning[0]?.toUpperCase()}${warning.slice(1)} `,
  );
  const isNone = list.profiles.size === 0;
  const advice = isNone
    ? 'Store them in a profile, which prompts for each:'
    : 'No profile is active. Select one with -p, or for all commands:';
  const isAll = isNone && needsSecret && fields.length === requestFields.length;
  const message = isAll ? 'there is no profile yet' : `missing: ${missing.join(', ')}`;
  return new CredentialError(message, {
    hint: misnamed.join('') + (isAll ? 'Add one, which asks for each value:' : advice),
    ...selecting(list),
  });
}
