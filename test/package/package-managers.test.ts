import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { addPrograms, emptyProject, expectWorking, goldInTable } from './tarball.js';

const tarball = inject('tarball');

/**
 * What people install with, each at its latest: the package that has it, its command, and what runs
 * a program.
 */
const managers = [
  ['pnpm', 'pnpm@latest', ['pnpm', 'add'], []],
  [
    'pnpm, from its lock file',
    'pnpm@latest',
    ['pnpm', 'add'],
    ['pnpm', 'install', '--frozen-lockfile'],
  ],
  ['Yarn 1', 'yarn@1', ['yarn', 'add'], []],
  ['Yarn 4, Plug and Play', '@yarnpkg/cli-dist@latest', ['yarn', 'add'], []],
] as const;

it.each(managers)(
  '%s installs it without a flag, silently, and it works',
  (name, found, add, again) => {
    const consumer = emptyProject(`by ${name}`);
    addPrograms(consumer);
    const isPnp = found.startsWith('@yarnpkg');
    // Else Yarn takes the folder for part of a project further up.
    if (isPnp) writeFileSync(join(consumer, 'yarn.lock'), '');
    const manager = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync('npx', ['-y', '-p', found, ...args], {
        cwd: consumer,
        env: {
          ...process.env,
          YARN_ENABLE_TELEMETRY: '0',
          USERINFO_CONFIG_DIR: join(inject('folder'), 'config'),
        },
        encoding: 'utf8',
      });
      expect([args, status, stderr, isPnp ? '' : stdout]).toEqual([
        args,
        0,
        '',
        isPnp ? '' : expect.anything(),
      ]);
      return stdout;
    };
    manager(...add, isPnp ? `userinfo-exchange@file:${tarball}` : tarball);
    if (again.length > 0) {
      rmSync(join(consumer, 'node_modules'), { recursive: true });
      manager(...again);
    }
    if (isPnp) expect(manager('yarn', 'run', 'userinfo', 'demo')).toMatch(goldInTable);
    else expectWorking(consumer, process.execPath);
  },
);
