import { type Command, Option } from 'commander';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { CredentialError } from '../../../core/profiles/errors.js';
import type { Profile } from '../../../core/profiles/profile.js';
import { parseVariableName } from '../../../core/profiles/profile-json.js';
import { readSecret, type SecretSource } from '../../../core/profiles/secret-source.js';
import { Secret } from '../../../core/signing/secret.js';
import type { CliContext } from '../../command.js';
import { readValue } from '../../input.js';
import { printMessage } from '../../io.js';
import { warn } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { readSecretOf } from '../../request/deployment.js';

/** The source of the app secret: at most one of these options. */
export interface SecretOptions {
  readonly appSecretStdin?: true;
  readonly appSecretEnv?: string;
  readonly appSecretCommand?: string;
}

/**
 * A variable as it is usually named: one that is not set and has another name is likely to be the
 * secret itself.
 */
const usualName = /^(?:[A-Z]{1,24}|[A-Z][A-Z0-9]{0,8})(?:_[A-Z0-9]{1,12})*$/;

/** The secret options, in messages. */
export const secretFlags = '--app-secret-stdin (or -env, -command)';

/**
 * There is no option for the secret itself: every process can see arguments, and the shell history
 * keeps them.
 */
export function addSecretOptions(command: Command): Command {
  return command
    .option(
      '--app-secret-stdin',
      'read the app secret from standard input, and store it in the profile file',
    )
    .addOption(
      new Option(
        '--app-secret-env <name>',
        'read the app secret from this environment variable',
      ).conflicts('appSecretStdin'),
    )
    .addOption(
      new Option(
        '--app-secret-command <command>',
        "run this command to get the app secret, such as a keychain's or password manager's",
      ).conflicts(['appSecretStdin', 'appSecretEnv']),
    )
    .addOption(new Option('--app-secret <never>').hideHelp().argParser(refuseArgument));
}

function refuseArgument(): never {
  throw new InvalidInputError('the app secret is never accepted as an argument', {
    hint: 'Use --app-secret-stdin, --app-secret-env or --app-secret-command; then replace the secret that you typed.',
  });
}

/**
 * The source of the secret that the options name; `undefined` if they name none.
 *
 * @throws InvalidInputError
 */
export async function secretSourceOf(
  { appSecretStdin, appSecretEnv, appSecretCommand }: SecretOptions,
  context: CliContext,
): Promise<SecretSource | undefined> {
  if (appSecretEnv !== undefined) {
    const name = parseVariableName(appSecretEnv, '--app-secret-env');
    if (context.io.env[name] !== undefined || usualName.test(name))
      return { kind: 'environment', name };
    throw new InvalidInputError('--app-secret-env is not the name of a variable that is set', {
      hint: 'It takes the name, such as SHOP_APP_SECRET. If you typed the secret itself, replace it.',
    });
  }
  if (appSecretCommand !== undefined) return { kind: 'command', command: appSecretCommand };
  if (!appSecretStdin) return undefined;
  if (context.prompt.possible) return promptForSecret(context);
  if (context.io.stdin.isTTY) {
    throw new InvalidInputError('standard input is a terminal, which would show the app secret', {
      hint: 'Pipe the secret in; or leave out --no-input, and keep stderr on the terminal, for a prompt that hides it.',
    });
  }
  return { kind: 'file', value: new Secret(await readValue(context, 'app secret')) };
}

/** Asks for the secret, which the profile file then stores. */
export async function promptForSecret({ prompt }: CliContext): Promise<SecretSource> {
  const message = 'App secret (stored in plain text in the profile file)';
  return { kind: 'file', value: new Secret(await prompt.secret(message)) };
}

/**
 * Warns of what is wrong with the secret of a profile that was stored: a variable that is not set,
 * a text that was copied with more than the secret. A command is not run here: "doctor" runs it. A
 * secret in the profile file is readable to every program of this user.
 *
 * @returns whether the secret can be used now, as far as that is seen without running a command
 */
export async function warnOfSecret(
  context: CliContext,
  { name, app_key, secret }: Profile,
): Promise<boolean> {
  const { io, profiles } = context;
  if (secret.kind === 'command') return true;
  try {
    const read = () => readSecret(secret, io.env);
    const app = { profile: name, app_key: { value: app_key } };
    await readSecretOf(context, { ...app, secret: { source: secret, read } });
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    await warn(io, error.message);
    return false;
  }
  if (secret.kind !== 'file') return true;
  const stored = `The app secret is in plain text in ${showText(profiles.path)} (mode 0600).`;
  await printMessage(io, `${stored} --app-secret-command keeps it elsewhere.`);
  return true;
}
