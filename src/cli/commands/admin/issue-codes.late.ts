import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import type { Admin, Code, NewCode } from '../../../service/index.js';
import type { CliContext } from '../../command.js';
import { printMessage } from '../../io.js';
import { FailedRowsError } from '../bulk/errors.js';
import { requiredText } from '../bulk/operations.js';
import { formatEmptyRows, formatRows } from '../bulk/row-count.js';
import { openRows, type RowOptions } from '../bulk/row-source.js';
import { type FileRow, readRows } from '../bulk/source/rows.js';

/** Number of codes in one transaction. */
const batchSize = 500;

/** Maximum number of lines that an error names. */
const maxNamed = 10;

export interface IssueManyOptions extends RowOptions {
  /** A file, or - for standard input. */
  readonly from: string;
  readonly unionIdColumn?: string;
}

/**
 * Issues a code for the user of each row and prints them, once all rows are read.
 *
 * @throws InvalidInputError for an invalid row: nothing is issued
 * @throws FailedRowsError at the end if rows name no user
 */
export async function issueCodes(
  context: CliContext,
  admin: Admin,
  options: IssueManyOptions,
  code: Omit<NewCode, 'unionId'>,
  print: (codes: AsyncIterable<Code>) => Promise<void>,
): Promise<void> {
  const users = await readUsers(context, options);
  const failed: number[] = [];
  async function* issueAll(): AsyncGenerator<Code> {
    for (let start = 0; start < users.length; start += batchSize) {
      context.signal.throwIfAborted();
      const batch = users.slice(start, start + batchSize);
      const unionIds = batch.map(({ unionId }) => unionId);
      const codes = await admin.issueCodes({ ...code, unionIds });
      const unknown = batch.filter((_, index) => codes[index] === null);
      failed.push(...unknown.map(({ line }) => line));
      yield* codes.filter((issued) => issued !== null);
    }
  }
  await print(issueAll());
  if (failed.length === 0) return;
  const share = `${failed.length} of ${formatRows(users.length)}`;
  throw new FailedRowsError(
    `no such user in tenant ${quoteName(code.tenantCode)}, in ${share}: ${listLines(failed)}`,
    { hint: 'The codes of all others were issued.' },
  );
}

function listLines(lines: readonly number[]): string {
  if (lines.length === 1) return `line ${lines[0]}`;
  const named = `lines ${lines.slice(0, maxNamed).join(', ')}`;
  return lines.length > maxNamed ? `${named}, …` : named;
}

/**
 * The users of all rows.
 *
 * @throws InvalidInputError with the number of a line that names none
 */
async function readUsers(
  { io, signal }: CliContext,
  options: IssueManyOptions,
): Promise<{ readonly line: number; readonly unionId: string }[]> {
  const { from, unionIdColumn: column = 'union_id' } = options;
  const hint = 'Name the column of union IDs with --union-id-column.';
  const columns = { required: column, reserved: [], needsMore: false, hint };
  const source = await openRows(io, from, options, columns);
  const users: { line: number; unionId: string }[] = [];
  try {
    for await (const block of readRows(source)) {
      signal.throwIfAborted();
      for (const row of block) users.push({ line: row.line, unionId: unionIdOf(row, column) });
    }
  } finally {
    await source.input.close();
  }
  if (source.emptyRows() > 0) await printMessage(io, formatEmptyRows(source.emptyRows()));
  return users;
}

function unionIdOf(row: FileRow, column: string): string {
  try {
    return requiredText(row.fields(), column);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(`line ${row.line}: ${error.message}`, {
      hint: 'No code was issued. Correct the line, and give the file again.',
      cause: error,
    });
  }
}
