import type { Command } from 'commander';
import { describeOrigin, settingNames } from '../../../profiles/given-values.js';
import { shellRunner } from '../../../profiles/run-command.js';
import { describeSecretSource } from '../../../profiles/secret-source.js';
import { resolveSettings, type Settings } from '../../../profiles/settings.js';
import { describeSigningSource } from '../../../profiles/signing-source.js';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { write } from '../../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions } from '../../options.js';
import { colorsFor } from '../../output/color.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle, tableStyle } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { warn } from '../../output/warn.js';

export function declareProfileShow(profile: Command, context: CliContext): void {
  const command = profile
    .command('show')
    .summary('show the effective values and their sources')
    .description(
      'Show the values that a command would use now. A flag overrides an environment variable, which overrides the profile.',
    )
    .argument('[name]', 'the profile; the active one by default');
  addConnectionOptions(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo profile show', 'the active profile'],
        ['USERINFO_CHANNEL=app userinfo profile show --json', 'with one value from a variable'],
      ),
    )
    .action((name: string | undefined) => runShow(context, name, command.optsWithGlobals()));
}

async function runShow(
  { io, profiles }: CliContext,
  name: string | undefined,
  options: CommonOptions & ConnectionOptions,
): Promise<void> {
  const style = await outputStyle(options, io);
  const settings = await resolveSettings({
    flags: { ...options, profile: name ?? options.profile },
    env: io.env,
    run: shellRunner(io.env),
    store: profiles,
  });
  for (const warning of settings.warnings) await warn(io, warning);
  const rows = rowsOf(settings);
  if (!isPlainTable(style)) {
    const values = rows.map(({ field, value, origin }) => [field, { value, origin }]);
    await printData({ profile: settings.profile, ...Object.fromEntries(values) }, io, style);
    return;
  }
  const { formatTable } = await import('../../output/table.js');
  const colors = colorsFor(io.stdout, io.env, options.color);
  const shown = (value: Row['value']) => (value === true ? colors.yellow('allowed') : showText(value));
  const cells = rows.map(({ words, value, origin }) => [words, shown(value), showText(origin)]);
  await write(io.stdout, formatTable(cells, tableStyle(io, style).columns, ['', 'value', 'from']));
}

interface Row {
  readonly field: string;
  readonly words: string;
  readonly value: string | true;
  readonly origin: string;
}

function rowsOf(settings: Settings): Row[] {
  const fields = ['environment', 'base_url', 'tenant_code', 'channel', 'app_key'] as const;
  const rows: Row[] = fields.map((field) => ({
    field,
    words: settingNames[field].words,
    value: settings[field].value,
    origin: describeOrigin(settings[field].origin),
  }));
  const holder = settings.profile === null ? 'the default' : `profile "${settings.profile}"`;
  rows.push({
    field: 'app_secret',
    words: 'app secret',
    value: `set, in ${describeSecretSource(settings.secret.source)}`,
    origin: describeOrigin(settings.secret.origin),
  });
  rows.push({
    field: 'signing',
    words: 'signing',
    value: settings.signing === null ? 'the default recipes' : describeSigningSource(settings.signing),
    origin: settings.signing === null ? 'the default' : holder,
  });
  if (settings.allow_http !== null) {
    const { value, origin } = settings.allow_http;
    rows.push({ field: 'allow_http', words: 'plain http', value, origin: describeOrigin(origin) });
  }
  if (settings.ca_file !== null) {
    const { value, origin } = settings.ca_file;
    rows.push({ field: 'ca_file', words: settingNames.ca_file.words, value, origin: describeOrigin(origin) });
  }
  if (settings.key_prefix !== null) {
    rows.push({ field: 'key_prefix', words: 'key prefix', value: settings.key_prefix, origin: holder });
  }
  return rows;
}
