import type { Command } from 'commander';
import { refuseApiPath } from '../../../core/contract/base-url.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { checkFields } from '../../../core/contract/fields.js';
import { ownMembers, parsePlatform, refuseOwnMember } from '../../../core/platform/platform.js';
import { cutIdentifiers, describeProfile, type Profile } from '../../../core/profiles/profile.js';
import { exportProfile, parseProfile, sharedFields } from '../../../core/profiles/profile-json.js';
import {
  activateProfile,
  addProfile,
  checkNewName,
  removeProfile,
  renameProfile,
  selecting,
} from '../../../core/profiles/profile-store.js';
import { command, type Invocation } from '../../command.js';
import { inputName, printAdvice, printMessage, readJson, write, writeStyled } from '../../io.js';
import { showText } from '../../output/terminal-text.js';
import { confirm } from '../../prompt.js';
import { confirmAddress, confirmIdentifiers, declareAdd, declareSet } from './edit.js';
import {
  addSecretOptions,
  promptForSecret,
  type SecretOptions,
  secretFlags,
  secretSourceOf,
  warnOfSecret,
} from './secret-options.js';
import { declareShow } from './show.js';

const declareExport = command({
  name: 'export',
  summary: 'print a profile as JSON, to share it',
  takes: (command) => command.argument('<name>', 'the profile'),
  run: async ({ context, io, isTable, print }, name: string) => {
    const profile = await context.profiles.get(name);
    const exported = exportProfile(profile);
    await printMessage(io, `left out: ${leftOut(profile).join(', ')}`);
    await (isTable ? write(io.stdout, `${JSON.stringify(exported, null, 2)}\n`) : print(exported));
  },
});

/** What an exported profile lacks. */
function leftOut({ secret: _, headers = {}, ...others }: Profile): string[] {
  const values = Object.keys(headers).map((name) => `the value of the header ${name}`);
  return [
    'the app secret',
    ...values,
    ...Object.keys(others).filter((field) => field in ownMembers),
  ];
}

interface ImportOptions extends SecretOptions {
  readonly name?: string;
}

const declareImport = command({
  name: 'import',
  common: ['confirm'],
  summary: 'add a profile that "profile export" printed',
  takes: (command) =>
    addSecretOptions(
      command
        .argument('<file>', 'file of JSON')
        .option('--name <name>', 'name of the new profile (default: that of the file)'),
    ),
  run: importProfile,
});

async function importProfile(
  { context, io, options }: Invocation<ImportOptions>,
  file: string,
): Promise<void> {
  const { profiles, prompt } = context;
  const label = inputName(file);
  const given = checkFields(await readJson(context, file), label);
  for (const [member, option] of Object.entries(ownMembers))
    if (Object.hasOwn(given, member)) refuseOwnMember(`${label}: ${member}`, option);
  const { name: itsName, ...fields } = checkFields(given, label, ['name', ...sharedFields]);
  const name = options.name ?? String(itsName ?? '');
  checkNewName(await profiles.load(), name);
  // The file is checked before anything is asked; the secret follows.
  if (fields.platform !== undefined) parsePlatform(fields.platform, `${label}: platform`);
  const parsed = parseProfile(name, { ...fields, secret: { kind: 'file', value: 'x' } });
  const { profile: read, notes } = cutIdentifiers(parsed);
  for (const note of notes) await printMessage(io, note);
  refuseApiPath(read.base_url);
  await confirmIdentifiers(context, read, options.yes);
  await confirmAddress(context, read, options.yes);
  const chosen = await secretSourceOf(options, context);
  if (chosen === undefined && !prompt.possible)
    throw new InvalidInputError(`missing: ${secretFlags}`, { hint: `${label} has no secret.` });
  if (chosen === undefined)
    await printMessage(
      io,
      `${quoteName(name)} sends digests of its secret to ${new URL(read.base_url).host}.`,
    );
  const profile = { ...read, secret: chosen ?? (await promptForSecret(context)) };
  const { active } = await profiles.change((list) => addProfile(list, profile));
  await printMessage(
    io,
    `added ${describeProfile(profile)}${active === name ? ', now active' : ''}`,
  );
  await warnOfSecret(context, profile);
}

const takesName = (command: Command) => command.argument('<name>', 'the profile');

const declareList = command({
  name: 'list',
  summary: 'list the profiles',
  run: async ({ context, io, style, isTable, print }) => {
    const { active, profiles } = await context.profiles.load();
    const rows = [...profiles.values()].map((one) => {
      const { name, environment, base_url, tenant_code, channel, app_key } = one;
      return {
        name,
        active: name === active,
        environment,
        base_url,
        tenant_code,
        channel,
        app_key,
      };
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
    const profile = (
      await context.profiles.change((list) => activateProfile(list, name))
    ).profiles.get(name);
    if (profile !== undefined) await printMessage(io, `now using ${describeProfile(profile)}`);
    const named = io.env.USERINFO_PROFILE;
    if (!named || named === name) return;
    await printMessage(
      io,
      `USERINFO_PROFILE is ${quoteName(named)} and takes precedence in this shell.`,
    );
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
    const { active, profiles: left } = await context.profiles.change((list) =>
      removeProfile(list, name),
    );
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
  help: () => import('./help.txt?raw'),
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
