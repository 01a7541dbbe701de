import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder for the projects of users, removed at the end. Its path has blanks. */
    readonly folder: string;
    readonly tarball: string;
    /** The paths of the files in it. */
    readonly packed: string[];
  }
}

export const project = join(import.meta.dirname, '..', '..');

/** Packs once, for all files of tests: npm builds a tree that is new. */
export default function pack({ provide }: TestProject): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'userinfo of a user ')));
  const args = ['pack', '--json', '--silent', '--pack-destination', folder];
  const [listing] = JSON.parse(execFileSync('npm', args, { cwd: project, encoding: 'utf8' }));
  provide('folder', folder);
  provide('tarball', join(folder, listing.filename));
  provide(
    'packed',
    listing.files.map(({ path }: { readonly path: string }) => path),
  );
  return () => rmSync(folder, { recursive: true, force: true });
}

/**
 * Runs a program in a folder of ours, as somebody would who has nothing of this project but the
 * tarball.
 */
export function run(where: string, command: string, ...args: string[]): string {
  const env = {
    ...process.env,
    USERINFO_CONFIG_DIR: join(inject('folder'), 'config'),
    YARN_ENABLE_TELEMETRY: '0',
    NEXT_TELEMETRY_DISABLED: '1',
  };
  return execFileSync(command, args, { cwd: where, env, encoding: 'utf8', maxBuffer: 1e8 });
}

export function emptyProject(name: string): string {
  const path = join(inject('folder'), name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{"type":"module","private":true}\n');
  return path;
}

/** The path of another version of Node. */
export function nodeOf(major: string): string {
  return run(
    inject('folder'),
    'npx',
    '-y',
    '-p',
    `node@${major}`,
    'node',
    '-p',
    'process.execPath',
  ).trim();
}

/** The command line, in the project of a user. */
export const installed = 'node_modules/userinfo-exchange/bin/userinfo.cjs';
export const goldInTable = /│ acme_level │ gold/;

/** Programs with the SDK, and with the service and its SQLite. */
const programs = ['read.mjs', 'service.mjs'];

export function addPrograms(consumer: string): void {
  for (const program of programs)
    cpSync(join(import.meta.dirname, 'projects', program), join(consumer, program));
}

/** Runs these programs and the command line. */
export function expectWorking(
  consumer: string,
  ...runtime: readonly [command: string, ...args: string[]]
): void {
  const [command, ...args] = runtime;
  const commandLine = existsSync(join(consumer, installed)) ? [[installed, 'demo']] : [];
  for (const program of [...programs.map((name) => [name]), ...commandLine]) {
    const env = { ...process.env, USERINFO_CONFIG_DIR: join(inject('folder'), 'config') };
    const options = { cwd: consumer, env, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(command, [...args, ...program], options);
    expect([program, stdout]).toEqual([
      program,
      program[0] === installed ? expect.stringMatching(goldInTable) : 'ok\n',
    ]);
    expect(stderr.replace(/^.*ExperimentalWarning: SQLite .*\n.*--trace-warnings.*\n/, '')).toBe(
      '',
    );
  }
}
