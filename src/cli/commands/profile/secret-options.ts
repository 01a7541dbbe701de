import { type Command, Option } from 'commander';
import { secretWarnings } from '../../../profiles/copy-warnings.js';
import type { SecretSource } from '../../../profiles/secret-source.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { Secret } from '../../../signing/secret.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { showText } from '../../output/terminal-text.js';
import { warn } from '../../output/warn.js';
import { readValue } from '../../read-value.js';

/** Where the app secret comes from: at most one of these. */
export interface SecretOptions {
  readonly appSecretStdin?: true;
  readonly appSecretEnv?: string;
  readonly appSecretCommand?: string;
}

/** There is no option for the secret itself: an argument is seen by every process and kept in the shell history. */
export function addSecretOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--app-secret-stdin',
        'read the app secret from standard input, and keep it in the profile file',
      ),
    )
    .addOption(
      new Option('--app-secret-env <name>', 'read the app secret from this environment variable').conflicts(
        'appSecretStdin',
      ),
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
  throw new InvalidInputError('the app secret is never taken from an argument', {
    hint: 'Use --app-secret-stdin, --app-secret-env or --app-secret-command; then change the secret you just typed.',
  });
}

/** A secret that is kept in the profile file is readable to whatever runs as this user. */
export async function sayWhereKept({ io, profiles }: CliContext, secret: SecretSource): Promise<void> {
  if (secret.kind !== 'file') return;
  for (const warning of secretWarnings(secret.value)) await warn(io, warning);
  const path = showText(profiles.path);
  await say(
    io,
    `The app secret is in plain text in ${path} (mode 0600). --app-secret-command keeps it elsewhere.`,
  );
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
