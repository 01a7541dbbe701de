import { readRows } from '../../bulk/operations/read-rows.js';
import { parseInfoNames } from '../../protocol/info-names.js';
import type { BulkOptions } from '../bulk/bulk-options.js';
import { runMany } from '../bulk/run-many.js';
import type { CliContext } from '../context.js';

/** What `read --from` takes beside what every run takes. */
export interface ReadManyOptions extends BulkOptions {
  readonly names?: string;
  readonly scope?: string;
}

/** `read --from` */
export async function readMany(context: CliContext, options: ReadManyOptions): Promise<void> {
  const names = options.names === undefined ? [] : parseInfoNames([options.names]);
  await runMany(context, options, {
    operation: readRows(names, options.scope),
    cells: { types: null, empty: null },
    identity: { names: names.join(','), scope: options.scope ?? '' },
    async checkNames() {},
  });
}
