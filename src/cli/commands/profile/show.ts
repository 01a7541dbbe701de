import type { Command } from 'commander';
import { describeOrigin, settingNames } from '../../../profiles/flags-and-environment.js';
import { exportProfile } from '../../../profiles/profile-json.js';
import { describeSecretSource } from '../../../profiles/secret.js';
import { resolveSettings, type Settings } from '../../../profiles/settings.js';
import { describeSigningSource } from '../../../profiles/signing-source.js';
import { shellRunner } from '../../../support/shell.js';
import type { CliContext } from '../../context.js';
import { say, write, writeStyled } from '../../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions, examples } from '../../options.js';
import { printData } from '../../output/print.js';
import { colorsFor, isPlainTable, outputStyle, tableStyle, warn } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';

export function declareProfileList(profile: Command, context: CliContext): void {
  const command = profile
    .command('list')
    .summary('list the profiles')
    .description('List the profiles; the active one is marked with an asterisk.')
    .addHelpText(
      'after',
      examples(['userinfo profile list', 'as a table'], ['userinfo profile list --json', 'as a JSON array']),
    )
    .action(() => runList(context, command.optsWithGlobals()));
}

async function runList({ io, profiles }: CliContext, options: CommonOptions): Promise<void> {
  const style = await outputStyle(options, io);
  const { active, profiles: all } = await profiles.load();
  const rows = [...all.values()].map(({ name, environment, base_url, tenant_code, channel, app_key }) => ({
    name,
    active: name === active,
    environment,
    base_url,
    tenant_code,
    channel,
    app_key,
  }));
  if (!isPlainTable(style)) {
    await printData(rows, io, style);
    return;
  }
  if (rows.length === 0) {
    await say(io, 'There are no profiles yet: "userinfo profile add <name>" adds one.');
    return;
  }
  const { formatTable } = await import('../../output/table.js');
  const colors = colorsFor(io.stdout, io.env, options.color);
  const head = ['', 'name', 'environment', 'base URL', 'tenant code', 'channel', 'app key'];
  const cells = rows.map((row) => [
    row.active ? '*' : '',
    ...[row.name, row.environment, row.base_url, row.tenant_code, row.channel, row.app_key].map(showText),
  ]);
  const painted = cells.map((row) => row.map((cell) => (cell === 'production' ? colors('red', cell) : cell)));
  await writeStyled(io.stdout, formatTable(painted, tableStyle(io, style).columns, head));
}

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
  const shown = (value: Row['value']) => (value === true ? colors('yellow', 'allowed') : showText(value));
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
  const fields = ['environment', 'base_url', 'tenant_code', 'channel', 'app_key'] as const;
  const rows: Row[] = fields.map((field) => ({
    field,
    title: settingNames[field].title,
    value: settings[field].value,
    origin: describeOrigin(settings[field].origin),
  }));
  const holder = settings.profile === null ? 'the default' : `profile "${settings.profile}"`;
  rows.push({
    field: 'app_secret',
    title: 'app secret',
    value: `set, in ${describeSecretSource(settings.secret.source)}`,
    origin: describeOrigin(settings.secret.origin),
  });
  rows.push({
    field: 'signing',
    title: 'signing',
    value: settings.signing === null ? 'the default recipes' : describeSigningSource(settings.signing),
    origin: settings.signing === null ? 'the default' : holder,
  });
  if (settings.allow_http !== null) {
    const { value, origin } = settings.allow_http;
    rows.push({ field: 'allow_http', title: 'plain http', value, origin: describeOrigin(origin) });
  }
  if (settings.ca_file !== null) {
    const { value, origin } = settings.ca_file;
    rows.push({ field: 'ca_file', title: settingNames.ca_file.title, value, origin: describeOrigin(origin) });
  }
  if (settings.key_prefix !== null) {
    rows.push({ field: 'key_prefix', title: 'key prefix', value: settings.key_prefix, origin: holder });
  }
  return rows;
}

export function declareProfileExport(profile: Command, context: CliContext): void {
  profile
    .command('export')
    .summary('print a profile as JSON, without the secret')
    .description('Print a profile as JSON, to share it. An app secret in the profile file is left out.')
    .argument('<name>', 'the profile')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile export shop-test', 'to the terminal'],
        ['userinfo profile export shop-test > shop-test.json', 'to a file'],
      ),
    )
    .action(async (name: string) => {
      const exported = exportProfile(await context.profiles.get(name));
      await write(context.io.stdout, `${JSON.stringify(exported, null, 2)}\n`);
    });
}

export function declareProfilePath(profile: Command, context: CliContext): void {
  profile
    .command('path')
    .summary('print the path of the profile file')
    .description('Print the path of the profile file. USERINFO_CONFIG_DIR names another folder for it.')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile path', 'the file need not exist'],
        ['USERINFO_CONFIG_DIR=./config userinfo profile path', 'in another folder'],
      ),
    )
    .action(() => {
      const { stdout } = context.io;
      const { path } = context.profiles;
      return write(stdout, `${stdout.isTTY ? showText(path) : path}\n`);
    });
}
