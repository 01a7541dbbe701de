import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type SecretSource, secretWarnings } from '../../../profiles/secret.js';
import { isModule, parseSigningSource, type SigningSource } from '../../../profiles/signing-source.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/text.js';
import { defaultRecipes } from '../../../signing/presets.js';
import { Secret } from '../../../signing/secret.js';
import { loadSigning } from '../../connect.js';
import type { CliContext } from '../../context.js';
import { readJson, readValue } from '../../input.js';
import { say } from '../../io.js';
import { warn } from '../../output/style.js';
import { showText } from '../../output/terminal-text.js';
import { requirePreset } from '../../resolve-signing.js';

/** The source of the app secret: at most one of these options. */
export interface SecretOptions {
  readonly appSecretStdin?: true;
  readonly appSecretEnv?: string;
  readonly appSecretCommand?: string;
}

/** There is no option for the secret itself: every process can see arguments, and the shell history keeps them. */
export function addSecretOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--app-secret-stdin',
        'read the app secret from standard input, and store it in the profile file',
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
  throw new InvalidInputError('the app secret is never accepted as an argument', {
    hint: 'Use --app-secret-stdin, --app-secret-env or --app-secret-command; then replace the secret that you typed.',
  });
}

/** Warns that a secret in the profile file is readable to every program of this user. */
export async function warnOfPlainText({ io, profiles }: CliContext, secret: SecretSource): Promise<void> {
  if (secret.kind !== 'file') return;
  for (const warning of secretWarnings(secret.value)) await warn(io, warning);
  const path = showText(profiles.path);
  await say(
    io,
    `The app secret is in plain text in ${path} (mode 0600). --app-secret-command keeps it elsewhere.`,
  );
}

/** The secret source that the options name; `null` if none. */
export async function secretSourceOf(
  { appSecretStdin, appSecretEnv, appSecretCommand }: SecretOptions,
  context: CliContext,
): Promise<SecretSource | null> {
  if (appSecretEnv !== undefined) return { kind: 'environment', name: appSecretEnv };
  if (appSecretCommand !== undefined) return { kind: 'command', command: appSecretCommand };
  if (!appSecretStdin) return null;
  return { kind: 'file', value: new Secret(await readValue(context, 'app secret')) };
}

/** How the profile signs: at most one of these options. */
export interface SigningOptions {
  readonly signing?: string;
  readonly signingModule?: string;
  readonly signingPreset?: string;
}

export function addSigningOptions(command: Command): Command {
  return command
    .addOption(new Option('--signing <file>', 'sign with the recipes {app_sign, sign} of a JSON file'))
    .addOption(
      new Option(
        '--signing-preset <names>',
        'sign with presets: sign=NAME, app_sign=NAME, or both with a comma; "default" restores the default recipes',
      ).conflicts('signing'),
    )
    .addOption(
      new Option(
        '--signing-module <file>',
        'sign with a JavaScript module, which runs with your permissions',
      ).conflicts(['signing', 'signingPreset']),
    );
}

/**
 * The signing that the options name; `undefined` if none, `null` for the default recipes. A signature without a
 * preset keeps that of `current`. A module is loaded once to check it.
 */
export async function signingSourceOf(
  context: CliContext,
  { signing, signingModule, signingPreset }: SigningOptions,
  current: SigningSource | undefined,
): Promise<SigningSource | null | undefined> {
  if (signingPreset !== undefined) return fromPresets(signingPreset, current);
  const json =
    signing === undefined
      ? signingModule && { module: resolve(signingModule) }
      : await readJson(context, signing);
  if (json === undefined) return undefined;
  const source = parseSigningSource(json);
  await loadSigning(context, source);
  return source;
}

function fromPresets(names: string, current: SigningSource | undefined): SigningSource | null {
  if (names === 'default') return null;
  const sources = current === undefined || isModule(current) ? defaultRecipes : current;
  const chosen = names.split(',').map((choice) => {
    const [, signature = 'sign', name = ''] = /^(?:(app_sign|sign)=)?(.*)$/s.exec(choice) ?? [];
    if (name === '') throw new InvalidInputError(`${quoteName(choice)} names no preset`);
    return [signature, requirePreset(name).recipe];
  });
  return { ...sources, ...Object.fromEntries(chosen) };
}
