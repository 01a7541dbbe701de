// Loaded only by commands that sign by a profile.

import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { compileRecipes, type SignerPair } from '../signing/app-signatures.js';
import { moduleSigner, type SignerModule } from '../signing/module-signer.js';
import type { SigningRecipes } from '../signing/recipe.js';
import { describeSystemError } from '../support/errors.js';
import { findUnsafePath } from '../support/trusted-path.js';
import { SigningModuleError } from './errors.js';

/**
 * Creates the signers of a profile. A module signs what it has a function for, `app_sign` or `sign`
 * or both, the recipes the rest. It runs with all rights of the user, so it is loaded only if no
 * other user can change its file. The module's own imports are not checked.
 *
 * @throws SigningModuleError, or RecipeError for an invalid recipe
 */
export async function loadSigners(
  recipes: SigningRecipes,
  path: string | null,
): Promise<SignerPair> {
  const signers = compileRecipes(recipes, 'signing');
  if (path === null) return { kind: 'pair', signers, recipes };
  const module = await loadModule(path);
  const [hasAppSign, hasSign] = [module.app_sign !== undefined, module.sign !== undefined];
  const isSign = hasSign || !hasAppSign;
  return {
    kind: 'pair',
    signers: {
      app_sign: hasAppSign ? moduleSigner(module, path, 'app_sign') : signers.app_sign,
      sign: isSign ? moduleSigner(module, path) : signers.sign,
    },
    recipes: { app_sign: hasAppSign ? null : recipes.app_sign, sign: isSign ? null : recipes.sign },
  };
}

/** A module as `moduleSigner` checks it. */
async function loadModule(file: string): Promise<SignerModule> {
  const find = async () => ({ unsafe: findUnsafePath(file), target: await realpath(file) });
  const { unsafe, target } = await find().catch((cause: unknown) => {
    throw new SigningModuleError(
      `the signing module ${file} cannot be read: ${describeSystemError(cause)}`,
      {
        cause,
      },
    );
  });
  if (unsafe !== null) {
    const { reason, ...advice } = unsafe;
    throw new SigningModuleError(`${reason}: the signing module ${file} is not loaded`, advice);
  }
  if (!statSync(target).isFile()) {
    throw new SigningModuleError(`the signing module ${file} is not a regular file`);
  }
  try {
    return await import(pathToFileURL(target).href);
  } catch (cause) {
    throw new SigningModuleError(`the signing module ${file} cannot be loaded: ${String(cause)}`, {
      hint: 'Run it with node to see the error.',
      cause,
    });
  }
}
