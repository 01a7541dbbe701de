import { realpath, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Signers } from '../signing/app-signatures.js';
import { compileRecipe } from '../signing/compile-recipe.js';
import { moduleSigner, moduleSigners } from '../signing/module-signer.js';
import { fieldPath } from '../signing/recipe-error.js';
import { SigningModuleError } from './errors.js';
import { isModule, type SigningSource } from './signing-source.js';
import { describeSystemError } from './system-error.js';

/**
 * Makes signers of what a profile says; `folder` is that of the profile file. A module is run, with all that the
 * user may do: only a file that nobody else can change is. Throws a SigningModuleError, or a RecipeError.
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

async function loadModule(path: string, folder: string): Promise<unknown> {
  const file = await findModule(path, folder);
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    throw new SigningModuleError(`the signing module ${path} cannot be loaded: ${String(cause)}`, {
      hint: 'Run it with node by itself to see where the fault is.',
      cause,
    });
  }
}

async function findModule(path: string, folder: string): Promise<string> {
  try {
    const file = await realpath(resolve(folder, path));
    if (platform() !== 'win32') await refuseShared(file, folder);
    return file;
  } catch (cause) {
    if (cause instanceof SigningModuleError) throw cause;
    throw new SigningModuleError(`the signing module ${path} cannot be read: ${describeSystemError(cause)}`, {
      hint: `A path that begins with a dot is taken from ${folder}.`,
      cause,
    });
  }
}

const writableByOthers = 0o022;
const sticky = 0o1000;

/** Whoever can change the file, or put another one in its place, could run code as this user. */
async function refuseShared(file: string, folder: string): Promise<void> {
  const [module, around, profiles] = await Promise.all([stat(file), stat(dirname(file)), stat(folder)]);
  if (module.uid !== 0 && module.uid !== profiles.uid) {
    throw new SigningModuleError(`the signing module ${file} belongs to another user than the profiles`, {
      hint: 'Make a copy of your own, once you have read what it does.',
    });
  }
  const isReplaceable = (around.mode & writableByOthers) !== 0 && (around.mode & sticky) === 0;
  const open = (module.mode & writableByOthers) !== 0 ? file : isReplaceable ? dirname(file) : null;
  if (open === null) return;
  throw new SigningModuleError(`${open} can be written by other users: the signing module is not loaded`, {
    hint: `Take that from them: chmod go-w ${JSON.stringify(open)}`,
  });
}
