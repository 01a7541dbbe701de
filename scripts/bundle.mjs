// Makes dist: the command line in few files, the SDK as modules and as CommonJS, with the packages
// that they use in them. tsc makes the types. Where this says what a start loads,
// docs/decisions/start-up.md says what that is worth; docs/decisions/one-install.md says why the
// packages are in the bundle.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build } from 'rolldown';
import { billOfMaterials, licenseTexts, packagesOf } from './bundled-packages.mjs';
import { rawFiles } from './raw-files.mjs';

/** What this writes last: the modules of all bundles, for scripts/check-layers.mjs. */
const lastFile = 'dist/.modules.json';

/**
 * The time of the latest change in a file or a folder, in which files may have been added or
 * removed.
 */
function changedAt(path) {
  const names = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : [];
  const paths = [path, ...names.map((name) => join(path, name))];
  return Math.max(...paths.map((each) => statSync(each).mtimeMs));
}

// npm writes the lock file in node_modules with each installation.
const inputs = [
  'src',
  'scripts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];
const isCurrent = () =>
  inputs.filter(existsSync).every((input) => changedAt(input) < changedAt(lastFile));
if (existsSync(lastFile) && isCurrent()) process.exit();

for (const name of readdirSync('dist')) {
  const isOfTypescript = ['.types', '.tsbuildinfo'].includes(name);
  if (!isOfTypescript) rmSync(join('dist', name), { recursive: true });
}

const prebuilt = 'node_modules/@photostructure/sqlite/prebuilds';

/**
 * The native SQLite: its code is in the bundle, and its prebuilt file for each system in
 * dist/sqlite, so that nothing that is installed needs an install script. `folder` is dist/sqlite,
 * as seen from the chunk.
 */
const sqlite = (folder) => ({
  name: 'sqlite',
  resolveId: (id) => (id === 'node-gyp-build' ? '\0sqlite' : null),
  load(id) {
    if (id !== '\0sqlite') return null;
    return `
      import { existsSync } from 'node:fs';
      import { createRequire } from 'node:module';
      const libc = existsSync('/etc/alpine-release') ? 'musl' : 'glibc';
      const file = \`${folder}/\${process.platform}-\${process.arch}.\${libc}.node\`;
      export default () => createRequire(import.meta.url)(file);`;
  },
});

/**
 * Of undici's exports those that `client` imports, by the files that make them: its index loads all
 * others.
 */
const privateFiles = {
  Pool: 'undici/lib/dispatcher/pool.js',
  buildConnector: 'undici/lib/core/connect.js',
};
/** A version of undici without one of these files is bundled by its index, which loads more. */
const hasPrivateFiles = Object.values(privateFiles).every((file) =>
  existsSync(`node_modules/${file}`),
);

/** Modules that bundled packages load for unused features: left out, as if not installed. */
const absent = [
  '@colors/colors/safe', // cli-table3, for colours of its own
  'pg-native',
];

const narrowed = {
  name: 'narrowed',
  resolveId(id) {
    if (id === 'undici' && hasPrivateFiles) return '\0undici';
    return absent.includes(id) ? `\0absent:${id}` : null;
  },
  load(id) {
    if (id.startsWith('\0absent:'))
      return `throw Object.assign(new Error('not in this bundle: ${id.slice(8)}'), { code: 'MODULE_NOT_FOUND' });`;
    if (id !== '\0undici') return null;
    const lines = Object.entries(privateFiles).map(
      ([name, file]) => `export { default as ${name} } from '${file}';`,
    );
    return lines.join('\n');
  },
};

/** The modules of all bundles, with their sizes, by the files that they are in. */
const bundled = {};

const collected = {
  name: 'collected',
  generateBundle({ dir }, bundle) {
    for (const { fileName, modules = {} } of Object.values(bundle)) {
      const sizes = Object.entries(modules).map(([id, { renderedLength }]) => [id, renderedLength]);
      bundled[join(dir, fileName)] = Object.fromEntries(sizes);
    }
  },
};

/**
 * Names stay, for stack traces, and line breaks: a failed assertion in undici parses its line for
 * the message.
 */
const minify = {
  compress: false,
  mangle: { keepNames: true },
  codegen: { removeWhitespace: false },
};

await build({
  platform: 'node',
  input: { main: 'src/cli/main.ts' },
  external: isBuiltin,
  plugins: [narrowed, sqlite('../sqlite'), rawFiles, collected],
  // The chunks below say what comes together.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/cli',
    // Node starts CommonJS sooner than ESM. What only ESM can load is loaded by import().
    format: 'cjs',
    dynamicImportInCjs: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    minify,
    comments: false,
    codeSplitting: {
      // Each with all that it imports: a read opens few files, and what answers at once opens the
      // first two.
      groups: [
        {
          name: 'start',
          test: /src\/cli\/exit-status\.ts$|\/package\.json$/,
          priority: 5,
        },
        {
          name: 'folders',
          test: /src\/cli\/commands\/completion\/candidates\.ts$/,
          priority: 4,
        },
        {
          name: 'program',
          // Commands that send nothing read the rule of signatures, too.
          test: /src\/(cli\/(program|request\/call-service|commands\/read\/index)|core\/signing\/app-signatures|cli\/output\/numbers)\.ts$/,
          priority: 3,
        },
        {
          name: 'client',
          test: /src\/client\/call\/client\.ts$|node_modules\/undici\//,
          priority: 2,
        },
        { name: 'table', test: /src\/cli\/output\/data-table\.late\.ts$/, priority: 1 },
        {
          name: 'help-texts',
          test: /src\/cli\/(commands\/\w+\/help\.txt\?raw|command-line\/help-texts\.late\.ts)$/,
          priority: 1,
        },
      ],
    },
  },
});

