import { isDeepStrictEqual } from 'node:util';
import { formatPlatform } from '../../../core/platform/platform.js';
import {
  describeOrigin,
  type Setting,
  settingNames,
} from '../../../core/profiles/flags-and-environment.js';
import { describeHeaderSource } from '../../../core/profiles/header-source.js';
import { requestFields } from '../../../core/profiles/profile.js';
import { describeSecretSource, type SecretSource } from '../../../core/profiles/secret.js';
import { lackingHeaders, resolveSettings, type Settings } from '../../../core/profiles/settings.js';
import { defaultRecipes, presets } from '../../../core/signing/presets.js';
import type { Recipe, SigningRecipes } from '../../../core/signing/recipe.js';
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
  run,
});

async function run(
  { context, io, options, style, isTable, print }: Invocation<ConnectionOptions>,
  name: string | undefined,
): Promise<void> {
  const flags = { ...options, profile: name ?? options.profile };
  const settings = await resolveSettings(settingSources(context, flags));
  for (const warning of settings.warnings) await warn(io, warning);
  const rows = rowsOf(settings, describeSecret(settings.secret.source, io.env));
  if (!isTable) {
    const values = rows.map(([field, , { value, origin }]) => [
      field,
      { value, origin: describeOrigin(origin) },
    ]);
    return print({ profile: settings.profile, ...Object.fromEntries(values) });
  }
  const { formatTable } = await import('../../output/table.js');
  const { colors, columns } = style;
  const cells = rows.map(([, title, { value, origin }]) => [
    title,
    value === true ? colors.yellow('allowed') : showText(value),
    showText(describeOrigin(origin)),
  ]);
  await writeStyled(io.stdout, formatTable(cells, columns, ['', 'value', 'from']));
}

type Row<Value> = readonly [field: string, title: string, setting: Value];

/**
 * The place of the secret, and whether a variable has none. A command is not run: it may ask the
 * user.
 */
function describeSecret(source: SecretSource, env: EnvironmentVariables): string {
  if (source.kind === 'command')
    return `from ${describeSecretSource(source)} (not run here: "userinfo doctor" runs it)`;
  if (source.kind === 'file' || env[source.name]) return `set, in ${describeSecretSource(source)}`;
  return `from the variable ${source.name} (${env[source.name] === undefined ? 'not set' : 'empty'} here)`;
}

/** The settings that are set, in the order of the table. */
function rowsOf(settings: Settings, secretSource: string): Row<Setting<string | true>>[] {
  const { profile, secret, platform, proxy, key_prefix, signing_module } = settings;
  const ofProfile = (value: string | null): Setting<string> | null =>
    value === null || profile === null
      ? null
      : { value, origin: { kind: 'profile', name: profile } };
  const { signing, headers: _, ...others } = formatPlatform(platform.value);
  const rule =
    signing_module === null
      ? {
          value: describeSigning(platform.value.signing),
          origin: signing === undefined ? ({ kind: 'default' } as const) : platform.origin,
        }
      : ofProfile(`the module ${signing_module}`);
  const headers = [
    ...Object.entries(settings.headers).map(
      ([name, source]) => `${name} (${describeHeaderSource(source)})`,
    ),
    ...lackingHeaders(settings).map((name) => `${name} (not set)`),
  ];
  const fields = Object.entries(others).map(([field, value]): Row<Setting<string>> => {
    const setting = { value: describeField(field, value), origin: platform.origin };
    return [field, field.replaceAll('_', ' '), setting];
  });
  const rows: Row<Setting<string | true> | null>[] = [
    ...shown.map(
      (field): Row<Setting<string>> => [field, settingNames[field].title, settings[field]],
    ),
    ['app_secret', 'app secret', { value: secretSource, origin: secret.origin }],
    ['signing', 'signing', rule],
    ['headers', 'headers', headers.length === 0 ? null : ofProfile(headers.join(', '))],
    ['allow_http', 'plain http', settings.allow_http],
    ...files.map(
      (field): Row<Setting<string> | null> => [field, settingNames[field].title, settings[field]],
    ),
    ['proxy', settingNames.proxy.title, proxy && { ...proxy, value: showProxy(proxy.value) }],
    ['key_prefix', 'key prefix', ofProfile(key_prefix)],
    ...fields,
  ];
  return rows.filter((row): row is Row<Setting<string | true>> => row[2] !== null);
}

/** A field of the platform in a line. */
function describeField(field: string, value: unknown): string {
  if (field === 'result_codes') return Object.keys(value as object).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The recipes of a platform, in a line. */
function describeSigning(recipes: SigningRecipes): string {
  if (isDeepStrictEqual(recipes, defaultRecipes)) return 'the default recipes';
  const describe = (recipe: Recipe) => {
    const preset = presets.find((known) => isDeepStrictEqual(known.recipe, recipe));
    return preset === undefined ? 'a custom recipe' : `the preset ${preset.name}`;
  };
  return `app_sign by ${describe(recipes.app_sign)}, sign by ${describe(recipes.sign)}`;
}

const shown = ['environment', ...requestFields] as const;
const files = ['ca_file', 'client_cert', 'client_key'] as const;
