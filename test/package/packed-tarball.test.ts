import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

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

function readmePrograms(): string[] {
  const readme = readFileSync(join(project, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, program = '']) => program);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'userinfo-packed-'));
  const [listing] = JSON.parse(
    run(project, 'npm', 'pack', '--json', '--silent', '--pack-destination', folder),
  );
  tarball = join(folder, listing.filename);
  packed = listing.files.map(({ path }: { readonly path: string }) => path);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('holds what is needed, and no more', () => {
  const needed =
    /^(README\.md|LICENSE|CHANGELOG\.md|package\.json|bin\/userinfo\.cjs|dist\/.+\.(c?js|d\.ts))$/;
  expect(packed.filter((path) => !needed.test(path))).toEqual([]);
  expect(packed).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/service/index.d.ts', 'dist/cli/main.cjs']),
  );
});

it('needs no package that SECURITY.md does not say what it is trusted with', () => {
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const security = readFileSync(join(project, 'SECURITY.md'), 'utf8');
  expect(Object.keys(dependencies).filter((name) => !security.includes(`\`${name}\``))).toEqual([]);
});

it('is found right by every way of importing it', () => {
  expect(tool('publint/src/cli.js', tarball, '--strict')).toContain('All good!');
  expect(tool('@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only')).toContain('🟢');
});

describe('installed by npm into an empty folder, without install scripts', () => {
  let consumer: string;

  beforeAll(() => {
    consumer = emptyProject('npm');
    run(consumer, 'npm', 'install', '--ignore-scripts', '--omit=dev', tarball);
    cpSync(join(import.meta.dirname, 'consumer'), consumer, { recursive: true });
    for (const [index, program] of readmePrograms().entries()) {
      writeFileSync(join(consumer, `readme-${index}.ts`), program);
    }
  });

  it('gives a working userinfo', () => {
    expect(run(consumer, 'npx', 'userinfo', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run(consumer, 'npx', 'userinfo', 'demo')).toMatch(/│ acme_level │ gold/);
  });

  it.each(['22', '24'])('works on Node %s', (major) => {
    const node = (...args: string[]) => run(consumer, 'npx', '-y', '-p', `node@${major}`, 'node', ...args);
    expect(node('--version')).toMatch(new RegExp(`^v${major}\\.`));
    expect(node(installed, 'demo')).toMatch(/│ acme_level │ gold/);
  });

  it.each([true, false])(
    'compiles in strict programs with skipLibCheck %s, those of the README among them',
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

it('works where pnpm installs it, which lets a package see its own dependencies alone', () => {
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
