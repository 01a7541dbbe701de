import type { Command } from 'commander';
import { describeOrigin, type Setting, settingNames } from '../../../profiles/flags-and-environment.js';
import { describeSecretSource } from '../../../profiles/secret.js';
import { resolveSettings, type Settings } from '../../../profiles/settings.js';
import { describeSigningSource } from '../../../profiles/signing-source.js';
import { shellRunner } from '../../../support/shell.js';
import { addCommand, type Call } from '../../command.js';
import type { CliContext } from '../../context.js';
import { write } from '../../io.js';
import { addConnectionOptions, type ConnectionOptions } from '../../options.js';
import { colorsFor, tableStyle, warn } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';

export function declareShow(profile: Command, context: CliContext): void {
  addCommand(profile, context, {
    name: 'show',
    common: ['profile', 'output'],
    summary: 'show the effective values and their sources',
    description:
      'Show the values that a command would use now. A flag overrides an environment variable, which overrides the profile.',
    examples: [
      ['userinfo profile show', 'the active profile'],
      ['USERINFO_CHANNEL=app userinfo profile show --json', 'with one value from a variable'],
    ],
    takes: (command) =>
      addConnectionOptions(command.argument('[name]', 'the profile; the active one by default')),
    run,
  });
}

async function run(
  { context, io, options, style, isTable, print }: Call<ConnectionOptions>,
  name: string | undefined,
): Promise<void> {
  const settings = await resolveSettings({
    flags: { ...options, profile: name ?? options.profile },
    env: io.env,
    run: shellRunner(io.env),
    store: context.profiles,
  });
  for (const warning of settings.warnings) await warn(io, warning);
  const rows = rowsOf(settings);
  if (!isTable) {
    const values = rows.map(({ field, value, origin }) => [field, { value, origin }]);
    return print({ profile: settings.profile, ...Object.fromEntries(values) });
  }
  const { formatTable } = await import('../../output/table.js');
  const colors = colorsFor(io.stdout, io.env, options.color);
  const shown = (value: Row['value']) => (value === true ? colors.yellow('allowed') : showText(value));
  const cells = rows.map(({ title, value, origin }) => [title, shown(value), showText(origin)]);
  await write(io.stdout, formatTable(cells, tableStyle(io, style).columns, ['', 'value', 'from']));
}

interface Row {
  readonly field: string;
  readonly title: string;
  readonly value: string | true;
  readonly origin: string;
}

function rowsOf(settings: Settings): Row[] {
  const { profile, secret, signing, allow_http, ca_file, key_prefix, result_codes } = settings;
  const row = (field: string, title: string, { value, origin }: Setting<string | true>): Row => ({
    field,
    title,
    value,
    origin: describeOrigin(origin),
  });
  const fields = ['environment', 'base_url', 'tenant_code', 'channel', 'app_key'] as const;
  const ofProfile =
    profile === null ? ({ kind: 'default' } as const) : ({ kind: 'profile', name: profile } as const);
  const kept = { value: `set, in ${describeSecretSource(secret.source)}`, origin: secret.origin };
  const signed =
    signing === null
      ? ({ value: 'the default recipes', origin: { kind: 'default' } } as const)
      : { value: describeSigningSource(signing), origin: ofProfile };
  return [
    ...fields.map((field) => row(field, settingNames[field].title, settings[field])),
    row('app_secret', 'app secret', kept),
    row('signing', 'signing', signed),
    ...(allow_http === null ? [] : [row('allow_http', 'plain http', allow_http)]),
    ...(ca_file === null ? [] : [row('ca_file', settingNames.ca_file.title, ca_file)]),
    ...(key_prefix === null
      ? []
      : [row('key_prefix', 'key prefix', { value: key_prefix, origin: ofProfile })]),
    ...(result_codes === null
      ? []
      : [
          row('result_codes', 'result codes', {
            value: Object.keys(result_codes).join(', '),
            origin: ofProfile,
          }),
        ]),
  ];
}
