import { crc32 } from 'node:zlib';
import type { Outcome } from '../outcome.js';
import type { Contents } from './contents.js';

/** Journals of other versions are not read. */
export const journalVersion = 3;

/** A record of a journal, one a line. Lines of the input are ranges: `2-33,35`. */
export type JournalRecord =
  /** The first record. */
  | { readonly record: 'run'; readonly version: typeof journalVersion; readonly identity: RunIdentity }
  /** The run was stopped before this record. */
  | { readonly record: 'resumed' }
  /** The codes of these rows may be used up from now on. */
  | { readonly record: 'sent'; readonly lines: string }
  /** The codes of these rows are not used up. */
  | { readonly record: 'taken back'; readonly lines: string }
  | OutcomesRecord
  | FailedRecord
  /** A draft of the file of failed rows is about to be created; its path is relative to the journal's folder. */
  | { readonly record: 'draft'; readonly path: string }
  | EndRecord;

/** Properties that must be the same for a run to be resumed: names that a user knows, each with its value as text. */
export type RunIdentity = Readonly<Record<string, string>>;

/** Rows by their outcomes. */
export interface OutcomesRecord {
  readonly record: 'outcomes';
  /** The size of the results file, in bytes: it holds the lines of the rows with a final outcome. */
  readonly results: number;
  /** CRC-32 of these bytes. */
  readonly crc: number;
  readonly ok?: string | undefined;
  readonly failed?: string | undefined;
  readonly invalid?: string | undefined;
  /** With their results lines, which are written when the run ends: the outcome may change until then. */
  readonly unknown?: readonly (readonly [line: number, result: string])[] | undefined;
}

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

/** Line numbers as text, ascending: `2-33,35`. */
export function formatRanges(lines: readonly number[]): string {
  const sorted = [...lines].sort((a, b) => a - b);
  const parts: string[] = [];
  let first = 0;
  for (const [index, line] of sorted.entries()) {
    if (sorted[index - 1] !== line - 1) first = line;
    if (sorted[index + 1] === line + 1) continue;
    parts.push(first === line ? String(line) : `${first}-${line}`);
  }
  return parts.join(',');
}

/** The line numbers of a text written by `formatRanges`. */
export function* parseRanges(text: string): Generator<number> {
  if (text === '') return;
  for (const part of text.split(',')) {
    const [first = '', last = first] = part.split('-');
    for (let line = Number(first); line <= Number(last); line += 1) yield line;
  }
}

/** The outcome of a row, and its results line if the outcome is unknown. */
export type RecordedRow = readonly [line: number, outcome: Outcome, result: string];

/** The record of outcomes; `results` is the contents of the results file. */
export function outcomesRecord(rows: readonly RecordedRow[], results: Contents): OutcomesRecord {
  const rowsOf = (outcome: Outcome) => rows.filter((row) => row[1] === outcome);
  const rangesOf = (outcome: Outcome) => formatRanges(rowsOf(outcome).map(([line]) => line)) || undefined;
  const unknown = rowsOf('unknown').map(([line, , result]) => [line, result] as const);
  return {
    record: 'outcomes',
    results: results.size,
    crc: results.crc,
    ok: rangesOf('ok'),
    failed: rangesOf('failed'),
    invalid: rangesOf('invalid'),
    unknown: unknown.length === 0 ? undefined : unknown,
  };
}
