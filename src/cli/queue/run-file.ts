import { passbackRows } from '../../bulk/operations.js';
import { checkedInput } from '../../bulk/source/checked-input.js';
import { preflight } from '../../bulk/source/preflight.js';
import { type FileRow, type RowSource, readRows } from '../../bulk/source/rows.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { ResultRows } from '../../queue/results.js';
import type { QueuedRun } from '../../queue/run.js';
import { openRows } from '../bulk/row-source.js';
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
  const source = await open(io, run, named);
  const { input, text, format } = source;
  const { hash, digest } = await preflight(source, null);
  if (hash !== run.source.hash) {
    await input.close();
    throw new InvalidInputError(`${quoteName(input.name)} is not the file that run ${run.run} was made of`, {
      hint: 'Results and failed rows are put together with that file: name it with --from.',
    });
  }
  return {
    format,
    isUtf8: text.encoding === 'utf-8',
    read: () => readRows({ ...source, input: checkedInput(input, digest) }),
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
    ...(types === null ? {} : { types }),
    ...(empty === null ? {} : { empty }),
    forceEncoding: true as const,
  };
  try {
    return await openRows(io, options, passbackRows(naming).columns);
  } catch (error) {
    if (named !== undefined || !(error instanceof InvalidInputError)) throw error;
    throw new InvalidInputError(error.message, {
      hint: 'The queue has outcomes without their users: name the file of the run with --from.',
      cause: error,
    });
  }
}
