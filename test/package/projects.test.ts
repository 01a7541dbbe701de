import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { emptyProject, nodeOf, project, run } from './tarball.js';

/** Projects of users, with their tools in one installation. */
const consumer = join(inject('folder'), 'projects');
const bin = (name: string) => join(consumer, 'node_modules', name);

beforeAll(() => {
  cpSync(join(import.meta.dirname, 'projects'), consumer, { recursive: true });
  // The same code as CommonJS.
  cpSync(join(consumer, 'types.mts'), join(consumer, 'types.cts'));
  for (const name of ['client.ts', 'lambda.ts'])
    cpSync(join(project, 'examples', name), join(consumer, name));
  cpSync(join(project, 'examples/service.jest.cjs'), join(consumer, 'service.test.js'));
  // Not in `dependencies`, which tsup would leave out of its bundle. The scripts are those of the
  // tools: Bun's moves it.
  run(consumer, 'npm', 'install', '--ignore-scripts', '--silent', '--save-dev', inject('tarball'));
});

/** A registry with the tarball, which leads to the usual one for all else. */
async function registryOf(
  tarball: string,
): Promise<{ readonly url: string; close(): Promise<unknown> }> {
  const file = readFileSync(tarball);
  const manifest = JSON.parse(run(consumer, 'tar', '-xOf', tarball, 'package/package.json'));
  const usual = run(consumer, 'npm', 'config', 'get', 'registry').trim().replace(/\/$/, '');
  const { name, version } = manifest;
  const server = createServer(({ url: asked = '' }, response) => {
    const integrity = `sha512-${createHash('sha512').update(file).digest('base64')}`;
    const dist = { tarball: `${url}/${name}/-/${name}.tgz`, integrity };
    if (asked === `/${name}`)
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    else if (asked.startsWith(`/${name}/`)) response.end(file);
    else response.writeHead(302, { location: usual + asked }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

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
    tsc(
      '--types',
      '',
      '--lib',
      'es2022,dom,esnext.disposable',
      '--ignoreConfig',
      'types.mts',
      'types.cts',
    );
  });
});

it('is required by Jest as it is, and by ts-jest with the resolution of node10', () => {
  const jest = (...args: string[]) =>
    run(consumer, process.execPath, bin('jest/bin/jest.js'), ...args);
  jest('double');
  jest('service.test.js');
  jest('fake-timers');
  jest('controller', '--preset', 'ts-jest');
});

it('recognizes its secrets and errors in both formats', () => {
  expect(run(consumer, process.execPath, 'formats.cjs')).toMatch(/^(true ?){6}\n$/);
});

describe('Bun and Deno', () => {
  const programs = ['read.mjs', 'service.mjs'];
  let bun: string;
  const deno = bin('.bin/deno');

  beforeAll(() => {
    const builds = readdirSync(bin('@oven'));
    bun = bin(`@oven/${builds.find((name) => !name.endsWith('-baseline'))}/bin/bun`);
  });

  const withPrograms = (name: string) => {
    const folder = emptyProject(name);
    for (const each of programs) cpSync(join(consumer, each), join(folder, each));
    return folder;
  };
  const expectWorking = (folder: string, ...[command, ...args]: [string, ...string[]]) => {
    for (const each of programs)
      expect([command, each, run(folder, command, ...args, each)]).toEqual([command, each, 'ok\n']);
  };

  it('run what npm installs', () => {
    expectWorking(consumer, bun);
    expectWorking(consumer, deno, 'run', '--allow-all');
  });

  it('install it, Bun from the tarball', () => {
    const folder = withPrograms('by Bun');
    run(folder, bun, 'add', '--silent', inject('tarball'));
    expectWorking(folder, bun);
    expect(run(folder, bun, 'x', 'userinfo', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('install it, Deno from a registry', async () => {
    const folder = withPrograms('by Deno');
    const registry = await registryOf(inject('tarball'));
    const env = {
      ...process.env,
      NPM_CONFIG_REGISTRY: registry.url,
      DENO_DIR: join(folder, '.deno'),
    };
    await promisify(execFile)(deno, ['add', '--quiet', 'npm:userinfo-exchange'], {
      cwd: folder,
      env,
    });
    await registry.close();
    expectWorking(folder, deno, 'run', '--allow-all');
  });
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

  it('a program that uses a profile', () => {
    const app = [
      '--tenant-code',
      't',
      '--channel',
      'c',
      '--app-key',
      'k',
      '--app-secret-command',
      'echo s',
    ];
    run(
      consumer,
      bin('.bin/userinfo'),
      'profile',
      'add',
      'shop',
      '--base-url',
      'http://127.0.0.1:9',
      ...app,
    );
    build('profile');
    for (const node of nodes)
      expect([node, run(consumer, node, 'out/profile.mjs')]).toEqual([node, 'ok\n']);
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
});
