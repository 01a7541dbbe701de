import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../examples.js';
import { say, writeStyled } from '../../io.js';
import type { CommonOptions } from '../../options.js';
import { colorsFor } from '../../output/color.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle, tableStyle } from '../../output/style.js';
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
    await say(io, 'There are no profiles yet: "userinfo profile add <name>" makes one.');
    return;
  }
  const { formatTable } = await import('../../output/table.js');
  const colors = colorsFor(io.stdout, io.env, options.color);
  const head = ['', 'name', 'environment', 'base URL', 'tenant code', 'channel', 'app key'];
  const cells = rows.map((row) => [
    row.active ? '*' : '',
    ...[row.name, row.environment, row.base_url, row.tenant_code, row.channel, row.app_key].map(showText),
  ]);
  const painted = cells.map((row) => row.map((cell) => (cell === 'production' ? colors.red(cell) : cell)));
  await writeStyled(io.stdout, formatTable(painted, tableStyle(io, style).columns, head));
}
