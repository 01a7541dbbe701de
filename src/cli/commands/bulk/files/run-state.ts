import type { Outcome, OutcomeCounts } from '../../../../client/rows/outcome.js';
import { type Contents, noContents } from './append-file.js';
import { lostReason, reasonOf } from './result-line.js';

/**
 * Properties that must be the same for a run to be resumed: names that a user knows, each with its
 * value as text.
 */
export type RunIdentity = Readonly<Record<string, string>>;

/**
 * A row with an unknown outcome, and its results line, which is written when the run ends: it may
 * change until then.
 */
export type UnknownRow = readonly [line: number, result: string];

/** The file of failed rows is about to be written, or was written: what the run may replace. */
interface FailedRecord extends Contents {
  readonly record: 'failed file';
  /** Relative to the journal's folder. */
  readonly path: string;
}

/** A record of a journal, one a line. Rows are given by their lines in the input. */
export type JournalRecord =
  /** The first record. */
  | { readonly record: 'run'; readonly version: number; readonly identity: RunIdentity }
  /** The run was stopped before this record. */
  | { readonly record: 'resumed' }
  /** The codes of these rows may be used up from now on. */
  | { readonly record: 'sent'; readonly lines: readonly number[] }
  /** The codes of these rows are not used up. */
  | { readonly record: 'taken back'; readonly lines: readonly number[] }
  /** The contents of the results file: the lines of the rows that have a final outcome. */
  | {
      readonly record: 'results';
      readonly results: Contents;
      readonly unknown?: readonly UnknownRow[];
    }
  | FailedRecord
  /**
   * The end of the run, or of a part of it; `finished` if `--resume` would send no row. The results
   * file has the lines of the rows whose outcome is unknown; it is left out if it could not be
   * written.
   */
  | { readonly record: 'end'; readonly finished: boolean; readonly results?: Contents };

/** Lines to a page: a bit each. */
const pageLines = 65_536;

/** A set of line numbers: one bit a line, and nothing for a page without lines. */
export class LineSet {
  readonly #pages = new Map<number, Uint8Array>();
  #size = 0;

  constructor(lines: Iterable<number> = []) {
    for (const line of lines) this.add(line);
  }

  get size(): number {
    return this.#size;
  }

  has(line: number): boolean {
    const byte = this.#pages.get(Math.floor(line / pageLines))?.[(line % pageLines) >> 3] ?? 0;
    return (byte & (1 << (line & 7))) !== 0;
  }

  add(line: number): void {
    if (!this.has(line)) this.#flip(line, 1);
  }

  delete(line: number): void {
    if (this.has(line)) this.#flip(line, -1);
  }

  /** Ascending within a page. */
  *[Symbol.iterator](): Generator<number> {
    for (const number of this.#pages.keys()) {
      const start = number * pageLines;
      for (let index = 0; index < pageLines; index += 1) {
        if (this.has(start + index)) yield start + index;
      }
    }
  }

  #flip(line: number, more: 1 | -1): void {
    const number = Math.floor(line / pageLines);
    const page = this.#pages.get(number) ?? new Uint8Array(pageLines / 8);
    const byte = (line % pageLines) >> 3;
    page[byte] = (page[byte] ?? 0) ^ (1 << (line & 7));
    this.#pages.set(number, page);
    this.#size += more;
  }
}

/** The number of texts that `Reasons` keeps: each row has one byte. */
const maxReasons = 255;

/** Why rows are not ok, by line: a byte each, and nothing for a page without such rows. */
class Reasons {
  readonly #pages = new Map<number, Uint8Array>();
  readonly #texts = ['', 'the results say why'];

  get(line: number): string {
    return (
      this.#texts[this.#pages.get(Math.floor(line / pageLines))?.[line % pageLines] ?? 0] ?? ''
    );
  }

  set(line: number, text: string): void {
    const number = Math.floor(line / pageLines);
    const page = this.#pages.get(number) ?? new Uint8Array(pageLines);
    page[line % pageLines] = this.#numberOf(text);
    this.#pages.set(number, page);
  }

  #numberOf(text: string): number {
    const number = this.#texts.indexOf(text);
    if (number >= 0) return number;
    return this.#texts.length <= maxReasons ? this.#texts.push(text) - 1 : 1;
  }
}

/** The state of a run: what its journal says, and the outcomes that its results have. */
export class RunState {
  identity: RunIdentity | null = null;
  /** Rows with a final outcome: they are never sent again. */
  readonly settled = new LineSet();
  /** Rows that failed, and rows that were not sent because they are invalid. */
  readonly failed = new LineSet();
  /** Rows whose outcome is not known. */
  readonly unknown = new LineSet();
  /** Rows whose codes may be used up. */
  readonly sent = new LineSet();
  /** Why the rows that are not ok are not. */
  readonly reasons = new Reasons();
  readonly #counts = { ok: 0, failed: 0, invalid: 0 };
  /** The contents of the results file at the last record. */
  results: Contents = noContents;
  /** The failed rows that the run wrote, or may have written. */
  readonly failedFiles: FailedRecord[] = [];
  /**
   * The contents of the results file at the end of the run; `null` if it did not end, or was
   * resumed.
   */
  resultsAtEnd: Contents | null = null;
  /** Whether no row is left to send. */
  isFinished = false;
  /** What stands in the journal before each start of the run: the first, and each resume. */
  readonly starts: Contents[] = [noContents];

  get counts(): OutcomeCounts {
    return { ...this.#counts, unknown: this.unknown.size };
  }

  /** Applies a record; `before` is what stands before it in the journal. */
  take(record: JournalRecord, before: Contents): void {
    this.isFinished = false;
    this.resultsAtEnd = null;
    switch (record.record) {
      case 'run':
        this.identity = record.identity;
        return;
      case 'resumed':
        this.starts.push(before);
        for (const line of this.sent) this.settle(line, 'unknown', lostReason);
        return;
      case 'sent':
        for (const line of record.lines) this.sent.add(line);
        return;
      case 'taken back':
        for (const line of record.lines) this.sent.delete(line);
        return;
      case 'results':
        this.results = record.results;
        for (const [line, result] of record.unknown ?? [])
          this.settle(line, 'unknown', reasonOf(result));
        return;
      case 'failed file':
        this.failedFiles.push(record);
        return;
      case 'end':
        this.isFinished = record.finished;
        this.resultsAtEnd = record.results ?? null;
        return;
    }
  }

  /** A row has its outcome, whether or not a record says so yet; `reason` is why it is not ok. */
  settle(line: number, outcome: Outcome, reason: string): void {
    this.sent.delete(line);
    if (outcome !== 'ok') this.reasons.set(line, reason);
    if (outcome === 'unknown') {
      this.unknown.add(line);
      return;
    }
    this.settled.add(line);
    this.unknown.delete(line);
    if (outcome !== 'ok') this.failed.add(line);
    this.#counts[outcome] += 1;
  }
}
