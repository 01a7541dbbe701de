// Makes dist/cli, the command line in few files; tsc makes the rest of dist.
import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

/** Small, or needed by every command; the other dependencies are loaded from their packages, by who needs them. */
const bundled = ['chalk', 'cli-table3', 'commander', 'env-paths', 'lossless-json', 'string-width', 'undici'];

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const packages = Object.keys(dependencies).filter((name) => !bundled.includes(name));

function isPackage(module) {
  return packages.some((name) => module === name || module.startsWith(`${name}/`));
}

const ours = /\/src\//;
const undici = /\/node_modules\/undici\//;

/** Modules that cost a start dear, and what does instead of them. */
const standIns = [
  {
    // The rest of undici (fetch, web sockets, caches) takes longer to load than a request takes.
    module: 'undici',
    importer: ours,
    code: `module.exports = {
      Client: require('undici/lib/dispatcher/client.js'),
      Pool: require('undici/lib/dispatcher/pool.js'),
      get ProxyAgent() { return require('undici/index.js').ProxyAgent; },
    };`,
  },
  // No connection is offered HTTP/2, and no body is a form or a blob.
  { module: './client-h2.js', importer: undici, code: 'module.exports = undefined;' },
  { module: '../web/fetch/body.js', importer: undici, code: 'module.exports = undefined;' },
  // All that undici takes of node:http: a kind of stream that it is never given here, and Node's default.
  {
    module: 'node:http',
    importer: undici,
    code: 'module.exports = { IncomingMessage: class {}, maxHeaderSize: 16384 };',
  },
  {
    module: 'node:assert',
    importer: undici,
    code: "module.exports = (value, message = 'undici: an assertion failed') => { if (!value) throw new Error(message); };",
  },
  // No command is a program of its own.
  { module: 'node:child_process', importer: /\/node_modules\/commander\//, code: 'export default {};' },
];

function standInFor(module, importer = '') {
  return standIns.findIndex((standIn) => standIn.module === module && standIn.importer.test(importer));
}

/** Of undici, what no call without a proxy needs: loaded from the package. */
function isRarelyNeeded(module) {
  return module === 'undici/index.js' || module.endsWith('/llhttp-wasm.js');
}

const prefix = '\0stand-in:';

const useStandIns = {
  name: 'stand-ins',
  resolveId(module, importer) {
    if (isRarelyNeeded(module)) return { id: module.replace(/^\.\./, 'undici/lib'), external: true };
    const index = standInFor(module, importer);
    return index < 0 ? null : `${prefix}${index}`;
  },
  load: (id) => (id.startsWith(prefix) ? standIns[Number(id.slice(prefix.length))]?.code : null),
};

const shared = {
  platform: 'node',
  external: (id, importer) => standInFor(id, importer) < 0 && (id.startsWith('node:') || isPackage(id)),
  plugins: [useStandIns],
};

const output = {
  dir: 'dist/cli',
  // Node starts CommonJS sooner than ESM. What only ESM can load is loaded by import().
  format: 'cjs',
  entryFileNames: '[name].cjs',
  // Names stay, for stack traces.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
};

await build({
  ...shared,
  input: { main: 'src/cli/main.ts', 'search-worker': 'src/cli/solve/search-worker.ts' },
  // The chunks below say what comes together.
  checks: { ineffectiveDynamicImport: false },
  output: {
    ...output,
    cleanDir: true,
    dynamicImportInCjs: true,
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: {
      // Each with all that it imports: every file that a start has to open costs as much as 10 kB in it.
      groups: [
        { name: 'start', test: /rolldown[/:]runtime|src\/cli\/(exit-status|version)\.ts$/, priority: 5 },
        { name: 'folders', test: /src\/cli\/completion\/profile-names\.ts$/, priority: 5 },
        // By itself: it has to be there before what it loads.
        { name: 'compile-cache', test: /src\/cli\/compile-cache\.ts$/, priority: 4 },
        { name: 'program', test: /src\/cli\/(run|call-service|commands\/read)\.ts$/, priority: 3 },
        { name: 'client', test: /src\/cli\/one-call-client\.ts$|node_modules\/undici\//, priority: 2 },
        { name: 'table', test: /src\/cli\/output\/envelope-table\.ts$/, priority: 1 },
      ],
    },
  },
});
