// The sources and their imports, as the checks of scripts/check-layers.mjs see them.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';

const statement =
  /^(?:import|export)\b(?<type> type\b)?(?:[^'";]*?\bfrom)?\s*'(?<loaded>[^']+)'|\bimport\(\s*'(?<later>[^']+)'\)/gm;

/**
 * The sources by path, with `text` and `imports`. An import has the `path` of a file of src, or is
 * that of a `package`. `isLoaded` is false for one of types, and one by `import()`.
 */
export function readSources(folder) {
  const files = readdirSync(folder, { recursive: true }).map((file) => file.replaceAll('\\', '/'));
  return new Map(
    files
      .filter((file) => file.endsWith('.ts'))
      .sort()
      .map((file) => {
        const path = join(folder, file);
        const text = readFileSync(path, 'utf8');
        return [path, { text, imports: importsIn(path, text) }];
      }),
  );
}

function importsIn(file, text) {
  return [...text.matchAll(statement)].map(({ groups: { type, loaded, later } }) => {
    const name = loaded ?? later;
    if (!name.startsWith('.')) return { package: name };
    const isLoaded = loaded !== undefined && type === undefined;
    return { path: normalize(join(dirname(file), name)).replace(/\.js$/, '.ts'), isLoaded };
  });
}
