import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const installed = 'node_modules/userinfo-cli/bin/userinfo.cjs';
let folder: string;
let tarball: string;
let packed: string[];

/** Runs a program in a folder of ours, as somebody would who has nothing of this project but the tarball. */
function run(where: string, command: string, ...args: string[]): string {
  const env = { ...process.env, USERINFO_CONFIG_DIR: join(folder, 'config') };
  return execFileSync(command, args, { cwd: where, env, encoding: 'utf8' });
}

function emptyProject(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{"type":"module","private":true}\n');
  return path;
}

function tool(name: string, ...args: string[]): string {
  return run(project, process.execPath, join(project, 'node_modules', name), ...args);
}

function documentedPrograms(): string[] {
  const pages = ['README.md', 'docs/sdk.md', 'docs/testing.md'].map((page) =>
    readFileSync(join(project, page), 'utf8'),
  );
  return pages.flatMap((page) =>
    [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, program = '']) => program),
  );
}

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'userinfo-packed-')));
  const [listing] = JSON.parse(
    run(project, 'npm', 'pack', '--json', '--silent', '--pack-destination', folder),
  );
  tarball = join(folder, listing.filename);
  packed = listing.files.map(({ path }: { readonly path: string }) => path);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('contains what is needed, and no more', () => {
  const needed =
    /^((README(\.zh-CN)?|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|docs\/.+\.(md|1|png|svg)|examples\/[\w.-]+|(dist\/cjs\/)?package\.json|bin\/userinfo\.cjs|dist\/cli\/(THIRD-PARTY-LICENSES\.txt|completion\.json)|dist\/.+\.(c?js|d\.ts))$/;
  expect(packed.filter((path) => !needed.test(path))).toEqual([]);
  expect(packed).toEqual(
    expect.arrayContaining([
      'docs/man/userinfo.1',
      'dist/index.js',
      'dist/service/index.d.ts',
      'dist/cli/main.cjs',
    ]),
  );
});

it('has what its pages link to, except sources', () => {
  const pages = packed.filter((path) => path.endsWith('.md'));
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(project, page), 'utf8').replace(/^```.*?^```$/gms, '');
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, a, b]) => a ?? b ?? '',
    );
    return links
      .filter((link) => !/^(https?|mailto):/.test(link))
      .map((link) => join(dirname(page), link))
      .filter(
        (path) =>
          !/^src\//.test(path) && !packed.some((name) => name === path || name.startsWith(join(path, '/'))),
      )
      .map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

