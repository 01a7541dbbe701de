import { resolve } from 'node:path';
import type { Command } from 'commander';
import { settingNames } from '../../../profiles/flags-and-environment.js';
import {
  describeProfile,
  environments,
  type Profile,
  parseEnvironment,
  parseIdentifier,
} from '../../../profiles/profile.js';
import { addProfile, checkNewName } from '../../../profiles/profile-store.js';
import type { SecretSource } from '../../../profiles/secret.js';
import { parseBaseUrl, refusePlainHttp } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { Secret } from '../../../signing/secret.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions, examples } from '../../options.js';
import {
  addSecretOptions,
  addSigningOptions,
  type SecretOptions,
  type SigningOptions,
  secretSourceOf,
  signingSourceOf,
  warnOfPlainText,
} from './edit-options.js';

interface AddOptions extends CommonOptions, ConnectionOptions, SecretOptions, SigningOptions {
  readonly keyPrefix?: string;
}

export function declareProfileAdd(profile: Command, context: CliContext): void {
  const command = profile
    .command('add')
    .summary('add a profile')
    .description(
      'Add a profile. On a terminal, it prompts for missing values. The first profile becomes the active one.',
    )
    .argument('<name>', 'name of the new profile');
  addSigningOptions(addSecretOptions(addConnectionOptions(command)))
    .option('--key-prefix <prefix>', 'prefix that custom keys should have; other keys cause a warning')
    .addHelpText(
      'after',
      examples(
        ['userinfo profile add shop', 'prompts for each value; the secret is not echoed'],
        [
          'printf %s "$SHOP_SECRET" | userinfo profile add shop-test --environment test ' +
            '--base-url https://test.example.com --tenant-code acme --channel web --app-key app-1 --app-secret-stdin',
          'without prompts, for a script',
        ],
      ),
    )
    .action((name: string) => runAdd(context, name, command.optsWithGlobals()));
}

async function runAdd(context: CliContext, name: string, options: AddOptions): Promise<void> {
  const { io, profiles } = context;
  checkNewName(await profiles.load(), name);
  const given = await secretSourceOf(options, context);
  refuseMissing(context, options, given);
  const signing = await signingSourceOf(context, options, undefined);
  const profile: Profile = {
    name,
    environment: parseEnvironment(await environmentOf(context, options)),
    base_url: await ask(context, options, 'base_url'),
    tenant_code: await ask(context, options, 'tenant_code'),
    channel: await ask(context, options, 'channel'),
    app_key: await ask(context, options, 'app_key'),
    secret: given ?? {
      kind: 'file',
      value: new Secret(await context.prompt.secret('App secret (stored in plain text in the profile file)')),
    },
    ...(signing && { signing }),
    ...(options.keyPrefix === undefined ? {} : { key_prefix: options.keyPrefix }),
    ...(options.caFile === undefined ? {} : { ca_file: resolve(options.caFile) }),
    ...(options.allowHttp && { allow_http: true }),
  };
  refusePlainHttp(parseBaseUrl(profile.base_url), options.allowHttp === true, '--allow-http');
  const { active } = await profiles.change((list) => addProfile(list, profile));
  await say(io, `added ${describeProfile(profile)}${active === name ? ', now active' : ''}`);
  await warnOfPlainText(context, profile.secret);
}

/** Validates an answer at its prompt, before the next one. */
function checkAnswer(
  field: (typeof asked)[number],
  answer: string,
  { allowHttp }: AddOptions,
): true | string {
  try {
    if (field === 'base_url') refusePlainHttp(parseBaseUrl(answer), allowHttp === true, '--allow-http');
    else parseIdentifier(answer, settingNames[field].title);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return error.message;
  }
}

const asked = ['base_url', 'tenant_code', 'channel', 'app_key'] as const;

/** Reports all missing values at once if there is no terminal to ask on. */
function refuseMissing({ prompt }: CliContext, options: AddOptions, secret: SecretSource | null): void {
  if (prompt.possible) return;
  const missing: string[] = asked
    .map((field) => settingNames[field])
    .filter(({ option }) => options[option] === undefined)
    .map(({ flag }) => flag);
  if (secret === null) missing.push('--app-secret-stdin (or -env, -command)');
  if (missing.length === 0) return;
  throw new InvalidInputError(`missing: ${missing.join(', ')}`, {
    hint: 'There is no terminal for prompts: pass them as options, or run the command on a terminal.',
  });
}

async function environmentOf({ prompt }: CliContext, { environment }: AddOptions): Promise<string> {
  if (environment !== undefined) return environment;
  return prompt.possible ? prompt.choose('Environment', environments) : 'test';
}

async function ask(
  { prompt }: CliContext,
  options: AddOptions,
  field: (typeof asked)[number],
): Promise<string> {
  const { title, option } = settingNames[field];
  return (
    options[option] ??
    prompt.text(title[0]?.toUpperCase() + title.slice(1), (answer) => checkAnswer(field, answer, options))
  );
}
