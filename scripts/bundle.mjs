// Makes dist/cli, the command line in few files; tsc makes the rest of dist.
import { readFileSync } from 'node:fs';
import { build } from 'rolldown';

/** Small, or needed by every command; the other dependencies are loaded from their packages, by who needs them. */
const bundled = [
  'chalk',
  'cli-table3',
  'commander',
  'env-paths',
  'fastest-levenshtein',
  'lossless-json',
  'string-width',
  'undici',
];

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const packages = Object.keys(dependencies).filter((name) => !bundled.includes(name));

/** Modules of undici that it loads when it needs them, which the command line does on no usual machine. */
const rarelyNeeded = /^\.\.\/(web\/fetch\/body|llhttp\/llhttp-wasm)\.js$/;

await build({
  platform: 'node',
  input: { main: 'src/cli/main.ts', 'search-worker': 'src/cli/solve/search-worker.ts' },
  external: (id) =>
    id.startsWith('node:') || packages.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [
    {
      name: 'rarely-needed',
      resolveId: (id) =>
        rarelyNeeded.test(id) ? { id: id.replace('..', 'undici/lib'), external: true } : null,
    },
  ],
  // The chunks below say what comes together.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/cli',
    cleanDir: true,
    // Node starts CommonJS sooner than ESM. What only ESM can load is loaded by import().
    format: 'cjs',
    dynamicImportInCjs: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // Names stay, for stack traces.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: {
      // Each with all that it imports: every file that a start has to open costs as much as 10 kB in it.
      groups: [
        { name: 'start', test: /rolldown[/:]runtime|src\/cli\/(exit-status|version)\.ts$/, priority: 5 },
        { name: 'folders', test: /src\/cli\/completion\/profile-names\.ts$/, priority: 5 },
        { name: 'program', test: /src\/cli\/(run|call-service|commands\/read)\.ts$/, priority: 3 },
        { name: 'client', test: /src\/cli\/one-call-client\.ts$|node_modules\/undici\//, priority: 2 },
        { name: 'table', test: /src\/cli\/output\/envelope-table\.ts$/, priority: 1 },
      ],
    },
  },
});
