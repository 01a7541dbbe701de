import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { documentedCommands } from '../../scripts/docs/commands.js';
import { defaultUrl } from '../../src/cli/commands/serve/options.js';
import { openApiDocument } from '../../src/core/contract/openapi.js';
import { defaultPlatform } from '../../src/core/platform/platform.js';
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

it('docs/openapi.json describes both operations, without a finding of the linter', async () => {
  const description = 'The test or the production deployment';
  const variables = { base_url: { default: defaultUrl } };
  const document = openApiDocument(
    [{ url: '{base_url}', description, variables }],
    defaultPlatform,
  );
  const source = `${JSON.stringify(document, null, 2)}\n`;
  await expect(source).toMatchFileSnapshot(join(project, 'docs/openapi.json'));
  const config = await createConfig({ extends: ['recommended-strict'] });
  expect(await lintFromString({ source, config })).toEqual([]);
});
