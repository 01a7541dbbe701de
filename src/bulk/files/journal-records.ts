import { crc32 } from 'node:zlib';
import type { Contents } from './append-file.js';

/** Journals of other versions are not read. */
export const journalVersion = 4;

/** A record of a journal, one a line. Rows are given by their lines in the input. */
export type JournalRecord =
  /** The first record. */
  | { readonly record: 'run'; readonly version: typeof journalVersion; readonly identity: RunIdentity }
  /** The run was stopped before this record. */
  | { readonly record: 'resumed' }
  /** The codes of these rows may be used up from now on. */
  | { readonly record: 'sent'; readonly lines: readonly number[] }
  /** The codes of these rows are not used up. */
  | { readonly record: 'taken back'; readonly lines: readonly number[] }
  | ResultsRecord
  | FailedRecord
  | EndRecord;

/** Properties that must be the same for a run to be resumed: names that a user knows, each with its value as text. */
export type RunIdentity = Readonly<Record<string, string>>;

/** The contents of the results file: the lines of the rows that have a final outcome. */
export interface ResultsRecord {
  readonly record: 'results';
  readonly results: Contents;
  /** Rows with an unknown outcome, and their results lines, which are written when the run ends: it may change until then. */
  readonly unknown?: readonly UnknownRow[];
}

export type UnknownRow = readonly [line: number, result: string];

/** The file of failed rows is about to be written, or was written: what the run may replace. */
export interface FailedRecord extends Contents {
  readonly record: 'failed file';
  /** Relative to the journal's folder. */
  readonly path: string;
}

/** The end of the run, or of a part of it; `finished` if `--resume` would send no row. */
export interface EndRecord {
  readonly record: 'end';
  readonly finished: boolean;
  /** The results file with the lines of the rows whose outcome is unknown; left out if it could not be written. */
  readonly results?: Contents;
}

/**
 * One line of a journal: a checksum of the lines before it, of which `before` is that, and of the record; the record.
 */
export function formatRecord(record: JournalRecord, before: number): string {
  const json = JSON.stringify(record);
  return `${checksum(json, before)} ${json}\n`;
}

/** `null` for a line, without its line feed, that is incomplete or was changed, or has other lines before it. */
export function parseRecord(line: string, before: number): JournalRecord | null {
  const json = line.slice(9);
  return line.slice(0, 9) === `${checksum(json, before)} ` ? JSON.parse(json) : null;
}

/** The start of the first record of every journal. */
const runStart = JSON.stringify({ record: 'run', version: journalVersion }).slice(0, -1);

/** Whether a text can be the beginning of a record that was being written when the run was killed. */
export function isTornRecord(text: string): boolean {
  return /^[0-9a-f]{0,8}$|^[0-9a-f]{8} (?:\{[^\0]*)?$/.test(text);
}

/** As `isTornRecord`, for the first record. */
export function isTornRun(text: string): boolean {
  const json = text.slice(9);
  return isTornRecord(text) && (json.startsWith(runStart) || runStart.startsWith(json));
}

function checksum(json: string, before: number): string {
  return crc32(json, before).toString(16).padStart(8, '0');
}
