import { createReadStream } from 'node:fs';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { cutLines, splitLines } from '../source/lines.js';
import { type JournalRecord, parseRecord } from './journal-records.js';
import { JournalState } from './journal-state.js';

/** What is in a journal, as far as it is whole. */
export interface ReadJournal {
  readonly state: JournalState;
  /** How much of it is whole, in bytes. */
  readonly size: number;
  /** What is behind that, in bytes: of a record that was being written, or of more where the disk was damaged. */
  readonly brokenBytes: number;
}

/**
 * Reads a journal up to the first record that is not whole, or that knows more of the results file than is there:
 * `resultsSize` is its length now, in bytes. `null` where there is no journal. Throws an InvalidInputError for a file
 * that is none.
 */
export async function readJournal(path: string, resultsSize: number): Promise<ReadJournal | null> {
  const state = new JournalState();
  let size = 0;
  let brokenBytes = 0;
  try {
    for await (const { record, length } of recordsOf(path, 0)) {
      const isUsable =
        record !== null &&
        brokenBytes === 0 &&
        !(record.record === 'outcomes' && record.results > resultsSize);
      if (!isUsable) {
        brokenBytes += length;
        if (record !== null) state.takeDoubtful(record);
        continue;
      }
      state.take(record, size);
      size += length;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (typeof code !== 'string' || error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`${quoteName(path)} cannot be read (${code})`, { cause: error });
  }
  if (state.identity === null && brokenBytes > 0) {
    throw new InvalidInputError(`${quoteName(path)} is no journal of userinfo`, {
      hint: 'Give another path with --journal; this file is left as it is.',
    });
  }
  return state.identity === null ? null : { state, size, brokenBytes };
}

/** The records of a journal in a range of bytes, `null` for one that is not whole. */
export async function* recordsOf(
  path: string,
  start: number,
  end: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ record: JournalRecord | null; length: number }> {
  if (end <= start) return;
  for await (const block of cutLines(createReadStream(path, { start, end: end - 1 }))) {
    for (const { bytes } of splitLines(block)) {
      yield { record: parseRecord(bytes.toString()), length: bytes.length };
    }
  }
}
