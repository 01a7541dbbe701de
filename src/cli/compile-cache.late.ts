import { lstatSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { cacheFolder, createFolder } from '../support/folders.js';
import { findUnsafePath } from '../support/trusted-path.js';
import type { Io } from './io.js';

/**
 * Has Node, from 22.1 on, cache the compiled code of the program for its next start. The cache contains code that
 * is run, so there is none where another user could change or replace it. Nothing is ever deleted there.
 */
export function useCompileCache(env: Io['env']): void {
  const enable: ((folder: string) => void) | undefined = Reflect.get(nodeModule, 'enableCompileCache');
  const uid = process.geteuid?.(); // none on Windows, where the owner of a folder is not known
  if (enable === undefined || uid === undefined || env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  try {
    const folder = ownFolder(uid);
    if (folder !== undefined) enable(folder);
  } catch {
    // The folder cannot be created or examined: start without a cache.
  }
}

/** A folder that this user owns in the system's cache folder, with no link below that. */
function ownFolder(uid: number): string | undefined {
  const ours = cacheFolder();
  const folder = join(ours, 'compiled');
  if (findUnsafePath(folder) !== null) return undefined;
  for (const part of [dirname(ours), ours, folder]) {
    createFolder(part);
    const found = lstatSync(part);
    if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) return undefined;
  }
  return folder;
}
