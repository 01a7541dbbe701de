import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedCommands } from '../../scripts/docs/commands.js';
import { Machine } from '../support/cli.js';
import { referencePages } from './reference.js';

// `npm run docs` writes what has changed.
const project = join(import.meta.dirname, '..', '..');
const reference = join(project, 'docs/reference');
const pages = referencePages(await documentedCommands());

describe('docs/reference', () => {
  it.each([...pages])('%s says what the code says', async (name, page) => {
    await expect(page).toMatchFileSnapshot(join(reference, name));
  });

  it('has no page of something that is gone', () => {
    expect(readdirSync(reference).filter((name) => !pages.has(name))).toEqual([]);
  });
});

it('docs/openapi.json is what "userinfo openapi" prints', async () => {
  using machine = new Machine();
  const { stdout } = await machine.run(['openapi']);
  await expect(stdout).toMatchFileSnapshot(join(project, 'docs/openapi.json'));
});
