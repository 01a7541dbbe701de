// Prepares a release: version, changelog, commit, tag. Usage: node scripts/release.mjs VERSION
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [version = ''] = process.argv.slice(2);
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

function refuse(reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(2);
}

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
  refuse(`"${version}" is not a version such as 0.2.0`);
if (git('status', '--porcelain') !== '') refuse('the tree has uncommitted changes');
if (git('branch', '--show-current') !== 'main') refuse('the branch is not main');
if (git('tag', '--list', `v${version}`) !== '') refuse(`the tag v${version} exists`);

const heading = '## [Unreleased]';
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const [before, after] = changelog.split(`${heading}\n`);
if (after === undefined) refuse(`CHANGELOG.md has no heading "${heading}"`);
const dated = `## [${version}] - ${new Date().toISOString().slice(0, 10)}\n`;
const hasEntries = /^\s*(###|[-*] )/.test(after);
// The first release has a section of its own already, without a date.
const [, section] = after.split(`\n## [${version}]\n`);
if (section === undefined) {
  if (!hasEntries) refuse('CHANGELOG.md has nothing under [Unreleased]');
  writeFileSync('CHANGELOG.md', `${before}${heading}\n\n${dated}${after}`);
} else {
  if (hasEntries) refuse(`CHANGELOG.md has entries under [Unreleased]: move them to [${version}]`);
  writeFileSync('CHANGELOG.md', `${before}${heading}\n\n${dated}${section}`);
}
// The first release has the version that package.json has already.
execFileSync('npm', ['version', version, '--no-git-tag-version', '--allow-same-version'], {
  stdio: 'inherit',
});
git('commit', '--quiet', '--all', '--message', `release: ${version}`);
git('tag', '--annotate', `v${version}`, '--message', `userinfo-exchange ${version}`);
process.stdout.write(`${version} is committed and tagged. Publish it: git push --follow-tags\n`);
