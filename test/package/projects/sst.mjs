// SST builds a Lambda with these options of esbuild.
import { build } from 'esbuild';

await build({
  entryPoints: ['lambda.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'esnext',
  mainFields: ['module', 'main'],
  keepNames: true,
  minify: true,
  external: ['sharp', 'pg-native'],
  banner: {
    js: [
      "import { createRequire as topLevelCreateRequire } from 'module';",
      'const require = topLevelCreateRequire(import.meta.url);',
      'import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url"',
      'const __filename = topLevelFileUrlToPath(import.meta.url)',
      'const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url))',
    ].join('\n'),
  },
  outfile: 'out/sst/index.mjs',
});
