import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiPage } from './api.js';

// `npm run docs` writes what has changed.
it('docs/api.md says what the declarations say', async () => {
  await expect(apiPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/api.md'));
});
