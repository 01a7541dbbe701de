// Writes the man pages to dist/man, from the commands. `npm pack` runs this.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { rawFiles } from './raw-files.mjs';

const generator = 'dist/.man-pages.mjs';
await build({
  platform: 'node',
  input: 'scripts/docs/man-pages.ts',
  external: (id) => /^(@?[a-z]|node:)/.test(id),
  plugins: [rawFiles],
  checks: { ineffectiveDynamicImport: false },
  output: { file: generator, codeSplitting: false },
});
const { manPages } = await import(pathToFileURL(generator));
rmSync(generator);
mkdirSync('dist/man', { recursive: true });
for (const [name, page] of await manPages()) writeFileSync(join('dist/man', name), page);
