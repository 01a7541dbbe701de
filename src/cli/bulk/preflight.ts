import type { RowOperation } from '../../bulk/operations.js';
import { type Survey, surveyFile } from '../../bulk/source/preflight.js';
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
): Promise<Survey> {
  const progress = { rows: 0, bytes: 0 };
  const look = () => ({
    doing: 'checking',
    rows: progress.rows,
    share: input.size === null ? null : progress.bytes / input.size,
    total: null,
  });
  const text = { encoding, suspectUtf8: forceEncoding ? 'never' : 'at the end' } as const;
  const survey = await withProgress(io, { ...(quiet && { quiet }), color, now: steadyNow }, look, () =>
    surveyFile(
      input,
      text,
      newFormat(),
      preflight ? (_, fields) => void operation.prepare(fields) : null,
      progress,
    ),
  );
  if (input.size === 0) throw new InvalidInputError(`${quoteName(input.name)} is empty`);
  for (const { line, message } of survey.faults) await say(io, `line ${line}: ${message}`);
  const more = survey.faultCount - survey.faults.length;
  if (more > 0) await say(io, `and ${formatRows(more)} more`);
  if (survey.broken !== null) throw survey.broken;
  if (survey.rows === 0) throw noRows(input.name);
  if (survey.faultCount === 0) return survey;
  throw new InvalidInputError(
    `${formatRows(survey.faultCount)} of ${quoteName(input.name)} cannot be sent: nothing was`,
    { hint: survey.faults[0]?.hint ?? 'Correct them, or add --no-preflight to send the others.' },
  );
}

/** The error of an input without rows. */
export function noRows(name: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} has no row`, {
    hint: 'A CSV file begins with a header, and has a row a line below it.',
  });
}
