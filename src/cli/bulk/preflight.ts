import { type Preflight, preflight } from '../../bulk/source/preflight.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { printMessage } from '../io.js';
import { warnOfKeys } from '../pairs.js';
import { withProgress } from './progress.js';
import type { BulkRun } from './run-many.js';
import { formatRows } from './summary.js';

/** Maximum number of invalid rows that are shown. */
const shownFaults = 20;

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
  if (size === 0) throw new InvalidInputError(`${quoteName(name)} is empty`);
  let [rows, faultCount] = [0, 0];
  let hint = 'Correct them, or add --no-preflight to send the others.';
  const faults: string[] = [];
  const rowCheck = {
    check: operation.prepare,
    onFault(line: number, error: InvalidInputError) {
      faultCount += 1;
      if (faultCount === 1) hint = error.hint ?? hint;
      if (faultCount <= shownFaults) faults.push(`line ${line}: ${error.message}`);
    },
    onRows(count: number) {
      signal.throwIfAborted();
      rows = count;
    },
  };
  const progressNow = () => ({ doing: 'checking', rows, share: share(), total: null });
  const checked = await withProgress(io, options, progressNow, () =>
    preflight(source, options.preflight ? rowCheck : null),
  ).finally(async () => {
    for (const fault of faults) await printMessage(io, fault);
    const more = faultCount - faults.length;
    if (more > 0) await printMessage(io, `and ${formatRows(more)} more`);
  });
  if (checked.rows === 0) throw noRows(name);
  if (faultCount > 0) {
    const what = `${formatRows(faultCount)} of ${quoteName(name)} cannot be sent: nothing was`;
    throw new InvalidInputError(what, { hint });
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