const table = execFileSync(process.execPath, ['bin/userinfo.cjs', 'completion-table']);
writeFileSync('dist/cli/completion.json', table);

/** The SDK, as modules and, in a folder with types of its own, as CommonJS. */
for (const [format, dir, folderOfSqlite] of [
  ['es', 'dist', './sqlite'],
  ['cjs', 'dist/cjs', '../sqlite'],
]) {
  await build({
    platform: 'node',
    input: {
      index: 'src/index.ts',
      'service/index': 'src/service/index.ts',
      'client/profiles': 'src/client/profiles.ts',
    },
    external: isBuiltin,
    plugins: [narrowed, sqlite(folderOfSqlite), rawFiles, collected],
    output: {
      dir,
      format,
      // Jest cannot import() from CommonJS.
      dynamicImportInCjs: false,
      // The require of the bundled CommonJS packages, all of them for modules of Node.
      ...(format === 'es' && {
        polyfillRequire: false,
        intro: 'const require = globalThis.process?.getBuiltinModule;',
      }),
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      sourcemap: true,
      minify,
      // undici comes with the client: a program that takes the errors or the signing alone is
      // bundled without it. The SDK loads these two files; what the service alone needs is in
      // others.
      codeSplitting: {
        groups: [
          { name: 'sqlite', test: /node_modules\/@photostructure\/|^\0sqlite$/, priority: 3 },
          { name: 'client', test: /src\/client\/(?!profiles)/, priority: 1 },
          {
            name: 'signing',
            test: /src\/(client\/call\/errors|core\/contract\/(?!openapi|user-record)|core\/signing\/|core\/support\/(?!folders|trusted-path))/,
            priority: 2,
          },
        ],
      },
    },
  });
}
writeFileSync('dist/cjs/package.json', '{"type":"commonjs"}\n');
// CommonJS, whose names no bundler misses: it says at its start what is wrong.
writeFileSync(
  'dist/unsupported.cjs',
  "throw new Error('userinfo-exchange needs the sockets of Node, Bun or Deno: call it from a server');\n",
);

/** The sources that maps name, for debuggers and editors: they are in dist/src. */
const sources = new Set();

/**
 * Lets a map name our sources where they are packed. Of packages it keeps the content, for bundlers
 * that read it.
 */
function packSources(file, text) {
  const map = JSON.parse(text);
  const contents = map.sourcesContent;
  map.sources.forEach((source, index) => {
    const path = source.replace(/^(\.\.\/)+/, '');
    if (!path.startsWith('src/')) return;
    sources.add(path);
    map.sources[index] = relative(dirname(file), join('dist', path));
    if (contents !== undefined) contents[index] = null;
  });
  writeFileSync(file, JSON.stringify(map));
}

const mapsIn = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.js.map'))
    .map((name) => join(folder, name));

/** The SDK has maps. The service, which is mostly packages, has none. */
const mapped = ['index', 'client', 'signing', 'client/profiles'];
for (const dir of ['dist', 'dist/cjs']) {
  for (const name of ['.', 'service', 'client'].flatMap((folder) => mapsIn(join(dir, folder)))) {
    const code = name.slice(0, -'.map'.length);
    if (mapped.includes(relative(dir, code).slice(0, -'.js'.length))) {
      packSources(name, readFileSync(name, 'utf8'));
    } else {
      rmSync(name);
      writeFileSync(code, readFileSync(code, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, ''));
    }
  }
}

/** Types of both formats, with their maps: those that the entries lead to. */
const types = new Set(['index.d.ts', 'service/index.d.ts', 'client/profiles.d.ts']);
for (const path of types) {
  const text = readFileSync(join('dist/.types', path), 'utf8');
  for (const [, target] of text.matchAll(/^(?:import|export) .*'(\..+)\.js';$/gm))
    types.add(join(dirname(path), `${target}.d.ts`));
  const map = readFileSync(join('dist/.types', `${path}.map`), 'utf8');
  for (const folder of ['dist', 'dist/cjs']) {
    cpSync(join('dist/.types', path), join(folder, path));
    packSources(join(folder, `${path}.map`), map);
  }
}
for (const path of sources) cpSync(path, join('dist', path));

for (const system of readdirSync(prebuilt))
  for (const file of readdirSync(join(prebuilt, system)))
    cpSync(join(prebuilt, system, file), `dist/sqlite/${system}${/\.\w+\.node$/.exec(file)?.[0]}`);

const packages = packagesOf(Object.values(bundled).flatMap((modules) => Object.keys(modules)));
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licenseTexts(packages));
writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(billOfMaterials(packages), null, 2)}\n`);
writeFileSync(lastFile, JSON.stringify(bundled));
