import type { Command } from 'commander';
import { describeProfile } from '../../../profiles/profile.js';
import { activateProfile, removeProfile, renameProfile } from '../../../profiles/profile-store.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { command } from '../../command.js';
import { printMessage, write, writeStyled } from '../../io.js';
import { showText } from '../../output/terminal-text.js';
import { confirm } from '../../prompt.js';
import { declareAdd, declareSet } from './edit.js';
import { declareExport, declareImport } from './share.js';
import { declareShow } from './show.js';

const takesName = (command: Command) => command.argument('<name>', 'the profile');

const declareList = command({
  name: 'list',
  summary: 'list the profiles',
  description: 'List the profiles; the active one is marked with an asterisk.',
  examples: [
    ['userinfo profile list', 'as a table'],
    ['userinfo profile list --json', 'as a JSON array'],
  ],
  run: async ({ context, io, style, isTable, print }) => {
    const { active, profiles } = await context.profiles.load();
    const rows = [...profiles.values()].map((one) => {
      const { name, environment, base_url, tenant_code, channel, app_key } = one;
      return { name, active: name === active, environment, base_url, tenant_code, channel, app_key };
    });
    if (!isTable) return print(rows);
    if (rows.length === 0) {
      return printMessage(io, 'There are no profiles yet: "userinfo profile add <name>" adds one.');
    }
    const { formatTable } = await import('../../output/table.js');
    const { colors, columns } = style;
    const cells = rows.map(({ active: isActive, ...row }) => [
      isActive ? '*' : '',
      ...Object.values(row).map((value) => (value === 'production' ? colors.red(value) : showText(value))),
    ]);
    const head = ['', 'name', 'environment', 'base URL', 'tenant code', 'channel', 'app key'];
    await writeStyled(io.stdout, formatTable(cells, columns, head));
  },
});

const declareUse = command({
  name: 'use',
  common: [],
  summary: 'switch to a profile',
  description:
    'Make a profile the active one, which commands use unless -p or USERINFO_PROFILE names another.',
  examples: [
    ['userinfo profile use shop-test', 'switch to the test deployment'],
    ['userinfo profile use shop', 'and back'],
  ],
  takes: takesName,
  run: async ({ context, io }, name: string) => {
    const profile = (await context.profiles.change((list) => activateProfile(list, name))).profiles.get(name);
    if (profile !== undefined) await printMessage(io, `now using ${describeProfile(profile)}`);
    const named = io.env.USERINFO_PROFILE;
    if (!named || named === name) return;
    await printMessage(io, `USERINFO_PROFILE is ${quoteName(named)} and takes precedence in this shell.`);
  },
});

const declareRename = command({
  name: 'rename',
  common: [],
  summary: 'rename a profile',
  description: 'Rename a profile. An active profile stays active.',
  examples: [
    ['userinfo profile rename shop shop-live', 'rename it'],
    ['userinfo profile rename shop-live shop', 'and back'],
  ],
  takes: (command) => takesName(command).argument('<new-name>', 'its new name'),
  run: async ({ context, io }, name: string, newName: string) => {
    await context.profiles.change((list) => renameProfile(list, name, newName));
    await printMessage(io, `renamed "${name}" to "${newName}"`);
  },
});

const declareDelete = command({
  name: 'delete',
  common: ['confirm'],
  summary: 'delete a profile',
  description: 'Delete a profile, and its app secret if the profile file holds it. Asks first.',
  examples: [
    ['userinfo profile delete shop-test', 'asks for confirmation'],
    ['userinfo profile delete shop --yes', 'without asking'],
  ],
  takes: takesName,
  run: async ({ context, io, options }, name: string) => {
    const profile = await context.profiles.get(name);
    await confirm(context, `Delete profile ${describeProfile(profile)}?`, options.yes);
    const { active, profiles: left } = await context.profiles.change((list) => removeProfile(list, name));
    await printMessage(io, `deleted "${name}"`);
    if (active === null && left.size > 0) {
      await printMessage(io, 'No profile is active now: "userinfo profile use" selects one.');
    }
  },
});

const declarePath = command({
  name: 'path',
  summary: 'print the path of the profile file',
  description: 'Print the path of the profile file. USERINFO_CONFIG_DIR names another folder for it.',
  examples: [
    ['userinfo profile path', 'the file need not exist'],
    ['USERINFO_CONFIG_DIR=./config userinfo profile path', 'in another folder'],
  ],
  run: ({ context, io: { stdout }, isTable, print }) => {
    const { path } = context.profiles;
    if (!isTable) return print({ path });
    return write(stdout, `${stdout.isTTY ? showText(path) : path}\n`);
  },
});

export const declareProfile = command({
  name: 'profile',
  summary: 'manage profiles: base URLs and credentials of your deployments',
  description: 'A profile holds what one application needs to call one deployment.',
  examples: [
    ['userinfo profile add shop', 'prompts for each value'],
    ['userinfo profile list', 'all profiles; the active one is marked'],
    ['userinfo profile use shop', 'commands use this profile from now on'],
  ],
  commands: [
    declareAdd,
    declareList,
    declareShow,
    declareUse,
    declareSet,
    declareRename,
    declareDelete,
    declareExport,
    declareImport,
    declarePath,
  ],
});
