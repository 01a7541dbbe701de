import { crc32 } from 'node:zlib';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import { linesIn } from '../source/lines.js';
import { type AppendFile, type Contents, noContents } from './append-file.js';
import {
  formatRecord,
  isTornRecord,
  isTornRun,
  type JournalRecord,
  journalVersion,
  parseRecord,
  type RunIdentity,
  type UnknownRow,
} from './journal-records.js';
import { RunState } from './run-state.js';

/**
 * The files that make it safe to stop a run at any instant: the results have the line of each row with a final outcome,
 * and the journal proves that they are those of the run.
 */
export interface JournaledFiles {
  readonly journal: AppendFile;
  readonly results: AppendFile;
}

/**
 * Begins an empty journal: its first record is on the disk, and can be found there.
 *
 * @throws RunFileError
 */
export function beginJournal(journal: AppendFile, identity: RunIdentity): void {
  appendRecord(journal, { record: 'run', version: journalVersion, identity });
  journal.syncWithName();
}

/** @throws RunFileError */
export function appendRecord(journal: AppendFile, record: JournalRecord): void {
  journal.append(formatRecord(record, journal.crc));
}

/**
 * Appends the contents of the results, which are on the disk first: no power cut makes them shorter than the journal
 * says; and rows with an unknown outcome.
 *
 * @throws RunFileError if that fails, or another program changed the results or the journal
 */
export function appendResults({ journal, results }: JournaledFiles, unknown: readonly UnknownRow[]): void {
  results.requireUntouched();
  journal.requireUntouched();
  results.sync();
  const { size, crc } = results;
  appendRecord(journal, {
    record: 'results',
    results: { size, crc },
    ...(unknown.length > 0 && { unknown }),
  });
}

/** The reliable contents of a journal. */
export interface ReadJournal extends Contents {
  /** Without the outcomes of the results. */
  readonly state: RunState;
  /**
   * What follows them: at most a `torn` record, which a kill leaves; NUL, which a power cut leaves; or anything else.
   */
  readonly tail: 'torn' | 'zeros' | 'damaged';
}

/**
 * Reads a journal up to the first record that is incomplete.
 *
 * @returns `null` if the journal is empty, or its first record was being written when the run was killed
 * @throws InvalidInputError for a file that is not a journal
 */
export async function readJournal(journal: AppendFile): Promise<ReadJournal | null> {
  const state = new RunState();
  const end = journal.textSize();
  let kept = noContents;
  let torn = '';
  let isDamaged = false;
  for await (const { record, text, before, after } of recordsOf(journal.read(0, end))) {
    if (record === null) {
      torn = text;
      // A line that is whole, or one whose line feed was replaced.
      const isWhole = text.endsWith('\n') || parseRecord(text.slice(0, -1), before.crc) !== null;
      isDamaged = isWhole || !isTornRecord(text);
      break;
    }
    if (record.record === 'run' && record.version !== journalVersion) throw noJournal(journal.path);
    state.take(record, before);
    kept = after;
  }
  if (state.identity === null) {
    if (kept.size === 0 && !isDamaged && isTornRun(torn)) return null;
    throw noJournal(journal.path);
  }
  const tail = isDamaged ? 'damaged' : end < journal.foundSize ? 'zeros' : 'torn';
  return { ...kept, state, tail };
}

function noJournal(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is not a journal of userinfo, or one of another version`, {
    hint: 'Name another with --journal; this file is left as it is.',
  });
}

/**
 * The records in bytes of a journal, `null` for one that is incomplete, and the bytes before and after each; `crc` is
 * that of all that stands before these bytes.
 */
export async function* recordsOf(
  journal: AsyncIterable<Buffer>,
  crc = 0,
): AsyncGenerator<{ record: JournalRecord | null; text: string; before: Contents; after: Contents }> {
  let before: Contents = { size: 0, crc };
  for await (const { bytes } of linesIn(journal)) {
    const text = bytes.toString();
    const record = text.endsWith('\n') ? parseRecord(text.slice(0, -1), before.crc) : null;
    const after = { size: before.size + bytes.length, crc: crc32(bytes, before.crc) };
    yield { record, text, before, after };
    before = after;
  }
}
