import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { documentedCommands, manPage, referencePages } from './reference.js';

// `npm run docs` writes what has changed.
const project = join(import.meta.dirname, '..', '..');
const commands = await documentedCommands();
const pages = referencePages(commands);

it.each([...pages])('docs/reference/%s says what the code says', async (name, page) => {
  await expect(page).toMatchFileSnapshot(join(project, 'docs/reference', name));
});

it('docs/reference has no page of something that is gone', () => {
  const gone = readdirSync(join(project, 'docs/reference')).filter((name) => !pages.has(name));
  expect(gone).toEqual([]);
});

it('docs/man/userinfo.1 says what the code says', async () => {
  await expect(manPage(commands)).toMatchFileSnapshot(join(project, 'docs/man/userinfo.1'));
});
