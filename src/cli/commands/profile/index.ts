import type { Command } from 'commander';
import { describeProfile } from '../../../profiles/profile.js';
import { activateProfile, removeProfile, renameProfile, selecting } from '../../../profiles/profile-store.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { command } from '../../command.js';
import { printAdvice, printMessage, write, writeStyled } from '../../io.js';
import { showText } from '../../output/terminal-text.js';
import { confirm } from '../../prompt.js';
import { declareAdd, declareSet } from './edit.js';
import { declareExport, declareImport } from './share.js';
import { declareShow } from './show.js';

const takesName = (command: Command) => command.argument('<name>', 'the profile');

const declareList = command({
  name: 'list',
  summary: 'list the profiles',
  description:
    'List the profiles, one a line: name, environment and host. The active one has an asterisk. ' +
    '"userinfo profile show" shows all values of one.',
  examples: [
    ['userinfo profile list', 'one a line'],
    ['userinfo profile list --json', 'all values, as a JSON array'],
  ],
  run: async ({ context, io, style, isTable, print }) => {
    const { active, profiles } = await context.profiles.load();
    const rows = [...profiles.values()].map((one) => {
      const { name, environment, base_url, tenant_code, channel, app_key } = one;
      return { name, active: name === active, environment, base_url, tenant_code, channel, app_key };
    });
    if (!isTable) return print(rows);
    if (rows.length === 0) {
      return printAdvice(io, {
        hint: 'There are no profiles yet. Add one:',
        commands: ['userinfo profile add shop'],
      });
    }
    const { columns } = style;
    // Names, environments and hosts have no wide characters.
    const longest = Math.max(...rows.map(({ name }) => name.length));
    const lines = rows.map(({ name, active: isActive, environment, base_url }) => {
      const paint = environment === 'production' ? style.colors.red : (text: string) => text;
      const before = `${isActive ? '*' : ' '} ${name.padEnd(longest)}  `;
      const rest = `${environment.padEnd(10)}  ${showText(new URL(base_url).host)}`;
      const cut = columns !== undefined && before.length + rest.length > columns;
      const shown = cut ? `${rest.slice(0, Math.max(0, columns - before.length - 1))}…` : rest;
      return `${before}${shown.replace(environment, (text) => paint(text))}\n`;
    });
    await writeStyled(io.stdout, lines.join(''));
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
      const advice = {
        hint: 'No profile is active now. Select one:',
        ...selecting({ active, profiles: left }),
      };
      await printAdvice(io, advice);
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
  summary: 'store your deployments: base URLs and credentials',
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
