import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { build } from 'rolldown';

/**
 * Compiles a TypeScript module for a process that a test starts: `dist` has only what the package
 * exports. The bundle is below node_modules, where its packages are found, and is removed when this
 * process ends.
 *
 * @returns the path of an ES module
 */
export async function builtModule(source: string): Promise<string> {
  const dir = join(import.meta.dirname, '../../node_modules/.cache/userinfo-tests', randomUUID());
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  await build({
    input: source,
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    logLevel: 'silent',
    output: { dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  });
  return join(dir, basename(source).replace(/\.\w+$/, '.mjs'));
}
