import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { linesIn } from '../source/lines.js';
import type { AppendFile } from './append-file.js';
import { type Contents, isSame, noContents } from './contents.js';
import {
  formatRecord,
  isTornRecord,
  isTornRun,
  type JournalRecord,
  journalVersion,
  type OutcomesRecord,
  outcomesRecord,
  parseRanges,
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
export interface ReadJournal extends Contents {
  readonly state: JournalState;
  /** Number of bytes that follow. */
  readonly leftBytes: number;
  /**
   * What follows them: at most a `torn` record, which a kill leaves; NUL, which a power cut leaves; or anything else.
   */
  readonly tail: 'torn' | 'zeros' | 'damaged';
  /** The first record that `results` contradict: what they should be, and the rows that it has; `null` if none. */
  readonly contradiction: (Contents & { readonly rows: number }) | null;
  /** The state by the records from the contradiction on alone. */
  readonly later: JournalState;
  /** Whether the run came to its end, whatever happened to its results since then. */
  readonly isFinished: boolean;
}

/**
 * Reads a journal up to the first record that is incomplete, or contradicts `results`.
 *
 * @param results the results file to compare the journal with; `null` if there is none
 * @returns `null` if the journal is empty, or its first record was being written when the run was killed
 * @throws InvalidInputError for a file that is not a journal
 */
export async function readJournal(
  journal: AppendFile,
  results: AppendFile | null,
): Promise<ReadJournal | null> {
  const state = new JournalState();
  const later = new JournalState();
  let found: Contents = noContents;
  let contradiction: ReadJournal['contradiction'] = null;
  let kept: Contents = noContents;
  let [tornBytes, laterBytes] = [0, 0];
  let tail: ReadJournal['tail'] = 'torn';
  let torn = '';
  for await (const { record, text, before, after } of recordsOf(journal.read(0))) {
    const length = after.size - before.size;
    if (record?.record === 'run' && record.version !== journalVersion) throw noJournal(journal.path);
    if (record === null || tornBytes > 0) {
      tornBytes += length;
      torn = text.replace(/\0+$/, '');
      // More than one line, a line that is whole, or one whose line feed was replaced.
      const isWhole = text.endsWith('\n') || parseRecord(text.slice(0, -1), before.crc) !== null;
      const isDamaged = tornBytes > length || isWhole || !isTornRecord(torn);
      tail = isDamaged ? 'damaged' : torn === text ? 'torn' : 'zeros';
      continue;
    }
    if (record.record === 'outcomes' && contradiction === null) {
      const contents = { size: record.results, crc: record.crc };
      found = results?.contents(found, contents.size) ?? noContents;
      if (!isSame(found, contents)) contradiction = { ...contents, rows: rowsOf(record) };
    }
    if (contradiction !== null) {
      later.take(record, before);
      laterBytes += length;
      continue;
    }
    state.take(record, before);
    kept = after;
  }
  if (state.identity === null) {
    if (kept.size === 0 && tail !== 'damaged' && isTornRun(torn)) return null;
    throw noJournal(journal.path);
  }
  state.failedFiles.push(...later.failedFiles);
  state.drafts.push(...later.drafts);
  const { isFinished } = contradiction === null ? state : later;
  return { ...kept, state, leftBytes: tornBytes + laterBytes, tail, contradiction, later, isFinished };
}

/** Number of rows that have a final outcome by a record. */
function rowsOf({ ok, failed, invalid }: OutcomesRecord): number {
  const lines = [ok, failed, invalid].flatMap((ranges) => [...parseRanges(ranges ?? '')]);
  return lines.length;
}

function noJournal(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is no journal of userinfo, or one of another version`, {
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
