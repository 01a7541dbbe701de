import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { Machine } from '../support/cli.js';
import { documentedCommands, manPages, referencePages } from './reference.js';

// `npm run docs` writes what has changed.
const project = join(import.meta.dirname, '..', '..');
const commands = await documentedCommands();

describe.each([
  ['docs/reference', referencePages(commands)],
  ['docs/man', manPages(commands)],
])('%s', (folder, pages) => {
  it.each([...pages])('%s says what the code says', async (name, page) => {
    await expect(page).toMatchFileSnapshot(join(project, folder, name));
  });

  it('has no page of something that is gone', () => {
    const gone = readdirSync(join(project, folder)).filter((name) => !pages.has(name));
    expect(gone).toEqual([]);
  });
});

it('docs/openapi.json is what "userinfo openapi" prints', async () => {
  using machine = new Machine();
  const { stdout } = await machine.run(['openapi']);
  await expect(stdout).toMatchFileSnapshot(join(project, 'docs/openapi.json'));
});

it('package.json names each man page', () => {
  expect(packageJson.man).toEqual(readdirSync(join(project, 'docs/man')).map((name) => `docs/man/${name}`));
});
