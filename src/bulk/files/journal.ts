import { closeSync, createReadStream, openSync } from 'node:fs';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { isSystemError } from '../../support/errors.js';
import { unreadable } from '../source/input.js';
import { cutLines, splitLines } from '../source/lines.js';
import { AppendFile, type Contents, noContents, readContents } from './append-file.js';
import {
  formatRecord,
  type JournalRecord,
  journalVersion,
  outcomesRecord,
  parseRecord,
  type RecordedRow,
  type RunIdentity,
} from './journal-records.js';
import { JournalState } from './journal-state.js';

/** The journal of a run. It makes it safe to stop at any instant: no row with a recorded outcome is sent again. */
export class Journal {
  readonly #file: AppendFile;
  readonly #results: AppendFile;

  private constructor(file: AppendFile, results: AppendFile) {
    this.#file = file;
    this.#results = results;
  }

  /**
   * Creates the journal of the run that writes `results`, on the disk. It appears with its first record in it.
   *
   * @throws InvalidInputError or RunFileError if it cannot be written
   */
  static create(path: string, identity: RunIdentity, results: AppendFile): Journal {
    const file = AppendFile.draft(path);
    try {
      file.append(formatRecord({ record: 'run', version: journalVersion, identity }));
      file.moveIntoPlace();
    } catch (error) {
      file.close();
      throw error;
    }
    return new Journal(file, results);
  }

  /** Continues a journal of which `size` bytes are complete. */
  static resume(path: string, size: number, results: AppendFile): Journal {
    // The checksum of a journal is not used: each record has its own.
    const journal = new Journal(AppendFile.open(path, { size, crc: 0 }), results);
    journal.append({ record: 'resumed' });
    return journal;
  }

  /** The records in a range of bytes; `null` for one that is incomplete. */
  records(start: number, end = Number.POSITIVE_INFINITY): ReturnType<typeof recordsOf> {
    return recordsOf(this.#file.read(start, end));
  }

  /** @throws RunFileError */
  append(record: JournalRecord): void {
    this.#file.append(formatRecord(record));
  }

  /**
   * Appends the outcomes of rows whose lines are in the results, and on the disk if it `syncsResults`.
   *
   * @throws RunFileError if that fails, or another program changed the results or the journal
   */
  appendOutcomes(rows: readonly RecordedRow[], syncsResults: boolean): void {
    this.#results.requireUntouched();
    this.#file.requireUntouched();
    if (syncsResults) this.#results.sync();
    this.append(outcomesRecord(rows, this.#results));
  }

  /**
   * Returns when all records are on the disk.
   *
   * @throws RunFileError
   */
  sync(): void {
    this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }
}

/** The reliable contents of a journal. */
export interface ReadJournal {
  readonly state: JournalState;
  /** Their size, in bytes. */
  readonly size: number;
  /**
   * How many bytes follow: the record that was being written when the run was killed, unless something is damaged.
   */
  readonly leftBytes: number;
  /** Damage that a kill cannot explain; `null` if there is none. */
  readonly damaged: 'journal' | 'results' | null;
}

/** What a record that was being written when the run was killed looks like. */
const tornRecord = /^[0-9a-f]{0,8}$|^[0-9a-f]{8} (?:\{[^\0]*)?$/;

/**
 * Reads a journal up to the first record that is incomplete, or contradicts `results`.
 *
 * @param results the results file to compare the journal with; `null` compares nothing
 * @returns `null` if there is no journal
 * @throws InvalidInputError for a file that is not a journal
 */
export async function readJournal(path: string, results: string | null): Promise<ReadJournal | null> {
  const state = new JournalState();
  const resultsFd = results === null ? null : openIfReadable(results);
  let found: Contents = noContents;
  let size = 0;
  let leftBytes = 0;
  let damaged: ReadJournal['damaged'] = null;
  try {
    for await (const { record, text, length } of recordsOf(createReadStream(path))) {
      if (record?.record === 'run' && record.version !== journalVersion) throw noJournal(path);
      if (leftBytes === 0 && record !== null) {
        if (record.record === 'outcomes' && results !== null) {
          if (resultsFd !== null) found = readContents(resultsFd, found, record.results);
          if (found.size !== record.results || found.crc !== record.crc) damaged = 'results';
        }
        if (damaged === null) {
          state.take(record, size);
          size += length;
          continue;
        }
      }
      leftBytes += length;
      // Its line feed was replaced, or this is not a record.
      const isTorn = record === null && !text.endsWith('\n') && tornRecord.test(text);
      if (!isTorn || parseRecord(text.slice(0, -1)) !== null) damaged ??= 'journal';
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw isSystemError(error) ? unreadable(path, error) : error;
  } finally {
    if (resultsFd !== null) closeSync(resultsFd);
  }
  if (state.identity === null) {
    if (leftBytes === 0) return null;
    throw noJournal(path);
  }
  return { state, size, leftBytes, damaged };
}

function noJournal(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is no journal of userinfo, or one of another version`, {
    hint: 'Name another with --journal; this file is left as it is.',
  });
}

function openIfReadable(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

/** The records in bytes of a journal; `null` for one that is incomplete. */
async function* recordsOf(
  journal: AsyncIterable<Buffer>,
): AsyncGenerator<{ record: JournalRecord | null; text: string; length: number }> {
  for await (const block of cutLines(journal)) {
    for (const { bytes } of splitLines(block)) {
      const text = bytes.toString();
      const record = text.endsWith('\n') ? parseRecord(text.slice(0, -1)) : null;
      yield { record, text, length: bytes.length };
    }
  }
}
