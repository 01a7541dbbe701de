import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { project, run } from './tarball.js';

/**
 * A copy of the project, whose undici can be changed. Its other packages are those of the project.
 */
function copyOfProject(): string {
  const copy = join(inject('folder'), 'with another undici');
  for (const name of [
    'src',
    'scripts',
    'bin',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ])
    cpSync(join(project, name), join(copy, name), { recursive: true });
  cpSync(join(project, 'dist/.types'), join(copy, 'dist/.types'), { recursive: true });
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(project, 'node_modules'))) {
    const [from, to] = [join(project, 'node_modules', name), join(copy, 'node_modules', name)];
    if (name === 'undici') cpSync(from, to, { recursive: true });
    else symlinkSync(from, to);
  }
  return copy;
}

it('an undici that has its private files elsewhere is bundled by its entry, and works', () => {
  const copy = copyOfProject();
  const undici = join(copy, 'node_modules/undici');
  renameSync(join(undici, 'lib/core/connect.js'), join(undici, 'lib/core/moved.js'));
  for (const name of [
    'index.js',
    ...readdirSync(join(undici, 'lib/dispatcher')).map((file) => `lib/dispatcher/${file}`),
  ]) {
    const text = readFileSync(join(undici, name), 'utf8');
    writeFileSync(join(undici, name), text.replace(/core\/connect(?:\.js)?'/g, "core/moved.js'"));
  }
  run(copy, process.execPath, 'scripts/bundle.mjs');
  const bundles = Object.values<object>(
    JSON.parse(readFileSync(join(copy, 'dist/.modules.json'), 'utf8')),
  );
  const modules = bundles.flatMap(Object.keys).map((path) => path.replaceAll('\\', '/'));
  const has = (file: string) =>
    modules.some((path) => path.endsWith(`node_modules/undici/${file}`));
  expect([has('index.js'), has('lib/core/moved.js'), has('lib/core/connect.js')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(run(copy, process.execPath, 'bin/userinfo.cjs', 'demo')).toMatch(/│ acme_level │ gold/);
  cpSync(join(import.meta.dirname, 'projects/read.mjs'), join(copy, 'read.mjs'));
  expect(run(copy, process.execPath, 'read.mjs')).toBe('ok\n');
});
