import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { isModule, parseSigningSource, type SigningSource } from '../../../profiles/signing-source.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/text.js';
import { defaultRecipes } from '../../../signing/presets.js';
import type { CliContext } from '../../context.js';
import { readJson } from '../../read-json.js';
import { requirePreset } from '../../read-recipes.js';
import { loadSigning } from '../../resolve-service.js';

/** How the profile is to sign: at most one of these. */
export interface SigningOptions {
  readonly signing?: string;
  readonly signingModule?: string;
  readonly signingPreset?: string;
}

export function addSigningOptions(command: Command): Command {
  return command
    .addOption(new Option('--signing <file>', 'sign by the recipes {app_sign, sign} of a JSON file'))
    .addOption(
      new Option(
        '--signing-preset <names>',
        'sign by presets: sign=NAME, app_sign=NAME, or both with a comma; "default" restores the default recipes',
      ).conflicts('signing'),
    )
    .addOption(
      new Option(
        '--signing-module <file>',
        'sign by a JavaScript module, which runs with your rights',
      ).conflicts(['signing', 'signingPreset']),
    );
}

/**
 * What the options say; `undefined` where they say nothing, `null` for the default recipes. A signature that no
 * preset is named for stays as in `current`. A module is loaded once, to see that it can be.
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
