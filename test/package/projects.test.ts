import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { nodeOf, project, run } from './tarball.js';

/** Projects of users, with their tools in one installation. */
const consumer = join(inject('folder'), 'projects');
const bin = (name: string) => join(consumer, 'node_modules', name);

beforeAll(() => {
  cpSync(join(import.meta.dirname, 'projects'), consumer, { recursive: true });
  for (const name of ['client.ts', 'lambda.ts'])
    cpSync(join(project, 'examples', name), join(consumer, name));
  // Not in `dependencies`, which tsup would leave out of its bundle.
  run(consumer, 'npm', 'install', '--ignore-scripts', '--silent', '--save-dev', inject('tarball'));
});

describe('a program of TypeScript', () => {
  it('compiles with its library checked, from 5.4 on, by every resolution, with types of Node or none', () => {
    const lines = run(consumer, process.execPath, 'types.mjs').trimEnd().split('\n');
    const wanted = ['5.4', '5.9'].flatMap((version) =>
      ['node10', 'node16', 'nodenext', 'bundler'].flatMap((resolution) =>
        ['', ' node'].map((types) => `${version} ${resolution}${types}`),
      ),
    );
    expect(lines.sort()).toEqual(wanted.sort());
  });

  it.each(['node16', 'nodenext', 'bundler'])('compiles by TypeScript 7 with %s', (resolution) => {
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const options = `--noEmit --strict --skipLibCheck false --target es2022 --module ${module}`;
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    const tsc = (...args: string[]) =>
      run(
        consumer,
        process.execPath,
        compiler,
        ...options.split(' '),
        '--moduleResolution',
        resolution,
        ...args,
      );
    tsc('--types', 'node', '--ignoreConfig', 'types.mts', 'types.cts');
    tsc('--types', '', '--lib', 'es2022,dom,esnext.disposable', '--ignoreConfig', 'types.mts', 'types.cts');
  });
});

it('is required by Jest as it is, and by ts-jest with the resolution of node10', () => {
  const jest = (...args: string[]) => run(consumer, process.execPath, bin('jest/bin/jest.js'), ...args);
  jest('double');
  jest('controller', '--preset', 'ts-jest');
});

it('recognizes its secrets and errors in both formats', () => {
  expect(run(consumer, process.execPath, 'formats.cjs')).toMatch(/^(true ?){6}\n$/);
});

it('runs on Bun and Deno', () => {
  const bun = readdirSync(bin('@oven')).find((name) => !name.endsWith('-baseline')) ?? '';
  const runtimes: [string, ...string[]][] = [
    [bin(`@oven/${bun}/bin/bun`)],
    [bin('.bin/deno'), 'run', '--allow-all'],
  ];
  for (const [command, ...args] of runtimes) {
    for (const program of ['read.mjs', 'service.mjs'])
      expect([command, run(consumer, command, ...args, program)]).toEqual([command, 'ok\n']);
  }
});

describe('built with the defaults of the tool, and run on Node 20, 22 and 24', () => {
  let nodes: readonly string[];
  const build = (script: string) => run(consumer, 'npm', 'run', '--silent', script);

  beforeAll(() => {
    nodes = [process.execPath, nodeOf('22'), nodeOf('24')];
  });

  it.each([
    ['esbuild', ['esbuild.js']],
    ['esbuild:esm', ['esbuild.mjs']],
    ['rollup', ['rollup.cjs']],
    ['rollup:esm', ['rollup.mjs']],
    ['webpack', ['webpack/main.js']],
    ['vite', ['vite/read.mjs']],
    ['vite:bundled', ['vite-bundled/read.mjs']],
    ['tsup', ['tsup/read.js', 'tsup/read.mjs']],
  ])('%s', (script, files) => {
    build(script);
    for (const file of files)
      for (const node of nodes)
        expect([file, node, run(consumer, node, `out/${file}`)]).toEqual([file, node, 'ok\n']);
  });

  it.each([
    ['cdk', 'cdk/index.js'],
    ['sam', 'sam/index.js'],
    ['sst', 'sst/index.mjs'],
  ])('the Lambda of %s', (script, file) => {
    build(script);
    for (const node of nodes)
      expect([node, run(consumer, node, 'invoke.mjs', `./out/${file}`)]).toEqual([
        node,
        '200 ok INVALID_INPUT\n',
      ]);
  });

  it('next', () => {
    build('next');
    for (const node of nodes)
      expect([node, run(consumer, node, 'next.mjs')]).toEqual([node, 'ok true REJECTED\n']);
  });
});
