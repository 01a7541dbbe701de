// Makes dist: the command line in few files, the SDK as modules and as CommonJS. tsc makes the types. Where this says
// what a start loads, docs/decisions/start-up.md says what that is worth.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

const installed = Object.keys({ ...dependencies, ...optionalDependencies });

/** Loaded from their packages, by the commands that need them. The others are small, or every read needs them. */
const packages = installed.filter((name) => name !== 'undici' && name !== 'lossless-json');
// Optional for cli-table3, which colours nothing here.
packages.push('@colors/colors');

/** The two of undici's exports that `client` imports, by the modules that make them: its index loads all others. */
const exportsOfUndici = `
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as buildConnector } from 'undici/lib/core/connect.js';`;

/** undici loads it itself, for bodies that are forms. */
const formBody = '../web/fetch/body.js';

/** undici loads it itself, on CPUs without SIMD. Its code belongs to the bundled version: it is a file of its own. */
const plainParser = 'llhttp-wasm';

const http2 = './client-h2.js';
const deferredHttp2 = '\0deferred-http2';

/** undici loads its HTTP/2 client with the other one; here it is loaded for the first server that speaks HTTP/2. */
const undici = {
  name: 'undici',
  resolveId(id, importer = '') {
    if (id === 'undici') return '\0undici';
    if (id === formBody) return { id: 'undici/lib/web/fetch/body.js', external: true };
    if (id === `../llhttp/${plainParser}.js`) return { id: `./${plainParser}.cjs`, external: true };
    return id === http2 && importer !== deferredHttp2 ? deferredHttp2 : null;
  },
  load(id) {
    if (id === '\0undici') return exportsOfUndici;
    if (id !== deferredHttp2) return null;
    return `module.exports = (...args) => require('undici/lib/dispatcher/${http2.slice(2)}')(...args);`;
  },
  generateBundle() {
    const source = readFileSync(`node_modules/undici/lib/llhttp/${plainParser}.js`);
    this.emitFile({ type: 'asset', fileName: `${plainParser}.cjs`, source });
  },
};

/** The licences of the bundled packages require that they are distributed with the code. */
const licenses = {
  name: 'licenses',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}));
    const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0]);
    const texts = [...new Set(folders)].filter((folder) => folder !== undefined).map(licenseOf);
    this.emitFile({
      type: 'asset',
      fileName: 'THIRD-PARTY-LICENSES.txt',
      source: texts.sort().join(`\n${'-'.repeat(80)}\n\n`),
    });
  },
};

/** Throws where a package has no licence file. */
function licenseOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version}\n\n${readFileSync(join(folder, `${file}`), 'utf8').trim()}\n`;
}

const isOneOf = (names) => (id) =>
  id.startsWith('node:') || names.some((name) => id === name || id.startsWith(`${name}/`));

await build({
  platform: 'node',
  input: { main: 'src/cli/main.ts', 'search-worker': 'src/cli/solve/search-worker.ts' },
  external: isOneOf(packages),
  plugins: [undici, licenses],
  // The chunks below say what comes together.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/cli',
    cleanDir: true,
    // Node starts CommonJS sooner than ESM. What only ESM can load is loaded by import().
    format: 'cjs',
    dynamicImportInCjs: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    // Names stay, for stack traces, and line breaks: a failed assertion in undici parses its line for the message.
    minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: false } },
    comments: false,
    codeSplitting: {
      // Each with all that it imports: a read opens few files, and what answers at once opens the first two.
      groups: [
        {
          name: 'start',
          test: /src\/cli\/exit-status\.ts$|\/package\.json$/,
          priority: 5,
        },
        {
          name: 'folders',
          test: /src\/cli\/(commands\/completion\/candidates|compile-cache)\.ts$/,
          priority: 4,
        },
        { name: 'program', test: /src\/cli\/(program|call-service|commands\/read)\.ts$/, priority: 3 },
        { name: 'client', test: /src\/client\/client\.ts$|node_modules\/undici\//, priority: 2 },
        { name: 'table', test: /src\/cli\/output\/data-table\.ts$/, priority: 1 },
      ],
    },
  },
});

const table = execFileSync(process.execPath, ['bin/userinfo.cjs', 'completion-table']);
writeFileSync('dist/cli/completion.json', table);

/** Bun has a module of its own under the name of the package, which lacks what the client calls. */
const filesOfUndici = {
  name: 'files-of-undici',
  resolveId: (id) => (id === 'undici' ? '\0undici' : null),
  load: (id) => (id === '\0undici' ? exportsOfUndici : null),
};

/** The SDK, as modules and, in a folder with types of its own, as CommonJS. */
for (const [format, dir] of [
  ['es', 'dist'],
  ['cjs', 'dist/cjs'],
]) {
  await build({
    platform: 'node',
    input: { index: 'src/index.ts', 'service/index': 'src/service/index.ts' },
    external: (id) => id !== 'undici' && isOneOf(installed)(id),
    plugins: [filesOfUndici],
    output: {
      dir,
      format,
      // Jest cannot import() from CommonJS.
      dynamicImportInCjs: false,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      // undici comes with the client: a program that takes the errors or the signing alone is bundled without it.
      // The SDK loads these two files; what the service alone needs is in others.
      codeSplitting: {
        groups: [
          { name: 'client', test: /src\/(client|bulk)\//, priority: 1 },
          {
            name: 'signing',
            test: /src\/(client\/errors|protocol\/(?!openapi|user-record)|signing\/(?!verify)|support)/,
            priority: 2,
          },
        ],
      },
    },
  });
}
writeFileSync('dist/cjs/package.json', '{"type":"commonjs"}\n');
for (const path of readdirSync('dist', { recursive: true })) {
  if (path.endsWith('.d.ts') && !path.startsWith('cjs')) cpSync(join('dist', path), join('dist/cjs', path));
}
