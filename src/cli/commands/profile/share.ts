import { describeProfile } from '../../../profiles/profile.js';
import { exportProfile, parseProfile } from '../../../profiles/profile-json.js';
import { addProfile, checkNewName } from '../../../profiles/profile-store.js';
import { describeSigningSource, usesModule } from '../../../profiles/signing-source.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { type Call, command } from '../../command.js';
import { inputName, readJson } from '../../input.js';
import { printMessage, write } from '../../io.js';
import { confirm } from '../../prompt.js';
import {
  addSecretOptions,
  promptForSecret,
  type SecretOptions,
  secretFlags,
  secretSourceOf,
  warnOfPlainText,
} from './secret-options.js';

export const declareExport = command({
  name: 'export',
  summary: 'print a profile as JSON, without the secret',
  description: 'Print a profile as JSON, to share it. An app secret in the profile file is left out.',
  examples: [
    ['userinfo profile export shop-test', 'to the terminal'],
    ['userinfo profile export shop-test > shop-test.json', 'to a file'],
  ],
  takes: (command) => command.argument('<name>', 'the profile'),
  run: async ({ context, io, isTable, print }, name: string) => {
    const exported = exportProfile(await context.profiles.get(name));
    await (isTable ? write(io.stdout, `${JSON.stringify(exported, null, 2)}\n`) : print(exported));
  },
});

interface ImportOptions extends SecretOptions {
  readonly name?: string;
}

export const declareImport = command({
  name: 'import',
  common: ['confirm'],
  summary: 'add a profile that "profile export" printed',
  description:
    'Add a profile from the JSON of "profile export". A secret in the profile file was not exported: give it. ' +
    'Asks before it adds a command or a module, which would run with your permissions.',
  examples: [
    ['userinfo profile import shop-test.json', 'prompts for the secret'],
    [
      'printf %s "$SHOP_SECRET" | userinfo profile import shop-test.json --name shop-2 --app-secret-stdin',
      'under another name, for a script',
    ],
  ],
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
  const json = await readJson(context, file);
  const { name: itsName, secret: exported, ...fields } = (json ?? {}) as Readonly<Record<string, unknown>>;
  const name = options.name ?? String(itsName ?? '');
  checkNewName(await profiles.load(), name);
  const isHere = (exported as { readonly kind?: unknown } | null | undefined)?.kind !== 'file';
  // The file is checked before anything is asked; a secret that was not exported follows.
  const read = parseProfile(name, { ...fields, secret: isHere ? exported : { kind: 'file', value: 'x' } });
  const given = (await secretSourceOf(options, context)) ?? (isHere ? read.secret : undefined);
  if (given === undefined && !prompt.possible) {
    throw new InvalidInputError(`missing: ${secretFlags}`, { hint: `${inputName(file)} has no secret.` });
  }
  const code = [
    ...(given?.kind === 'command' && options.appSecretCommand === undefined ? [`"${given.command}"`] : []),
    ...(read.signing && usesModule(read.signing) ? [describeSigningSource(read.signing)] : []),
  ];
  if (code.length > 0) {
    const question = `The profile runs code with your permissions: ${code.join('; ')}. Import it?`;
    await confirm(context, question, options.yes);
  }
  const profile = { ...read, secret: given ?? (await promptForSecret(context)) };
  const { active } = await profiles.change((list) => addProfile(list, profile));
  await printMessage(io, `added ${describeProfile(profile)}${active === name ? ', now active' : ''}`);
  await warnOfPlainText(context, profile.secret);
}
