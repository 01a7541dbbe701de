import { passbackRows } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { preflightFile } from '../../bulk/source/preflight.js';
import { type FileRow, rowsIn } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { ResultRows } from '../../queue/results.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows, parseTypes, type RowSource } from '../bulk/row-source.js';
import type { Io } from '../io.js';

/** The source file of a run, opened. */
export interface RunFile extends ResultRows<FileRow> {
  /** Whether its text is UTF-8. */
  readonly isUtf8: boolean;
  close(): Promise<void>;
}

/**
 * Opens the source file of a run: the one that is named, or the one that the run remembers.
 *
 * @throws InvalidInputError if it is not there, or has other contents
 */
export async function openRunFile(io: Io, run: QueuedRun, named: string | undefined): Promise<RunFile> {
  const rows = await open(io, run, named);
  const { input, encoding } = rows;
  const text = { encoding, suspectUtf8: 'never' } as const;
  const { hash, digest } = await preflightFile(input, text, rows.newFormat(), null, { rows: 0, bytes: 0 });
  if (hash !== run.source.hash) {
    await input.close();
    throw new InvalidInputError(`${quoteName(input.name)} is not the file that run ${run.run} was made of`, {
      hint: 'Results and failed rows are put together with that file: name it with --from.',
    });
  }
  const format = rows.newFormat();
  return {
    format,
    isUtf8: encoding === 'utf-8',
    read: () => rowsIn(checkedInput(input, digest).read(), format, text),
    close: () => input.close(),
  };
}

async function open(io: Io, { source, naming }: QueuedRun, named: string | undefined): Promise<RowSource> {
  const { format, delimiter, encoding, types, empty } = source;
  const options = {
    from: named ?? source.from,
    ...(format === null ? {} : { format: format === 'csv' ? ('csv' as const) : ('ndjson' as const) }),
    ...(delimiter === null ? {} : { delimiter }),
    ...(encoding === null ? {} : { encoding }),
  };
  const cells = { types: types === null ? null : parseTypes(types), empty };
  try {
    return await openRows(io, options, cells, passbackRows(naming).columns);
  } catch (error) {
    if (named !== undefined || !(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(error.message, {
      hint: 'The queue has outcomes without their users: name the file of the run with --from.',
      cause: error,
    });
  }
}
