import type { RowOperation } from '../../bulk/operations.js';
import { type Preflight, preflightFile } from '../../bulk/source/preflight.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { CliContext } from '../context.js';
import { say } from '../io.js';
import type { BulkOptions } from './bulk-options.js';
import { withProgress } from './progress.js';
import type { RowSource } from './row-source.js';
import { formatRows } from './summary.js';

/**
 * Reads a file once before anything is sent, and checks its rows unless `--no-preflight` is given.
 *
 * @throws InvalidInputError if it has no rows, or rows that cannot be sent, which are listed
 */
export async function checkRows(
  { io, steadyNow }: CliContext,
  { quiet, color, preflight, forceEncoding }: BulkOptions,
  { input, encoding, newFormat }: RowSource,
  operation: RowOperation,
): Promise<Preflight> {
  const progress = { rows: 0, bytes: 0 };
  const progressNow = () => ({
    doing: 'checking',
    rows: progress.rows,
    share: input.size === null ? null : progress.bytes / input.size,
    total: null,
  });
  const text = { encoding, suspectUtf8: forceEncoding ? 'never' : 'at the end' } as const;
  const checked = await withProgress(
    io,
    { ...(quiet && { quiet }), color, now: steadyNow },
    progressNow,
    () =>
      preflightFile(
        input,
        text,
        newFormat(),
        preflight ? (_, fields) => void operation.prepare(fields) : null,
        progress,
      ),
  );
  if (input.size === 0) throw new InvalidInputError(`${quoteName(input.name)} is empty`);
  for (const { line, message } of checked.faults) await say(io, `line ${line}: ${message}`);
  const more = checked.faultCount - checked.faults.length;
  if (more > 0) await say(io, `and ${formatRows(more)} more`);
  if (checked.broken !== null) throw checked.broken;
  if (checked.rows === 0) throw noRows(input.name);
  if (checked.faultCount === 0) return checked;
  throw new InvalidInputError(
    `${formatRows(checked.faultCount)} of ${quoteName(input.name)} cannot be sent: nothing was`,
    { hint: checked.faults[0]?.hint ?? 'Correct them, or add --no-preflight to send the others.' },
  );
}

/** The error of an input without rows. */
export function noRows(name: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} has no row`, {
    hint: 'A CSV file begins with a header, and has a row a line below it.',
  });
}
