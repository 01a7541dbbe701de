import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../profiles/config-folder.js';
import { commandNames } from './commands/names.js';
import { keepCompiledChunks } from './compiled-chunks.js';
import type { Io } from './io.js';
import { version } from './version.js';

/**
 * Lets a later run of the same command start with the code that this one compiles. Returns what is to be called when
 * the process exits. NODE_DISABLE_COMPILE_CACHE=1 turns it off, as it does Node's.
 */
export function useCompileCache(args: readonly string[], env: Io['env']): () => void {
  const command = commandNames.find((name) => args.includes(name)) ?? 'userinfo';
  const folder = env.NODE_DISABLE_COMPILE_CACHE ? undefined : ownFolder(command);
  return folder === undefined ? () => {} : keepCompiledChunks(folder);
}

/** Where a command's code is kept; nowhere, where another user could write: what lies there is run. */
function ownFolder(command: string): string | undefined {
  const ofAllVersions = join(cacheFolder(), 'compiled');
  const folder = join(ofAllVersions, version, command);
  try {
    const firstMade = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (firstMade !== undefined && firstMade !== folder) removeOtherVersions(ofAllVersions);
    const { uid, mode } = statSync(folder);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return isOwn ? folder : undefined;
  } catch {
    return undefined;
  }
}

function removeOtherVersions(ofAllVersions: string): void {
  for (const name of readdirSync(ofAllVersions)) {
    if (name !== version) rmSync(join(ofAllVersions, name), { recursive: true, force: true });
  }
}
