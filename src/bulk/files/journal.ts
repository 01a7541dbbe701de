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

/**
 * The files that make it safe to stop a run at any instant: no row with a recorded outcome is sent again, and the
 * results have the line of every row whose outcome the journal has.
 */
export interface JournaledFiles {
  readonly journal: AppendFile;
  readonly results: AppendFile;
}

/**
 * Creates the journal of a run, on the disk. It appears with its first record in it.
 *
 * @throws InvalidInputError or RunFileError if it cannot be written
 */
export function createJournal(path: string, identity: RunIdentity): AppendFile {
  const journal = AppendFile.draft(path);
  try {
    appendRecord(journal, { record: 'run', version: journalVersion, identity });
    journal.moveIntoPlace();
    return journal;
  } catch (error) {
    journal.close();
    throw error;
  }
}

/** @throws RunFileError */
export function appendRecord(journal: AppendFile, record: JournalRecord): void {
  journal.append(formatRecord(record));
}

/**
 * Appends the outcomes of rows whose lines are in the results, and on the disk if it `syncsResults`.
 *
 * @throws RunFileError if that fails, or another program changed the results or the journal
 */
export function appendOutcomes(
  { journal, results }: JournaledFiles,
  rows: readonly RecordedRow[],
  syncsResults: boolean,
): void {
  results.requireUntouched();
  journal.requireUntouched();
  if (syncsResults) results.sync();
  appendRecord(journal, outcomesRecord(rows, results));
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
export async function* recordsOf(
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
