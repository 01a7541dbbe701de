import { crc32 } from 'node:zlib';
import type { RunIdentity } from './run-identity.js';

/** What a journal says of a run, a line each. Lines of the input are given as ranges: `2-33,35`. */
export type JournalRecord =
  | RunRecord
  | ResumedRecord
  | SentRecord
  | TakenBackRecord
  | OutcomesRecord
  | EndRecord;

/** The first one. */
export interface RunRecord {
  readonly record: 'run';
  readonly version: 1;
  readonly identity: RunIdentity;
}

/** The run was stopped before this, in one way or another. */
export interface ResumedRecord {
  readonly record: 'resumed';
}

/** The codes of these rows may be used up from now on. */
export interface SentRecord {
  readonly record: 'sent';
  readonly lines: string;
}

/** The codes of these rows are not used up after all. */
export interface TakenBackRecord {
  readonly record: 'taken back';
  readonly lines: string;
}

export interface OutcomesRecord {
  readonly record: 'outcomes';
  /** How long the results file is, in bytes: the lines of those that are final are in it. */
  readonly results: number;
  readonly ok?: string;
  readonly failed?: string;
  readonly invalid?: string;
  /** With their results lines, which are written when the run ends: they may yet come to another outcome. */
  readonly unknown?: readonly (readonly [line: number, result: string])[];
}

/** The run has come to its end; `finished` where no row is left that `--resume` could send. */
export interface EndRecord {
  readonly record: 'end';
  readonly finished: boolean;
}

/** One line of a journal: a checksum, and the record. */
export function formatRecord(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `${checksum(json)} ${json}\n`;
}

/** `null` for a line that is not whole, or was changed. */
export function parseRecord(line: string): JournalRecord | null {
  const json = line.slice(9).replace(/\n$/, '');
  const isWhole = line.endsWith('\n') && line.slice(0, 9) === `${checksum(json)} `;
  return isWhole ? JSON.parse(json) : null;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
