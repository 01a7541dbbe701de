import { LineSet } from './line-set.js';
import type { RecorderFiles } from './recorder.js';
import { appendUnknown } from './results-tail.js';

/**
 * Ends what is written down of a run: the rows whose outcome is not known get their results lines. Resolves when all
 * is on the disk. Throws a RunFileError.
 */
export async function completeRecord(
  { results, journal, state }: RecorderFiles,
  isFinished: boolean,
): Promise<void> {
  if (journal !== null) {
    const unknown = new LineSet();
    for (const line of state.unknown) unknown.add(line);
    await appendUnknown(results, journal.path, state.parts, unknown);
  }
  results.sync();
  journal?.append({ record: 'end', finished: isFinished });
  journal?.sync();
}