/** What the package may load: installed with it, or in its bundle. */
function loadedPackages(): { readonly installed: string[]; readonly bundled: string[] } {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  );
  const installed = Object.keys({ ...dependencies, ...optionalDependencies });
  const sources = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => readFileSync(join(project, 'src', name), 'utf8'));
  const imported = sources.flatMap((source) =>
    [...source.matchAll(/^(?! +\*).*(?:from|import\() ?'((?:@[\w-]+\/)?[a-z][\w-]*)[^':]*'/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  const bundled = new Set(imported.filter((name) => !installed.includes(name)));
  for (const name of [...bundled, 'undici', 'lossless-json']) bundled.add(name);
  // A set that grows is walked to its end.
  for (const name of bundled) {
    for (const needed of Object.keys(packages[`node_modules/${name}`].dependencies ?? {}))
      bundled.add(needed);
  }
  return { installed, bundled: [...bundled] };
}

it('needs only packages that SECURITY.md lists', () => {
  const security = readFileSync(join(project, 'SECURITY.md'), 'utf8');
  const { installed } = loadedPackages();
  expect(installed.filter((name) => !security.includes(`\`${name}\``))).toEqual([]);
});

it('has the licence of every bundled package', () => {
  const licenses = readFileSync(join(project, 'dist/cli/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const { bundled } = loadedPackages();
  expect(bundled).toEqual(expect.arrayContaining(['commander', 'emoji-regex', 'undici']));
  const named = [...licenses.matchAll(/^(\S+) \d+\.\d+\.\d+\n\n(?=\S)/gm)].map(([, name]) => name);
  expect(bundled.filter((name) => !named.includes(name))).toEqual([]);
});

it('resolves for every way of importing it', () => {
  expect(tool('publint/src/cli.js', tarball, '--strict')).toContain('All good!');
  expect(tool('@arethetypeswrong/cli/dist/index.js', tarball)).toContain('No problems found');
});

it('installs without a warning about install scripts', () => {
  const manifest = run(folder, 'tar', '-xOf', tarball, 'package/package.json');
  const scripts = Object.keys(JSON.parse(manifest).scripts);
  const ofInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(scripts.filter((name) => ofInstall.includes(name))).toEqual([]);
});

describe('installed by npm into an empty folder, without install scripts', () => {
  let consumer: string;

  beforeAll(() => {
    consumer = emptyProject('npm');
    run(consumer, 'npm', 'install', '--ignore-scripts', '--omit=dev', tarball);
    cpSync(join(import.meta.dirname, 'consumer'), consumer, { recursive: true });
    for (const [index, program] of documentedPrograms().entries()) {
      writeFileSync(join(consumer, `documented-${index}.ts`), program);
    }
    const hook = 'export function HOOK(work: () => Promise<void>): void;';
    const hooks = ['beforeEach', 'afterAll'].map((name) => hook.replace('HOOK', name)).join(' ');
    writeFileSync(join(consumer, 'vitest.d.ts'), `declare module 'vitest' { ${hooks} }\n`);
  });

  it('gives a working userinfo', () => {
    expect(run(consumer, 'npx', 'userinfo', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run(consumer, 'npx', 'userinfo', 'demo')).toMatch(
      /│ acme_level │ gold.*\n {2}userinfo serve --demo /s,
    );
  });

  it.each(['22', '24'])('works on Node %s', (major) => {
    vi.stubEnv('XDG_CACHE_HOME', join(folder, `cache-${major}`));
    const node = (...args: string[]) => run(consumer, 'npx', '-y', '-p', `node@${major}`, 'node', ...args);
    expect(node('--version')).toMatch(new RegExp(`^v${major}\\.`));
    expect(node(installed, 'demo')).toMatch(/│ acme_level │ gold/);
    const cache = join(folder, `cache-${major}`, 'userinfo', 'compiled');
    expect(readdirSync(cache)).toEqual([expect.stringMatching(`^v${major}\\.`)]);
  });

  it.each([true, false])(
    'compiles in strict programs with skipLibCheck %s, those of README.md and docs among them',
    (skipLibCheck) => {
      // Types of Node are the program's own affair.
      cpSync(join(project, 'node_modules/@types/node'), join(consumer, 'node_modules/@types/node'), {
        recursive: true,
      });
      cpSync(join(project, 'node_modules/undici-types'), join(consumer, 'node_modules/undici-types'), {
        recursive: true,
      });
      run(
        consumer,
        process.execPath,
        join(project, 'node_modules/typescript/bin/tsc'),
        '--skipLibCheck',
        `${skipLibCheck}`,
      );
      expect(run(consumer, 'node', 'built/sdk.js')).toBe('true 200 ok\nREJECTED 40106\n');
    },
  );
});

/** A project that has the package without its optional dependencies. */
function clientAlone(): string {
  if (existsSync(join(folder, 'client-alone'))) return join(folder, 'client-alone');
  const consumer = emptyProject('client-alone');
  run(consumer, 'npm', 'install', '--ignore-scripts', '--omit=dev', '--omit=optional', tarball);
  for (const program of ['read.mjs', 'missing.mjs'])
    cpSync(join(import.meta.dirname, 'projects', program), join(consumer, program));
  return consumer;
}

/** Runs the client, and a service that names the packages that it needs. */
function expectClientAlone(...runtime: readonly [command: string, ...args: string[]]): void {
  const [command, ...args] = runtime;
  expect(run(clientAlone(), command, ...args, 'read.mjs')).toBe('ok\n');
  expect(run(clientAlone(), command, ...args, 'missing.mjs').split('\n')).toEqual([
    'MISSING_PACKAGE the package fastify, which this needs, is not installed',
    'MISSING_PACKAGE the package @photostructure/sqlite, which this needs, is not installed',
    'MISSING_PACKAGE the package pg, which this needs, is not installed',
    '',
  ]);
}

describe('installed without its optional dependencies', () => {
  it('is a handful of packages', () => {
    const names = readdirSync(join(clientAlone(), 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(names).toEqual(['csv-parse', 'csv-stringify', 'lossless-json', 'undici', 'userinfo-cli']);
  });

  it('gives a client that works, and a service that names the package that it needs', () => {
    expectClientAlone(process.execPath);
  });

  it.each([
    [['--version'], 0, ''],
    [['read', 'c1'], 5, 'cannot connect to 127.0.0.1:9'],
    [['read', 'c1', '-o', 'yaml'], 2, 'the package yaml, which this needs, is not installed'],
    [['read', 'c1', '--query', 'data'], 2, 'the package @jmespath-community/jmespath'],
    [['serve'], 2, 'Run "npm install fastify", or install userinfo-cli without --omit=optional.'],
  ])('has a command that does what it can: %j', (args, status, said) => {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      USERINFO_BASE_URL: 'http://127.0.0.1:9',
      USERINFO_TENANT_CODE: 't',
      USERINFO_CHANNEL: 'c',
      USERINFO_APP_KEY: 'k',
      USERINFO_APP_SECRET: 's',
    };
    const result = spawnSync(process.execPath, [installed, ...args], {
      cwd: clientAlone(),
      env,
      encoding: 'utf8',
    });
    expect({ status: result.status, stderr: result.stderr }).toEqual({
      status,
      stderr: expect.stringContaining(said),
    });
  });
});

it('works when pnpm installs it with strict dependencies', () => {
  const consumer = emptyProject('pnpm');
  run(consumer, 'npx', '-y', 'pnpm@10', 'add', '--ignore-scripts', '--silent', tarball);
  expect(run(consumer, 'node', installed, 'demo')).toMatch(/│ acme_level │ gold/);
});

it('runs by npx without being installed', () => {
  const nowhere = emptyProject('npx');
  expect(run(nowhere, 'npx', '-y', '--ignore-scripts', '-p', tarball, 'userinfo', 'demo')).toMatch(
    /│ acme_level │ gold/,
  );
});

describe('installed beside the tools of other projects', () => {
  let consumer: string;
  const bin = (name: string) => join(consumer, 'node_modules', name);

  beforeAll(() => {
    consumer = join(folder, 'projects');
    cpSync(join(import.meta.dirname, 'projects'), consumer, { recursive: true });
    run(consumer, 'npm', 'install', '--ignore-scripts', '--silent', tarball);
  });

  it('is required by Jest as it is, and by ts-jest with the resolution of node10', () => {
    const jest = (...args: string[]) => run(consumer, process.execPath, bin('jest/bin/jest.js'), ...args);
    jest('double');
    jest('controller', '--preset', 'ts-jest');
  });

  it('compiles in a CommonJS program with its library checked', () => {
    run(consumer, process.execPath, bin('typescript/bin/tsc'), '--noEmit', '--skipLibCheck', 'false');
  });

  it('recognizes its secrets and errors in both formats', () => {
    expect(run(consumer, process.execPath, 'formats.cjs')).toMatch(/^(true ?){6}\n$/);
  });

  it('runs on Bun and Deno, also without its optional dependencies', () => {
    const bun = readdirSync(bin('@oven')).find((name) => !name.endsWith('-baseline')) ?? '';
    const runtimes: [string, ...string[]][] = [
      [bin(`@oven/${bun}/bin/bun`)],
      [bin('.bin/deno'), 'run', '--allow-all'],
    ];
    for (const [command, ...args] of runtimes) {
      for (const program of ['read.mjs', 'service.mjs'])
        expect([command, run(consumer, command, ...args, program)]).toEqual([command, 'ok\n']);
      expectClientAlone(command, ...args);
    }
  });

  it('runs from one file made by esbuild, rollup, vite and webpack, as a module and as CommonJS', () => {
    run(consumer, process.execPath, 'bundle.mjs');
    const made = readdirSync(join(consumer, 'out')).filter((name) => /\.[cm]js$/.test(name));
    expect(made.sort()).toEqual(
      ['esbuild', 'rollup', 'vite', 'webpack'].flatMap((name) => [`${name}.cjs`, `${name}.mjs`]),
    );
    for (const file of made)
      expect([file, run(consumer, process.execPath, `out/${file}`)]).toEqual([file, 'ok\n']);
  });
});
