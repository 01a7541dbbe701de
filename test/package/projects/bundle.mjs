// Makes one file of read.mjs by each bundler, as a module and as CommonJS.
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build } from 'vite';
import webpack from 'webpack';

const entry = `${import.meta.dirname}/read.mjs`;
const outputs = [
  { format: 'es', end: 'mjs' },
  { format: 'cjs', end: 'cjs' },
];

for (const { format, end } of outputs) {
  await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    minify: true,
    outfile: `out/esbuild.${end}`,
    format: format === 'es' ? 'esm' : 'cjs',
    ...(format === 'es' && {
      // undici is CommonJS, and esbuild gives a module no require().
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    }),
  });

  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    entry,
    experiments: { outputModule: format === 'es' },
    output: {
      path: `${import.meta.dirname}/out`,
      filename: `webpack.${end}`,
      ...(format === 'es' && { module: true, library: { type: 'module' } }),
    },
  });
  await new Promise((done, failed) => {
    compiler.run((error, stats) =>
      (error ?? stats?.hasErrors()) ? failed(error ?? new Error(stats?.toString())) : done(),
    );
  });

  // A module of undici for which Node 20 has nothing, and that is not used.
  const plugins = [nodeResolve({ preferBuiltins: true }), commonjs({ ignore: ['node:sqlite'] })];
  const bundle = await rollup({ input: entry, plugins, external: /^node:/, logLevel: 'silent' });
  await bundle.write({ file: `out/rollup.${end}`, format, inlineDynamicImports: true });

  await build({
    logLevel: 'error',
    configFile: false,
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir: 'out',
      emptyOutDir: false,
      minify: true,
      rollupOptions: { output: { format, entryFileNames: `vite.${end}` } },
    },
  });
}
