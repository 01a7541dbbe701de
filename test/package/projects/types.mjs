// Compiles types.mts and types.cts by each version of TypeScript that has an API, with every way of
// resolving modules, with the library checked: with the types of Node, and without any package.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const resolutions = [
  { moduleResolution: 'node10', module: 'commonjs' },
  { moduleResolution: 'node16', module: 'node16' },
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'bundler', module: 'esnext' },
];
const libraries = [
  { types: ['node'], lib: ['lib.es2022.d.ts'] },
  { types: [], lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.esnext.disposable.d.ts'] },
];
for (const name of ['typescript-5.4', 'typescript']) {
  const ts = require(name);
  const files = new Map();
  for (const resolution of resolutions) {
    for (const library of libraries) {
      const { options, errors } = ts.convertCompilerOptionsFromJson(
        {
          ...resolution,
          types: library.types,
          target: 'es2022',
          strict: true,
          skipLibCheck: false,
          noEmit: true,
        },
        import.meta.dirname,
      );
      options.lib = library.lib;
      const host = ts.createCompilerHost(options);
      const parse = host.getSourceFile;
      // Each file is parsed once for all ways, except where the format of a module depends on the
      // way.
      host.getSourceFile = (path, target, ...rest) => {
        const key = `${path} ${target.impliedNodeFormat}`;
        if (!files.has(key)) files.set(key, parse(path, target, ...rest));
        return files.get(key);
      };
      const program = ts.createProgram(['types.mts', 'types.cts'], options, host);
      // Not the types of Node and the libraries of TypeScript, which are large and not ours.
      const ours = program
        .getSourceFiles()
        .filter(({ fileName }) => /\/userinfo-exchange\/|\/?types\.[cm]ts$/.test(fileName));
      const faults = [
        ...errors,
        ...program.getOptionsDiagnostics(),
        ...program.getGlobalDiagnostics(),
        ...ours.flatMap((file) => [
          ...program.getSyntacticDiagnostics(file),
          ...program.getSemanticDiagnostics(file),
        ]),
      ];
      if (ours.length < 50) throw new Error(`found ${ours.length} files of the library`);
      const text = ts.formatDiagnostics(faults, host).split('\n').slice(0, 5).join('\n');
      process.stdout.write(
        `${[ts.versionMajorMinor, resolution.moduleResolution, ...library.types, text].join(' ').trim()}\n`,
      );
    }
  }
}
