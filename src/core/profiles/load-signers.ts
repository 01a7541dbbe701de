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
  const signsApp = module.app_sign !== undefined;
  const signsData = module.sign !== undefined || !signsApp;
  return {
    kind: 'pair',
    signers: {
      app_sign: signsApp ? moduleSigner(module, path, 'app_sign') : signers.app_sign,
      sign: signsData ? moduleSigner(module, path) : signers.sign,
    },
    recipes: {
      app_sign: signsApp ? null : recipes.app_sign,
      sign: signsData ? null : recipes.sign,
    },
  };
}

/** Why another user could change a module, `null` if none could, and its path without links. */
async function inspectModule(file: string) {
  try {
    return { unsafePath: findUnsafePath(file), target: await realpath(file) };
  } catch (cause) {
    const fault = describeSystemError(cause);
    throw new SigningModuleError(`the signing module ${file} cannot be read: ${fault}`, { cause });
  }
}

/**
 * A module as `moduleSigner` checks it.
 *
 * @throws SigningModuleError for one that cannot be loaded, or that another user could change
 */
async function loadModule(file: string): Promise<SignerModule> {
  const { unsafePath, target } = await inspectModule(file);
  if (unsafePath !== null) {
    const { reason, ...advice } = unsafePath;
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
