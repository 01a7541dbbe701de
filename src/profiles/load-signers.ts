// Apart from signing-source.ts: loaded only by commands that sign by a profile.

import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isModule, type SigningSource } from '../platform/signing-source.js';
import type { Signers } from '../signing/app-signatures.js';
import { compileRecipe } from '../signing/compile-recipe.js';
import { moduleSigner, moduleSigners, type SignerModule } from '../signing/module-signer.js';
import { fieldPath } from '../signing/recipe.js';
import { describeSystemError } from '../support/errors.js';
import { findUnsafePath } from '../support/trusted-path.js';
import { SigningModuleError } from './errors.js';

/**
 * Creates the signers of a profile; `folder` is that of the profile file. A module runs with all rights of the
 * user, so it is loaded only if no other user can change its file. The module's own imports are not checked.
 *
 * @throws SigningModuleError, or RecipeError for an invalid recipe
 */
export async function loadSigners(source: SigningSource, folder: string): Promise<Signers> {
  if (isModule(source)) return moduleSigners(await loadModule(source.module, folder), source.module);
  const load = async (name: 'app_sign' | 'sign') => {
    const signer = source[name];
    if (!isModule(signer)) return compileRecipe(signer, fieldPath('signing', name));
    return moduleSigner(await loadModule(signer.module, folder), signer.module);
  };
  return { app_sign: await load('app_sign'), sign: await load('sign') };
}

/** What `moduleSigner` checks. */
async function loadModule(path: string, folder: string): Promise<SignerModule> {
  const file = resolve(folder, path);
  const find = async () => ({ unsafe: findUnsafePath(file), target: await realpath(file) });
  const { unsafe, target } = await find().catch((cause: unknown) => {
    throw new SigningModuleError(`the signing module ${path} cannot be read: ${describeSystemError(cause)}`, {
      hint: `A path that begins with a dot is relative to ${folder}.`,
      cause,
    });
  });
  if (unsafe !== null) {
    const { reason, ...advice } = unsafe;
    throw new SigningModuleError(`${reason}: the signing module ${path} is not loaded`, advice);
  }
  if (!statSync(target).isFile()) {
    throw new SigningModuleError(`the signing module ${path} is not a regular file`);
  }
  try {
    return await import(pathToFileURL(target).href);
  } catch (cause) {
    throw new SigningModuleError(`the signing module ${path} cannot be loaded: ${String(cause)}`, {
      hint: 'Run it with node to see the error.',
      cause,
    });
  }
}
