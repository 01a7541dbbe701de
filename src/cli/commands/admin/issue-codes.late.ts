import { requiredText } from '../../../bulk/operations.js';
import { readRows } from '../../../bulk/source/rows.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import type { Admin, Code, NewCode } from '../../../service/index.js';
import { openRows, type RowOptions } from '../../bulk/row-source.js';
import { FailedRowsError, formatRows } from '../../bulk/run-report.js';
import type { CliContext } from '../../context.js';

/** Number of codes in one transaction. */
const batchSize = 500;

/** Maximum number of lines that an error names. */
const maxNamed = 10;

export interface IssueManyOptions extends RowOptions {
  readonly unionIdColumn?: string;
}

/**
 * Issues a code for the user of each row and prints them, also if a later row is invalid.
 *
 * @throws InvalidInputError for an invalid row: the codes of earlier rows are issued
 * @throws FailedRowsError at the end if rows name no user
 */
export async function issueCodes(
  { io, signal }: CliContext,
  admin: Admin,
  options: IssueManyOptions,
  wanted: Omit<NewCode, 'unionId'>,
  print: (codes: AsyncIterable<Code>) => Promise<void>,
): Promise<void> {
  const { unionIdColumn: column = 'union_id' } = options;
  const hint = 'Name the column of union IDs with --union-id-column.';
  const source = await openRows(io, options, { required: column, reserved: [], needsMore: false, hint });
  const failed: number[] = [];
  let rows: { line: number; unionId: string }[] = [];
  let count = 0;
  let fault: unknown;
  async function* issue(): AsyncGenerator<Code> {
    signal.throwIfAborted();
    const batch = rows;
    rows = [];
    count += batch.length;
    const codes = await admin.issueCodes({ ...wanted, unionIds: batch.map(({ unionId }) => unionId) });
    failed.push(...batch.filter((_, index) => codes[index] === null).map(({ line }) => line));
    for (const code of codes) if (code !== null) yield code;
  }
  async function* issueAll(): AsyncGenerator<Code> {
    try {
      for await (const block of readRows(source)) {
        for (const row of block) {
          rows.push({ line: row.line, unionId: unionIdOf(row.fields(), column, row.line) });
          if (rows.length === batchSize) yield* issue();
        }
      }
    } catch (error) {
      fault = error;
    }
    try {
      if (rows.length > 0 && (fault === undefined || fault instanceof InvalidInputError)) yield* issue();
    } catch (error) {
      fault ??= error;
    } finally {
      await source.input.close();
    }
  }
  await print(issueAll());
  if (fault !== undefined) throw fault;
  if (failed.length === 0) return;
  const named = failed.slice(0, maxNamed).join(', ') + (failed.length > maxNamed ? ', …' : '');
  const lines = `${failed.length === 1 ? 'line' : 'lines'} ${named}`;
  throw new FailedRowsError(
    `no such user in tenant ${quoteName(wanted.tenantCode)}, in ${failed.length} of ${formatRows(count)}: ${lines}`,
    { hint: 'The codes of all others were issued.' },
  );
}

function unionIdOf(fields: Parameters<typeof requiredText>[0], column: string, line: number): string {
  try {
    return requiredText(fields, column);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(`line ${line}: ${error.message}`, {
      hint: 'The codes that were printed were issued. Correct the line, and give it and the later ones.',
      cause: error,
    });
  }
}
