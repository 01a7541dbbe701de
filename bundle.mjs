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

/** Modules that cost a start dear, and what does instead of them. */
const standIns = [
  {
    // The rest of undici (fetch, web sockets, caches) takes longer to load than a request takes.
    module: 'undici',
    importer: /\/src\//,
    // Its proxies open their tunnels by a method that its index adds to all dispatchers.
    code: `module.exports = {
      get Pool() { return require('undici/lib/dispatcher/pool.js'); },
      get ProxyAgent() {
        require('undici/lib/dispatcher/dispatcher.js').prototype.connect = require('undici/lib/api/api-connect.js');
        return require('undici/lib/dispatcher/proxy-agent.js');
      },
    };`,
  },
  // No connection is offered HTTP/2. This is what undici itself does without it.
  { module: 'node:http2', importer: /\/node_modules\/undici\//, code: 'export const constants = {}' },
  // No command is a program of its own.
  { module: 'node:child_process', importer: /\/node_modules\/commander\//, code: 'export default {}' },
];

function standInFor(module, importer = '') {
  return standIns.findIndex((standIn) => standIn.module === module && standIn.importer.test(importer));
}

const prefix = '\0stand-in:';

const useStandIns = {
  name: 'stand-ins',
  resolveId(module, importer) {
    const index = standInFor(module, importer);
    return index < 0 ? null : `${prefix}${index}`;
  },
  load: (id) => (id.startsWith(prefix) ? standIns[Number(id.slice(prefix.length))]?.code : null),
};

await build({
  input: { main: 'src/cli/main.ts', 'search-worker': 'src/cli/solve/search-worker.ts' },
  platform: 'node',
  external: (id, importer) => standInFor(id, importer) < 0 && (id.startsWith('node:') || isPackage(id)),
  plugins: [useStandIns],
  // The chunks below say what comes together.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/cli',
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      // Each with all that it imports: every file that a start has to open costs as much as 10 kB in it.
      groups: [
        { name: 'start', test: /src\/cli\/(io|exit-status|version)\.ts$/, priority: 4 },
        { name: 'profile-names', test: /src\/cli\/completion\/profile-names\.ts$/, priority: 3 },
        { name: 'undici', test: /node_modules\/undici\//, priority: 3 },
        { name: 'program', test: /src\/cli\/(run|call-service|commands\/read)\.ts$/, priority: 2 },
        { name: 'client', test: /src\/client\/client\.ts$/, priority: 1 },
        { name: 'table', test: /src\/cli\/output\/envelope-table\.ts$/, priority: 1 },
      ],
    },
  },
});
