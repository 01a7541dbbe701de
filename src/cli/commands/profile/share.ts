import { ownMembers, parsePlatform, refuseOwnMember } from '../../../platform/platform.js';
import { describeProfile, type Profile } from '../../../profiles/profile.js';
import { exportProfile, parseProfile, sharedFields } from '../../../profiles/profile-json.js';
import { addProfile, checkNewName } from '../../../profiles/profile-store.js';
import { refuseApiPath } from '../../../protocol/base-url.js';
import { InvalidInputError, quoteName } from '../../../protocol/errors.js';
import { checkFields } from '../../../protocol/fields.js';
import { type Call, command } from '../../command.js';
import { inputName, readJson } from '../../input.js';
import { printMessage, write } from '../../io.js';
import { confirmAddress } from './edit.js';
import {
  addSecretOptions,
  promptForSecret,
  type SecretOptions,
  secretFlags,
  secretSourceOf,
  warnOfSecret,
} from './secret-options.js';

export const declareExport = command({
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

/** Members that an exported profile lacks, besides the app secret and the values of headers. */
const ownWords: Readonly<Record<string, string>> = {
  signing_module: 'the signing module',
  ca_file: 'the CA file',
  client_cert: 'the client certificate',
  proxy: 'the proxy',
  allow_http: 'the permission for plain HTTP',
};

function leftOut(profile: Profile): string[] {
  const headers = Object.keys(profile.headers ?? {}).map((name) => `the value of the header ${name}`);
  const own = Object.entries(ownWords).flatMap(([field, words]) => (field in profile ? [words] : []));
  return ['the app secret', ...headers, ...own];
}

interface ImportOptions extends SecretOptions {
  readonly name?: string;
}

export const declareImport = command({
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

async function importProfile({ context, io, options }: Call<ImportOptions>, file: string): Promise<void> {
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
  const read = parseProfile(name, { ...fields, secret: { kind: 'file', value: 'x' } });
  refuseApiPath(read.base_url);
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
  await printMessage(io, `added ${describeProfile(profile)}${active === name ? ', now active' : ''}`);
  await warnOfSecret(context, profile);
}
