import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Plugin of rolldown: imports of a file as text (`?raw`), as the test runner takes them. */
export const rawFiles = {
  name: 'raw-files',
  resolveId: (id, importer) => (id.endsWith('?raw') ? join(dirname(importer), id) : null),
  load: (id) =>
    id.endsWith('?raw')
      ? `export default ${JSON.stringify(readFileSync(id.slice(0, -'?raw'.length), 'utf8'))};`
      : null,
};
