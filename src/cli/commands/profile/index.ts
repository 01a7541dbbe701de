import type { Command } from 'commander';
import { refuseApiPath } from '../../../core/contract/base-url.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { checkFields } from '../../../core/contract/members.js';
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
import { inputName, readJson } from '../../input.js';
import { printAdvice, printMessage, write, writeStyled } from '../../io.js';
import type { OutputStyle } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { confirm } from '../../prompt.js';
import { declareAdd } from './add.js';
import { confirmAddress, confirmIdentifiers } from './confirm-profile.js';
import {
  addSecretOptions,
  promptForSecret,
  type SecretOptions,
  secretFlags,
  secretSourceOf,
  warnOfSecret,
} from './secret-options.js';
import { declareSet } from './set.js';
import { declareShow } from './show.js';

const declareExport = command({
  name: 'export',
  common: ['output'],
  summary: 'print a profile as JSON, to share it',
  takes: (command) => command.argument('<name>', 'the profile'),
  action: async ({ context, io, isTable, print }, name: string) => {
    const profile = await context.profiles.get(name);
    const exported = exportProfile(profile);
    await printMessage(io, `left out: ${leftOut(profile).join(', ')}`);
    if (!isTable) return print(exported);
    await write(io.stdout, `${JSON.stringify(exported, null, 2)}\n`);
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
  action: importProfile,
});

async function importProfile(
  { context, io, options }: Invocation<ImportOptions>,
  file: string,
): Promise<void> {
  const { profiles, prompt } = context;
  const label = inputName(file);
  const json = checkFields(await readJson(context, file), label);
  for (const [member, option] of Object.entries(ownMembers))
    if (Object.hasOwn(json, member)) refuseOwnMember(`${label}: ${member}`, option);
  const { name: nameInFile, ...fields } = checkFields(json, label, ['name', ...sharedFields]);
  const name = options.name ?? String(nameInFile ?? '');
  checkNewName(await profiles.load(), name);
  // The file is checked before anything is asked; the secret follows.
  if (fields.platform !== undefined) parsePlatform(fields.platform, `${label}: platform`);
  const parsed = parseProfile(name, { ...fields, secret: { kind: 'file', value: 'x' } });
  const { profile: imported, notes } = cutIdentifiers(parsed);
  for (const note of notes) await printMessage(io, note);
  refuseApiPath(imported.base_url);
  await confirmIdentifiers(context, imported, options.yes);
  await confirmAddress(context, imported, options.yes);
  let secret = await secretSourceOf(options, context);
  if (secret === undefined) {
    if (!prompt.possible)
      throw new InvalidInputError(`missing: ${secretFlags}`, { hint: `${label} has no secret.` });
    const { host } = new URL(imported.base_url);
    await printMessage(io, `${quoteName(name)} sends digests of its secret to ${host}.`);
    secret = await promptForSecret(context);
  }
  const profile = { ...imported, secret };
  const { active } = await profiles.change((list) => addProfile(list, profile));
  const added = `added ${describeProfile(profile)}`;
  await printMessage(io, active === name ? `${added}, now active` : added);
  await warnOfSecret(context, profile);
}

const takesName = (command: Command) => command.argument('<name>', 'the profile');

const declareList = command({
  name: 'list',
  common: ['output'],
  summary: 'list the profiles',
  action: async ({ context, io, style, isTable, print }) => {
    const { active, profiles } = await context.profiles.load();
    const rows = Array.from(profiles.values(), (profile) => listRow(profile, active));
    if (!isTable) return print(rows);
    if (rows.length === 0) {
      return printAdvice(io, {
        hint: 'There are no profiles yet. Add one:',
        commands: ['userinfo profile add shop'],
      });
    }
    const longest = Math.max(...rows.map(({ name }) => name.length));
    await writeStyled(io.stdout, rows.map((row) => listLine(row, longest, style)).join(''));
  },
});

type ListRow = ReturnType<typeof listRow>;

function listRow(profile: Profile, activeName: string | null) {
  const { name, environment, base_url, tenant_code, channel, app_key } = profile;
  const active = name === activeName;
  return { name, active, environment, base_url, tenant_code, channel, app_key };
}

/** A profile in a line as wide as the terminal at most; `longest` is the length of the names. */
function listLine(
  { name, active, environment, base_url }: ListRow,
  longest: number,
  { colors, columns = Number.POSITIVE_INFINITY }: OutputStyle,
): string {
  // Names, environments and hosts have no wide characters.
  const start = `${active ? '*' : ' '} ${name.padEnd(longest)}  `;
  let rest = `${environment.padEnd(10)}  ${showText(new URL(base_url).host)}`;
  if (start.length + rest.length > columns)
    rest = `${rest.slice(0, Math.max(0, columns - start.length - 1))}…`;
  if (environment === 'production') rest = rest.replace(environment, (text) => colors.red(text));
  return `${start}${rest}\n`;
}

const declareUse = command({
  name: 'use',
  common: [],
  summary: 'switch to a profile',
  takes: takesName,
  action: async ({ context, io }, name: string) => {
    const list = await context.profiles.change((before) => activateProfile(before, name));
    const profile = list.profiles.get(name);
    if (profile !== undefined) await printMessage(io, `now using ${describeProfile(profile)}`);
    const { USERINFO_PROFILE } = io.env;
    if (!USERINFO_PROFILE || USERINFO_PROFILE === name) return;
    const value = `USERINFO_PROFILE is ${quoteName(USERINFO_PROFILE)}`;
    await printMessage(io, `${value} and takes precedence in this shell.`);
  },
});

const declareRename = command({
  name: 'rename',
  common: [],
  summary: 'rename a profile',
  takes: (command) => takesName(command).argument('<new-name>', 'its new name'),
  action: async ({ context, io }, name: string, newName: string) => {
    await context.profiles.change((list) => renameProfile(list, name, newName));
    await printMessage(io, `renamed "${name}" to "${newName}"`);
  },
});

const declareDelete = command({
  name: 'delete',
  common: ['confirm'],
  summary: 'delete a profile',
  takes: takesName,
  action: async ({ context, io, options }, name: string) => {
    const profile = await context.profiles.get(name);
    await confirm(context, `Delete profile ${describeProfile(profile)}?`, options.yes);
    const list = await context.profiles.change((before) => removeProfile(before, name));
    await printMessage(io, `deleted "${name}"`);
    if (list.active !== null || list.profiles.size === 0) return;
    const hint = 'No profile is active now. Select one:';
    await printAdvice(io, { hint, ...selecting(list) });
  },
});

const declarePath = command({
  name: 'path',
  common: ['output'],
  summary: 'print the path of the profile file',
  action: ({ context, io: { stdout }, isTable, print }) => {
    const { path } = context.profiles;
    if (!isTable) return print({ path });
    return write(stdout, `${stdout.isTTY ? showText(path) : path}\n`);
  },
});

export const declareProfile = command({
  name: 'profile',
  common: [],
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
