import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { parseBaseUrl, refuseApiPath, refusePlainHttp } from '../../../core/contract/base-url.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { headerFromVariable } from '../../../core/platform/headers.js';
import { defaultPlatform, type Platform } from '../../../core/platform/platform.js';
import { settingNames } from '../../../core/profiles/flags-and-environment.js';
import {
  editHeaders,
  type HeaderSources,
  seemsPrivate,
} from '../../../core/profiles/header-source.js';
import {
  type Profile,
  type ProfilePatch,
  parseEnvironment,
} from '../../../core/profiles/profile.js';
import { defaultRecipes } from '../../../core/signing/presets.js';
import type { SigningRecipes } from '../../../core/signing/recipe.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { CliContext } from '../../command.js';
import {
  addConnectionOptions,
  addText,
  type ConnectionOptions,
} from '../../command-line/options.js';
import { readPlatform } from '../../request/deployment.js';
import { parseOpenProxy } from '../../request/network.js';
import { requirePreset } from '../../request/resolve-signing.js';
import { addSecretOptions, type SecretOptions, secretSourceOf } from './secret-options.js';

/** The options that give values to a profile. */
export interface ValueOptions extends ConnectionOptions, SecretOptions {
  readonly signingPreset?: string;
  readonly signingModule?: string;
  readonly header?: readonly string[];
  readonly keyPrefix?: string;
}

export function addValueOptions(command: Command): Command {
  return addSecretOptions(addConnectionOptions(command, 'Values:').optionsGroup('Values:'))
    .option(
      '--signing-preset <names>',
      'sign with presets: sign=NAME, app_sign=NAME, or both with a comma; "default" restores the default recipes',
    )
    .addOption(
      new Option(
        '--signing-module <file>',
        'sign with a JavaScript module, which runs with your permissions',
      ).conflicts('signingPreset'),
    )
    .option(
      '--header <name=source>',
      'header of every request: X-Key=env:VARIABLE, X-Key=command:COMMAND or X-Region=TEXT; X-Key= removes it',
      addText,
    )
    .option(
      '--key-prefix <prefix>',
      'prefix that custom keys should have; other keys cause a warning',
    );
}

/**
 * The values that the options give. `current` is the profile.
 *
 * @throws InvalidInputError for an invalid value, and for a base URL of plain HTTP without
 * --allow-http
 */
export async function patchOf(
  context: CliContext,
  options: ValueOptions,
  current: Profile | undefined,
): Promise<ProfilePatch> {
  const { environment, baseUrl, header, proxy, allowHttp } = options;
  if (baseUrl !== undefined) checkBaseUrl(baseUrl, allowHttp);
  if (proxy) parseOpenProxy(proxy, settingNames.proxy.flag);
  return withoutUndefined({
    environment: environment === undefined ? undefined : parseEnvironment(environment),
    base_url: baseUrl,
    tenant_code: options.tenantCode,
    channel: options.channel,
    app_key: options.appKey,
    secret: await secretSourceOf(options, context),
    platform: await platformOf(context, options, current?.platform ?? defaultPlatform),
    signing_module: moduleOf(options),
    headers: header && headersOf(header, current?.headers),
    key_prefix: removable(options.keyPrefix),
    ca_file: absolute(options.caFile),
    client_cert: absolute(options.clientCert),
    client_key: absolute(options.clientKey),
    proxy: removable(proxy),
    allow_http: permissionOf(options),
  });
}

/** The text of an option; an empty text removes the value. */
function removable(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

/** The absolute path of a file; an empty path removes the value. */
function absolute(path: string | undefined): string | null | undefined {
  return path ? resolve(path) : removable(path);
}

/** The permission for plain HTTP. Another base URL ends one that is not given again. */
function permissionOf({ allowHttp, baseUrl }: ValueOptions): true | null | undefined {
  if (allowHttp === true) return true;
  if (allowHttp === false || baseUrl !== undefined) return null;
  return undefined;
}

/**
 * The platform that the options give, `undefined` if none: that of the file, else `current`, with
 * the presets.
 */
async function platformOf(
  context: CliContext,
  { platform: file, signingPreset }: ValueOptions,
  current: Platform,
): Promise<Platform | undefined> {
  if (file === undefined && signingPreset === undefined) return undefined;
  const platform = await basePlatform(context, file, current);
  if (signingPreset === undefined) return platform;
  return { ...platform, signing: fromPresets(signingPreset, platform.signing) };
}

async function basePlatform(
  context: CliContext,
  file: string | undefined,
  current: Platform,
): Promise<Platform> {
  if (file === undefined) return current;
  return file === '' ? defaultPlatform : readPlatform(context, file);
}

/** The module is not loaded here; presets and a platform file take its place. */
function moduleOf({
  signingModule,
  signingPreset,
  platform,
}: ValueOptions): string | null | undefined {
  const isReplaced = signingPreset !== undefined || platform !== undefined;
  if (signingModule === undefined) return isReplaced ? null : undefined;
  if (signingModule === '') return null;
  const file = resolve(signingModule);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new InvalidInputError(`--signing-module: ${quoteName(signingModule)} is not a file`);
}

/** The headers of a profile with the changes of `--header`; `null` if none is left. */
function headersOf(changes: readonly string[], current: HeaderSources = {}): HeaderSources | null {
  for (const change of changes) {
    const [, name = '', value = ''] =
      /^([^=:]+)[=:]\s*(?!\s|env:|command[:,])(.+)$/s.exec(change) ?? [];
    if (seemsPrivate(name, value) === 'secret') throw plainSecret(name);
  }
  const headers = editHeaders(current, changes);
  return Object.keys(headers).length === 0 ? null : headers;
}

function plainSecret(header: string): InvalidInputError {
  const fromVariable = quoteWhereNeeded(headerFromVariable(header));
  return new InvalidInputError(
    `--header ${header}: the profile file does not store a secret in plain text`,
    {
      hint: `Name a variable that has it, such as --header ${fromVariable}, or a command that prints it.`,
    },
  );
}

function fromPresets(names: string, current: SigningRecipes): SigningRecipes {
  if (names === 'default') return defaultRecipes;
  const chosen = names.split(',').map((choice) => {
    const [, signature = 'sign', name = ''] = /^(?:(app_sign|sign)=)?(.*)$/s.exec(choice) ?? [];
    if (name === '') throw new InvalidInputError(`${quoteName(choice)} names no preset`);
    return [signature, requirePreset(name).recipe];
  });
  return { ...current, ...Object.fromEntries(chosen) };
}

/** @throws InvalidInputError for a base URL to which no command could send */
export function checkBaseUrl(text: string, allowHttp = false): void {
  const baseUrl = parseBaseUrl(text);
  refuseApiPath(baseUrl);
  refusePlainHttp(baseUrl, allowHttp, '--allow-http');
}
