import type { Platform } from '../../../platform/platform.js';
import { describeSigningSource, usesModule } from '../../../platform/signing-source.js';
import { describeProfile, type Profile } from '../../../profiles/profile.js';
import { exportProfile, parseProfile } from '../../../profiles/profile-json.js';
import { addProfile, checkNewName } from '../../../profiles/profile-store.js';
import { describeSecretSource } from '../../../profiles/secret.js';
import { refuseApiPath } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
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
  warnOfSecret,
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
    const profile = await context.profiles.get(name);
    const exported = exportProfile(profile);
    const left = Object.entries(profile.platform?.headers ?? {}).filter(
      ([, value]) => typeof value === 'string',
    );
    if (left.length > 0) {
      const names = left.map(([header]) => header).join(', ');
      await printMessage(io, `left out, as they may be secret: the values of the headers ${names}`);
    }
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
    'Asks first if the file names the secret, a command or a module: digests of the secret go to its base URL, and ' +
    'code runs with your permissions.',
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
  refuseApiPath(read.base_url);
  const chosen = await secretSourceOf(options, context);
  const given = chosen ?? (isHere ? read.secret : undefined);
  if (given === undefined && !prompt.possible) {
    throw new InvalidInputError(`missing: ${secretFlags}`, { hint: `${inputName(file)} has no secret.` });
  }
  const risks = risksOf(read, chosen === undefined && isHere);
  if (risks.length > 0) await confirm(context, `${risks.join(' ')} Import it?`, options.yes);
  if (given === undefined) {
    await printMessage(io, `${quoteName(name)} sends digests of its secret to ${destination(read)}.`);
  }
  const profile = { ...read, secret: given ?? (await promptForSecret(context)) };
  const { active } = await profiles.change((list) => addProfile(list, profile));
  const plain = profile.allow_http ? ', over plain HTTP' : '';
  await printMessage(io, `added ${describeProfile(profile)}${plain}${active === name ? ', now active' : ''}`);
  // A command that the file names is run when the profile is used, not before.
  if (chosen !== undefined || profile.secret.kind !== 'command') await warnOfSecret(context, profile);
}

/** Surprises of a profile that somebody else wrote; `choosesSecret`: its file names the source of the secret. */
function risksOf(profile: Profile, choosesSecret: boolean): string[] {
  const { name, secret, platform } = profile;
  const source = secret.kind === 'environment' ? `$${secret.name}` : describeSecretSource(secret);
  const variables = Object.values(platform?.headers ?? {}).flatMap((header) =>
    typeof header === 'object' && 'env' in header ? [`$${header.env}`] : [],
  );
  const code = [
    ...(choosesSecret && secret.kind === 'command' ? [`"${secret.command}"`] : []),
    ...(platform === undefined ? [] : codeOf(platform)),
  ];
  return [
    ...(choosesSecret
      ? [
          `${quoteName(name)} reads its secret from ${source}, and digests of it go to ${destination(profile)}.`,
        ]
      : []),
    ...(variables.length > 0
      ? [`The values of ${variables.join(', ')} go to ${destination(profile)} in headers.`]
      : []),
    ...(code.length > 0 ? [`The profile runs code with your permissions: ${code.join('; ')}.`] : []),
  ];
}

/** The code that a platform runs: modules that sign, commands that print headers. */
function codeOf({ signing, headers }: Platform): string[] {
  const commands = Object.values(headers).flatMap((source) =>
    typeof source === 'object' && 'command' in source ? [`"${source.command}"`] : [],
  );
  return [...(usesModule(signing) ? [describeSigningSource(signing)] : []), ...commands];
}

function destination({ base_url, allow_http }: Profile): string {
  return new URL(base_url).host + (allow_http ? ', over plain HTTP' : '');
}
