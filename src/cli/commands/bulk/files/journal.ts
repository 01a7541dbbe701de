import { crc32 } from 'node:zlib';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { linesIn } from '../source/lines.js';
import { type AppendFile, type Contents, noContents } from './append-file.js';
import { type JournalRecord, type RunIdentity, RunState, type UnknownRow } from './run-state.js';

/** Journals of other versions are not read. */
const journalVersion = 4;

/**
 * The files that make it safe to stop a run at any instant: the results have the line of each row
 * with a final outcome, and the journal proves that they are those of the run.
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

/**
 * Appends a line: a checksum of the lines before it and of the record; the record.
 *
 * @throws RunFileError
 */
export function appendRecord(journal: AppendFile, record: JournalRecord): void {
  const json = JSON.stringify(record);
  journal.append(`${checksum(json, journal.crc)} ${json}\n`);
}

/**
 * `null` for a line, without its line feed, that is incomplete or was changed, or has other lines
 * before it.
 */
function parseRecord(line: string, before: number): JournalRecord | null {
  const json = line.slice(9);
  if (line.slice(0, 9) !== `${checksum(json, before)} `) return null;
  return JSON.parse(json);
}

function checksum(json: string, before: number): string {
  return crc32(json, before).toString(16).padStart(8, '0');
}

/**
 * Whether a text can be the beginning of a record that was being written when the run was killed.
 */
function isTornRecord(text: string): boolean {
  return /^[0-9a-f]{0,8}$|^[0-9a-f]{8} (?:\{[^\0]*)?$/.test(text);
}

/** The start of the first record of every journal. */
const runStart = JSON.stringify({ record: 'run', version: journalVersion }).slice(0, -1);

/** As `isTornRecord`, for the first record. */
function isTornRun(text: string): boolean {
  const json = text.slice(9);
  return isTornRecord(text) && (json.startsWith(runStart) || runStart.startsWith(json));
}

/**
 * Appends the contents of the results, which are on the disk first: no power cut makes them shorter
 * than the journal says; and rows with an unknown outcome.
 *
 * @throws RunFileError if that fails, or another program changed the results or the journal
 */
export function appendResults(
  { journal, results }: JournaledFiles,
  unknown: readonly UnknownRow[],
): void {
  results.requireUntouched();
  journal.requireUntouched();
  results.sync();
  const { size, crc } = results;
  const record = { record: 'results', results: { size, crc } } as const;
  appendRecord(journal, unknown.length === 0 ? record : { ...record, unknown });
}

/** The reliable contents of a journal. */
export interface ReadJournal extends Contents {
  /** Without the outcomes of the results. */
  readonly state: RunState;
  /**
   * What follows them: at most a `torn` record, which a kill leaves; NUL, which a power cut leaves;
   * or anything else.
   */
  readonly tail: 'torn' | 'zeros' | 'damaged';
}

/**
 * Reads a journal up to the first record that is incomplete.
 *
 * @returns `null` if the journal is empty, or its first record was being written when the run was
 * killed
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
  if (isDamaged) return { ...kept, state, tail: 'damaged' };
  return { ...kept, state, tail: end < journal.sizeAtOpen ? 'zeros' : 'torn' };
}

function noJournal(path: string): InvalidInputError {
  return new InvalidInputError(
    `${quoteName(path)} is not a journal of userinfo, or one of another version`,
    {
      hint: 'Name other results with --results; this file is left as it is.',
    },
  );
}

/**
 * The records in bytes of a journal, `null` for one that is incomplete, and the bytes before and
 * after each; `crc` is that of all that stands before these bytes.
 */
export async function* recordsOf(
  journal: AsyncIterable<Buffer>,
  crc = 0,
): AsyncGenerator<{
  record: JournalRecord | null;
  text: string;
  before: Contents;
  after: Contents;
}> {
  let before: Contents = { size: 0, crc };
  for await (const { bytes } of linesIn(journal)) {
    const text = bytes.toString();
    const record = text.endsWith('\n') ? parseRecord(text.slice(0, -1), before.crc) : null;
    const after = { size: before.size + bytes.length, crc: crc32(bytes, before.crc) };
    yield { record, text, before, after };
    before = after;
  }
}
