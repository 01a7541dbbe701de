import type { Command } from 'commander';
import { describeProfile } from '../../../profiles/profile.js';
import { activateProfile, removeProfile, renameProfile, selecting } from '../../../profiles/profile-store.js';
import { quoteName } from '../../../protocol/errors.js';
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
  run: ({ context, io: { stdout }, isTable, print }) => {
    const { path } = context.profiles;
    if (!isTable) return print({ path });
    return write(stdout, `${stdout.isTTY ? showText(path) : path}\n`);
  },
});

export const declareProfile = command({
  name: 'profile',
  summary: 'store your deployments: base URLs and credentials',
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
