import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import {
  addPrograms,
  emptyProject,
  expectWorking,
  goldInTable,
  installed,
  nodeOf,
  project,
  run,
} from './tarball.js';

const folder = inject('folder');
const tarball = inject('tarball');

function documentedPrograms(): string[] {
  const pages = ['README.md', 'docs/sdk.md', 'docs/testing.md'].map((page) =>
    readFileSync(join(project, page), 'utf8'),
  );
  return pages.flatMap((page) =>
    [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, program = '']) => program),
  );
}

/** Size of the files of a folder, in MB. */
function megabytes(path: string): number {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  const sizes = names.map((name) => lstatSync(join(path, name))).filter((stats) => stats.isFile());
  return sizes.reduce((sum, { size }) => sum + size, 0) / 1e6;
}

describe('installed by npm into a folder whose path has blanks', () => {
  let consumer: string;

  beforeAll(() => {
    consumer = emptyProject('by npm');
    run(consumer, 'npm', 'install', tarball);
    addPrograms(consumer);
  });

  it('is one package of at most 30 MB, 18 of them SQLite', () => {
    const names = readdirSync(join(consumer, 'node_modules')).filter(
      (name) => !name.startsWith('.'),
    );
    expect(names).toEqual(['userinfo-exchange']);
    expect(megabytes(join(consumer, 'node_modules'))).toBeLessThan(30);
    expect(megabytes(join(consumer, 'node_modules/userinfo-exchange/dist/sqlite'))).toBeLessThan(
      20,
    );
  });

  it('gives a working userinfo', () => {
    expectWorking(consumer, process.execPath);
    expect(run(consumer, 'npx', 'userinfo', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run(consumer, 'npx', 'userinfo', 'demo')).toMatch(
      /│ acme_level │ gold.*\n {2}userinfo serve --demo /s,
    );
  });

  it.each(['22', '24'])('works on Node %s', (major) => {
    expectWorking(consumer, nodeOf(major));
  });

  // A user without rights, as the file system is read-only to it.
  it.skipIf(process.getuid?.() !== 0)('works where nothing can be written (needs root)', () => {
    chmodSync(folder, 0o755);
    const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
    const options = { cwd: consumer, env, uid: 65_534, gid: 65_534, encoding: 'utf8' } as const;
    for (const args of [['service.mjs'], [installed, 'demo']]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
      expect([args, status, stderr]).toEqual([args, 0, '']);
      expect(stdout).toMatch(args.length === 1 ? /^ok$/m : goldInTable);
    }
    const { status } = spawnSync('touch', ['here'], options);
    expect(status).not.toBe(0);
  });

  it.each([true, false])(
    'compiles in strict programs with skipLibCheck %s, those of README.md and docs among them',
    (skipLibCheck) => {
      cpSync(join(import.meta.dirname, 'consumer'), consumer, { recursive: true });
      for (const [index, program] of documentedPrograms().entries())
        writeFileSync(join(consumer, `documented-${index}.ts`), program);
      const hook = 'export function HOOK(work: () => Promise<void>): void;';
      const hooks = ['beforeEach', 'afterAll'].map((name) => hook.replace('HOOK', name)).join(' ');
      writeFileSync(join(consumer, 'vitest.d.ts'), `declare module 'vitest' { ${hooks} }\n`);
      // Types of Node are the program's own affair.
      for (const name of ['@types/node', 'undici-types'])
        cpSync(join(project, 'node_modules', name), join(consumer, 'node_modules', name), {
          recursive: true,
        });
      const compiler = join(project, 'node_modules/typescript/bin/tsc');
      run(consumer, process.execPath, compiler, '--skipLibCheck', `${skipLibCheck}`);
      expect(run(consumer, 'node', 'built/sdk.js')).toBe('true 200 ok\nREJECTED 40106\n');
    },
  );
});

describe('on a system without a prebuilt SQLite', () => {
  let consumer: string;

  beforeAll(() => {
    consumer = emptyProject('without SQLite');
    run(consumer, 'npm', 'install', tarball);
    rmSync(join(consumer, 'node_modules/userinfo-exchange/dist/sqlite'), { recursive: true });
    addPrograms(consumer);
  });

  it('the service uses the SQLite of Node 24', () => {
    expectWorking(consumer, nodeOf('24'));
  });

  it.runIf(process.versions.node.startsWith('20.'))(
    'says on Node 20 how to get one (needs Node 20)',
    () => {
      expect(run(consumer, process.execPath, 'read.mjs')).toBe('ok\n');
      const { status, stderr } = spawnSync(process.execPath, [installed, 'demo'], {
        cwd: consumer,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([
        2,
        expect.stringMatching(
          /there is no SQLite for \S+ beside the program.*\nUse Node 22\.13 or later, or/,
        ),
      ]);
    },
  );
});

it('runs by npx without being installed', () => {
  const nowhere = emptyProject('by npx');
  expect(run(nowhere, 'npx', '-y', '-p', tarball, 'userinfo', 'demo')).toMatch(goldInTable);
});
