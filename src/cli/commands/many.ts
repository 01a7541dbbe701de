// Apart from read.ts and passback.ts: a call for one user loads no code of bulk runs.

import { passbackRows, readRows, type UserNaming } from '../../bulk/operations.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { parseInfoNames } from '../../protocol/info-names.js';
import type { BulkOptions } from '../bulk/bulk-options.js';
import type { PassbackManyOptions } from '../bulk/passback-options.js';
import { parseTypes } from '../bulk/row-source.js';
import { type ManyPlan, runMany } from '../bulk/run-many.js';
import type { CliContext } from '../context.js';
import { warnOfPrefix } from '../pairs.js';

/** Options of `read --from`, in addition to those of every run. */
export interface ReadManyOptions extends BulkOptions {
  readonly names?: string;
  readonly scope?: string;
}

/** Runs `read --from`. */
export async function readMany(context: CliContext, options: ReadManyOptions): Promise<void> {
  const names = options.names === undefined ? [] : parseInfoNames([options.names]);
  await runMany(context, options, {
    operation: readRows(names, options.scope),
    cells: { types: null, empty: null },
    identity: { names: names.join(','), scope: options.scope ?? '' },
    async checkNames() {},
  });
}

const defaultColumn = 'union_id';

/** Runs `passback --from`. */
export async function passbackMany(context: CliContext, options: PassbackManyOptions): Promise<void> {
  if (options.keep) throw new InvalidInputError('--keep is for the rows of a queue: it needs --queue');
  await runMany(context, options, planPassback(context, options));
}

/**
 * The plan of `passback --from`.
 *
 * @throws InvalidInputError for options that exclude each other, or invalid types
 */
export function planPassback(
  context: CliContext,
  options: PassbackManyOptions,
): ManyPlan & { readonly naming: UserNaming } {
  const { unionIdColumn, primaryKey, types, empty } = options;
  if (unionIdColumn !== undefined && primaryKey !== undefined) {
    throw new InvalidInputError('--union-id-column and --primary-key are both given: use one of them');
  }
  const naming: UserNaming =
    primaryKey === undefined
      ? { by: 'union_id', column: unionIdColumn ?? defaultColumn }
      : { by: 'primary_key', key: primaryKey };
  return {
    naming,
    operation: passbackRows(naming),
    cells: { types: types === undefined ? null : parseTypes(types), empty: empty ?? null },
    identity: naming.by === 'union_id' ? { 'union ID column': naming.column } : { 'primary key': naming.key },
    async checkNames(names, { key_prefix }) {
      const passedBack = [...names].filter((name) => naming.by === 'primary_key' || name !== naming.column);
      await warnOfPrefix(context.io, passedBack, key_prefix);
    },
  };
}
