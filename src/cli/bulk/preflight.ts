import { type Preflight, preflight } from '../../bulk/source/preflight.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { printMessage } from '../io.js';
import { warnOfKeys } from '../pairs.js';
import { withProgress } from './progress.js';
import type { BulkRun } from './run-many.js';
import { formatRows } from './summary.js';

/**
 * Reads a file once before anything is sent, and checks its rows unless `--no-preflight` is given. Warns of names that
 * are probably mistakes.
 *
 * @throws InvalidInputError if it has no rows, or rows that cannot be sent, which are listed
 */
export async function checkRows({
  context: { signal },
  io,
  options,
  operation,
  settings,
  source,
}: BulkRun): Promise<Preflight> {
  const { name, size, share } = source.input;
  const check = options.preflight ? operation.prepare : null;
  let rows = 0;
  const checked = await withProgress(
    io,
    options,
    () => ({ doing: 'checking', rows, share: share(), total: null }),
    () =>
      preflight(source, check, (count) => {
        signal.throwIfAborted();
        rows = count;
      }),
  );
  if (size === 0) throw new InvalidInputError(`${quoteName(name)} is empty`);
  for (const { line, message } of checked.faults) await printMessage(io, `line ${line}: ${message}`);
  const more = checked.faultCount - checked.faults.length;
  if (more > 0) await printMessage(io, `and ${formatRows(more)} more`);
  if (checked.broken !== null) throw checked.broken;
  if (checked.rows === 0) throw noRows(name);
  if (checked.faultCount > 0) {
    throw new InvalidInputError(
      `${formatRows(checked.faultCount)} of ${quoteName(name)} cannot be sent: nothing was`,
      { hint: checked.faults[0]?.hint ?? 'Correct them, or add --no-preflight to send the others.' },
    );
  }
  await warnOfKeys(io, operation.userInfoKeys(checked.names), settings.key_prefix);
  return checked;
}

/** The error of an input without rows. */
export function noRows(name: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} has no row`, {
    hint: 'A CSV file begins with a header, and has a row a line below it.',
  });
}
