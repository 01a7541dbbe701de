import { type Command, Option } from 'commander';
import type { SecretSource } from '../../../profiles/secret-source.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { Secret } from '../../../signing/secret.js';
import type { CliContext } from '../../context.js';
import { readValue } from '../../read-value.js';

/** Where the app secret is to come from: at most one of the first three; and where it is kept. */
export interface SecretOptions {
  readonly appSecretStdin?: true;
  readonly appSecretEnv?: string;
  readonly appSecretCommand?: string;
  readonly appSecretKeychain?: true;
}

/** There is no option for the secret itself: an argument is seen by every process and kept in the shell history. */
export function addSecretOptions(command: Command): Command {
  return command
    .addOption(new Option('--app-secret-stdin', 'take the app secret from standard input'))
    .addOption(
      new Option(
        '--app-secret-env <name>',
        'keep the name of an environment variable that holds it',
      ).conflicts('appSecretStdin'),
    )
    .addOption(
      new Option(
        '--app-secret-command <command>',
        'keep a command that prints it, such as a password manager',
      ).conflicts(['appSecretStdin', 'appSecretEnv']),
    )
    .addOption(
      new Option(
        '--app-secret-keychain',
        "keep it in the operating system's keychain, not in the profile file",
      ).conflicts(['appSecretEnv', 'appSecretCommand']),
    )
    .addOption(new Option('--app-secret <never>').hideHelp().argParser(refuseArgument));
}

function refuseArgument(): never {
  throw new InvalidInputError('the app secret is never taken from an argument', {
    hint: 'Use --app-secret-stdin, --app-secret-env or --app-secret-command; then change the secret you just typed.',
  });
}

/** The source that the options name; `null` where they name none. */
export async function secretSourceOf(
  { appSecretStdin, appSecretEnv, appSecretCommand }: SecretOptions,
  context: CliContext,
): Promise<SecretSource | null> {
  if (appSecretEnv !== undefined) return { kind: 'environment', name: appSecretEnv };
  if (appSecretCommand !== undefined) return { kind: 'command', command: appSecretCommand };
  if (!appSecretStdin) return null;
  return { kind: 'file', value: new Secret(await readValue(context, 'app secret')) };
}
