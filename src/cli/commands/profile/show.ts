import { isDeepStrictEqual } from 'node:util';
import { formatPlatform, type Platform } from '../../../core/platform/platform.js';
import {
  describeOrigin,
  type Setting,
  settingNames,
} from '../../../core/profiles/flags-and-environment.js';
import { describeHeaderSource } from '../../../core/profiles/header-source.js';
import { requestFields } from '../../../core/profiles/profile.js';
import { describeSecretSource, type SecretSource } from '../../../core/profiles/secret-source.js';
import { lackingHeaders, resolveSettings, type Settings } from '../../../core/profiles/settings.js';
import { defaultRecipes, presets } from '../../../core/signing/presets.js';
import type { Recipe } from '../../../core/signing/recipe.js';
import type { EnvironmentVariables } from '../../../core/support/shell.js';
import { command, type Invocation } from '../../command.js';
import { addConnectionOptions, type ConnectionOptions } from '../../command-line/options.js';
import { writeStyled } from '../../io.js';
import { warn } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { settingSources } from '../../request/deployment.js';
import { showProxy } from '../../request/network.js';

export const declareShow = command({
  name: 'show',
  common: ['profile', 'output'],
  summary: 'show the effective values and their sources',
  takes: (command) =>
    addConnectionOptions(command.argument('[name]', 'the profile; the active one by default')),
  action: showProfile,
});

async function showProfile(
  { context, io, options, style, isTable, print }: Invocation<ConnectionOptions>,
  name: string | undefined,
): Promise<void> {
  const flags = { ...options, profile: name ?? options.profile };
  const settings = await resolveSettings(settingSources(context, flags));
  for (const warning of settings.warnings) await warn(io, warning);
  const rows = rowsOf(settings, secretState(settings.secret.source, io.env));
  if (!isTable) {
    const values = rows.map(({ field, value, origin }) => [
      field,
      { value, origin: describeOrigin(origin) },
    ]);
    return print({ profile: settings.profile, ...Object.fromEntries(values) });
  }
  const { formatTable } = await import('../../output/table.js');
  const { colors, columns } = style;
  const cells = rows.map(({ title, value, origin }) => [
    title,
    value === true ? colors.yellow('allowed') : showText(value),
    showText(describeOrigin(origin)),
  ]);
  await writeStyled(io.stdout, formatTable(cells, columns, ['', 'value', 'from']));
}

/** A setting that is set. */
interface Row extends Setting<string | true> {
  /** Its name in JSON. */
  readonly field: string;
  /** Its name for people. */
  readonly title: string;
}

/**
 * The place of the secret, and whether a variable has none. A command is not run: it may ask the
 * user.
 */
function secretState(source: SecretSource, env: EnvironmentVariables): string {
  if (source.kind === 'command')
    return `from ${describeSecretSource(source)} (not run here: "userinfo doctor" runs it)`;
  if (source.kind === 'file' || env[source.name]) return `set, in ${describeSecretSource(source)}`;
  const state = env[source.name] === undefined ? 'not set' : 'empty';
  return `from the variable ${source.name} (${state} here)`;
}

/** The settings that are set, in the order of the table. */
function rowsOf(settings: Settings, secretSource: string): Row[] {
  const { profile, secret, platform, proxy, key_prefix, allow_http } = settings;
  const rows: Row[] = [];
  const add = (field: string, title: string, setting: Setting<string | true> | null) => {
    if (setting !== null) rows.push({ field, title, ...setting });
  };
  const addOfProfile = (field: string, title: string, value: string | null) => {
    if (value === null || profile === null) return;
    add(field, title, { value, origin: { kind: 'profile', name: profile } });
  };
  for (const field of shown) add(field, settingNames[field].title, settings[field]);
  add('app_secret', 'app secret', { value: secretSource, origin: secret.origin });
  if (settings.signing_module === null) add('signing', 'signing', signingSetting(platform));
  else addOfProfile('signing', 'signing', `the module ${settings.signing_module}`);
  addOfProfile('headers', 'headers', describeHeaders(settings));
  add('allow_http', 'plain http', allow_http);
  for (const field of files) add(field, settingNames[field].title, settings[field]);
  if (proxy !== null)
    add('proxy', settingNames.proxy.title, { ...proxy, value: showProxy(proxy.value) });
  addOfProfile('key_prefix', 'key prefix', key_prefix);
  const { signing: _, headers: __, ...others } = formatPlatform(platform.value);
  for (const [field, value] of Object.entries(others)) {
    const setting = { value: describeField(field, value), origin: platform.origin };
    add(field, field.replaceAll('_', ' '), setting);
  }
  return rows;
}

/** The headers with their sources, and those that the platform needs; `null` if there are none. */
function describeHeaders(settings: Settings): string | null {
  const headers = [
    ...Object.entries(settings.headers).map(
      ([name, source]) => `${name} (${describeHeaderSource(source)})`,
    ),
    ...lackingHeaders(settings).map((name) => `${name} (not set)`),
  ];
  return headers.length === 0 ? null : headers.join(', ');
}

/** A field of the platform in a line. */
function describeField(field: string, value: unknown): string {
  if (field === 'result_codes') return Object.keys(value as object).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The recipes of a platform in a line; their origin is not that of a platform without any. */
function signingSetting({ value, origin }: Setting<Platform>): Setting<string> {
  const { app_sign, sign } = value.signing;
  if (isDeepStrictEqual(value.signing, defaultRecipes))
    return { value: 'the default recipes', origin: { kind: 'default' } };
  return {
    value: `app_sign by ${recipeName(app_sign)}, sign by ${recipeName(sign)}`,
    origin,
  };
}

function recipeName(recipe: Recipe): string {
  const preset = presets.find((candidate) => isDeepStrictEqual(candidate.recipe, recipe));
  return preset === undefined ? 'a custom recipe' : `the preset ${preset.name}`;
}

const shown = ['environment', ...requestFields] as const;
const files = ['ca_file', 'client_cert', 'client_key'] as const;
