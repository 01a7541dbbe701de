import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'userinfo-release-'));
const script = join(import.meta.dirname, '../scripts/release.mjs');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' });
const git = (...args: string[]) =>
  run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args).stdout.trim();
const changelog = () => readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');

function commit(text: string): void {
  writeFileSync(join(folder, 'CHANGELOG.md'), text);
  git('commit', '--all', '--message', 'x');
}

const release = (version: string) => run(process.execPath, script, version);

it('cuts the section of a release: the own one of the first, what is unreleased for the others', () => {
  const today = new Date().toISOString().slice(0, 10);
  const ours = readFileSync(join(import.meta.dirname, '../CHANGELOG.md'), 'utf8');
  git('init', '--initial-branch', 'main');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.com');
  writeFileSync(join(folder, 'package.json'), '{"name":"x","version":"0.1.0"}\n');
  writeFileSync(join(folder, 'CHANGELOG.md'), '');
  git('add', '--all');
  const [head] = ours.split('## [Unreleased]');
  const first = `${head}## [Unreleased]\n\n## [0.1.0]\n\n### Added\n\n- a\n`;
  commit(first.replace('## [0.1.0]', '### Changed\n\n- b\n\n## [0.1.0]'));
  expect(release('0.1.0')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('move them to [0.1.0]'),
  });
  commit(first);
  expect(release('0.1.0')).toMatchObject({ status: 0, stdout: expect.stringContaining('tagged') });
  const released = first.replace('## [0.1.0]', `## [0.1.0] - ${today}`);
  expect(changelog()).toBe(released);
  expect(git('tag', '--list')).toBe('v0.1.0');

  expect(release('0.2.0')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('nothing under'),
  });
  const unreleased = (heading: string) =>
    released.replace('## [Unreleased]\n', `${heading}\n\n### Fixed\n\n- c\n`);
  commit(unreleased('## [Unreleased]'));
  expect(release('0.2.0').status).toBe(0);
  expect(changelog()).toBe(unreleased(`## [Unreleased]\n\n## [0.2.0] - ${today}`));
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version).toBe('0.2.0');
});
