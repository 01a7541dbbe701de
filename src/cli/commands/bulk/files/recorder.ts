import type { Writable } from 'node:stream';
import type { Outcome, RowOutcome } from '../../../../client/rows/outcome.js';
import { describeSystemError } from '../../../../core/support/errors.js';
import { type RowOperation, userOf } from '../operations.js';
import type { FileRow } from '../source/rows.js';
import { AppendFile, noContents } from './append-file.js';
import type { ReplaceableFile } from './failed-file.js';
import { RunFileError } from './file-errors.js';
import { appendRecord, appendResults, type JournaledFiles, recordsOf } from './journal.js';

import { requireNoResults } from './refused-rows.js';
import { formatLostResult, formatOutcome, formatResult, reasonOf } from './result-line.js';
import { LineSet, type RunState, type UnknownRow } from './run-state.js';

/** The destination of the results. */
interface ResultsSink {
  append(text: string): void;
  /**
   * Whether it has no room at present; `onRoom`, the same function each time, is called when it has
   * room again.
   */
  isFull(onRoom: () => void): boolean;
  /** Returns when everything is on the disk, and can be found there under its name. */
  syncWithName?(): void;
  /** @throws RunFileError if another program changed what was written */
  requireUntouched?(): void;
  close?(): void;
}

/**
 * Opens the results of a run that has no journal: a new file at the `path`; without one standard
 * output, for which `show` transforms each text.
 *
 * @throws InvalidInputError if there is a file
 */
export function openResults(
  path: string | undefined,
  stdout: Writable,
  show?: typeof asItIs,
): ResultsSink {
  if (path === undefined) return streamSink(stdout, show);
  requireNoResults(path);
  return AppendFile.create(path);
}

const asItIs = (text: string) => text;

/** The stream stays open. After an error of it, `append` throws a RunFileError. */
function streamSink(stream: Writable, show = asItIs): ResultsSink {
  return {
    append(text) {
      stream.write(show(text));
      if (!stream.errored) return;
      const what = `the results cannot be written: ${describeSystemError(stream.errored)}`;
      throw new RunFileError(what, {
        hint: 'Write them to a file with --results.',
        cause: stream.errored,
      });
    },
    isFull(onRoom) {
      if (stream.writableNeedDrain && !stream.listeners('drain').includes(onRoom))
        stream.once('drain', onRoom);
      return stream.writableNeedDrain;
    },
  };
}

/** The files of a run, and its state. Without a journal, it cannot be resumed. */
export type RunRecord = (
  | JournaledFiles
  | { readonly results: ResultsSink; readonly journal: null }
) & {
  /** Where the rows that are not ok are written. */
  readonly failed: ReplaceableFile | null;
  /** The state at the end of the earlier parts of the run; updated. */
  readonly state: RunState;
};

interface RecordedRow {
  readonly line: number;
  readonly outcome: Outcome;
  /** Why it is not ok; empty text if it is. */
  readonly reason: string;
  /** Its results line, if its outcome is unknown. */
  readonly result: string;
}

/**
 * The journal may lag this long behind the results, which are read when the run is resumed, in
 * milliseconds: each of its records waits for the disk.
 */
const recordMs = 500;
/** Maximum size of one write when the run ends, in characters. */
const chunkLength = 65_536;

/**
 * Writes down the outcome of each row: its results line, before more rows are sent; from time to
 * time the journal. `count` is called with each outcome, and why a row is not ok; `now` is a
 * monotonic clock, in milliseconds.
 */
export function recordOutcomes(
  operation: RowOperation,
  { results, journal, state }: RunRecord,
  count: (outcome: RowOutcome<FileRow>, reason: string) => void,
  now = () => performance.now(),
) {
  /** The rows of this turn, and the results lines of those whose outcome is known. */
  let rows: RecordedRow[] = [];
  let lines = '';
  /** What the journal does not say yet. */
  let unknown: UnknownRow[] = [];
  let isAhead = false;
  let takenBack: number[] = [];
  let recordedAt = 0;
  let isBroken = false;

  function writeResults(): void {
    if (journal !== null && takenBack.length > 0)
      appendRecord(journal, { record: 'taken back', lines: takenBack });
    takenBack = [];
    if (rows.length === 0) return;
    results.append(lines);
    for (const { line, outcome, reason, result } of rows) {
      state.settle(line, outcome, reason);
      if (outcome === 'unknown') unknown.push([line, result]);
    }
    [rows, lines] = [[], ''];
    isAhead = true;
  }

  function writeJournal(): void {
    recordedAt = now();
    if (journal !== null && isAhead) appendResults({ results, journal }, unknown);
    [unknown, isAhead] = [[], false];
  }

  /** Each row once, with its last result: the journal may have one for each part of the run. */
  async function writeUnknown(): Promise<void> {
    if (journal === null) return;
    const left = new LineSet(state.unknown);
    for (let part = state.parts.length - 1; part >= 0 && left.size > 0; part -= 1) {
      let text = '';
      const before = state.parts[part] ?? noContents;
      const bytes = journal.read(before.size, state.parts[part + 1]?.size);
      for await (const { record } of recordsOf(bytes, before.crc)) {
        if (record?.record !== 'results') continue;
        for (const [line, result] of record.unknown ?? []) {
          if (!left.has(line)) continue;
          left.delete(line);
          text += `${result}\n`;
        }
        if (text.length < chunkLength) continue;
        results.append(text);
        text = '';
      }
      results.append(text);
    }
    for (const line of left) results.append(`${formatLostResult(line)}\n`);
  }

  /** @throws RunFileError, and then writes nothing more */
  function onTurn(): void {
    if (isBroken) return;
    try {
      writeResults();
      if (isAhead && now() - recordedAt >= recordMs) writeJournal();
    } catch (error) {
      isBroken = true;
      throw error;
    }
  }

  return {
    /** Number of rows that have an outcome that could not be written. */
    unwritten: () => (isBroken ? rows.length : 0),
    onOutcome(outcome: RowOutcome<FileRow>, given: string | null): void {
      const { userKey, endpoint } = operation;
      const { line } = outcome.row;
      // An invalid row may have a valid user.
      const user = outcome.outcome === 'invalid' ? userOf(outcome.row, operation) : given;
      const result = formatResult(
        line,
        userKey,
        user,
        formatOutcome(outcome, !endpoint.repeatable),
      );
      const isUnknown = outcome.outcome === 'unknown';
      const reason = outcome.outcome === 'ok' ? '' : reasonOf(result);
      rows.push({ line, outcome: outcome.outcome, reason, result: isUnknown ? result : '' });
      // Its outcome may change: the line is written when the run ends.
      if (!isUnknown || journal === null) lines += `${result}\n`;
      count(outcome, reason);
    },
    onTurn,
    isFull: (onRoom: () => void) => results.isFull(onRoom),
    /**
     * Writes the rest, except for the rows of a turn that could not be written.
     *
     * @throws RunFileError
     */
    finish(): void {
      onTurn();
      writeJournal();
    },
    /**
     * Completes results and journal on the disk: adds the results lines of the rows with an unknown
     * outcome.
     *
     * @throws RunFileError
     */
    async end(isFinished: boolean): Promise<void> {
      if (!isBroken) {
        await writeUnknown();
        results.requireUntouched?.();
        results.syncWithName?.();
      }
      if (journal === null) return;
      const { size, crc } = results;
      const written = isBroken ? {} : { results: { size, crc } };
      appendRecord(journal, { record: 'end', finished: isFinished, ...written });
      journal.sync();
    },
    /**
     * That codes may be used up from now on is on the disk first, and survives a crash of the
     * machine.
     */
    onSend(sent: readonly FileRow[]): void {
      if (operation.endpoint.repeatable || journal === null) return;
      appendRecord(journal, { record: 'sent', lines: sent.map(({ line }) => line) });
      journal.sync();
    },
    onTakenBack({ line }: FileRow): void {
      if (!operation.endpoint.repeatable) takenBack.push(line);
    },
  };
}
