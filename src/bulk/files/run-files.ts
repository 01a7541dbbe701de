import { createReadStream, statSync, truncateSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { type FileLock, FileLockedError, lockFile } from '../../support/file-lock.js';
import { type Outcome, outcomes } from '../outcome.js';
import { cutLines, splitLines } from '../source/lines.js';
import { AppendFile, placeOf } from './append-file.js';
import { type FailedPlace, requireOurs } from './failed-file.js';
import { Journal, type ReadJournal, readJournal } from './journal.js';
import { formatRanges, type RowOutcomes, type RunIdentity } from './journal-records.js';
import { finalOutcomes, JournalState, LineSet } from './journal-state.js';
import { formatLostResult } from './result-line.js';

const rowsPerRecord = 1000;

/** A record that was being written when the run was killed is shorter than this, in bytes. */
const longestTornRecord = 65_536;

/** The paths of the files of a run. */
export interface RunPaths {
  readonly journal: string;
  readonly results: string;
  /** The rows to try again; `null` if not wanted. */
  readonly failed: string | null;
}

/** How to treat the files of an earlier run; those of a finished run may always be replaced. */
export type RunStart = 'new' | 'resume' | 'restart';

/** The files of a run, opened, and its state so far. */
export interface OpenRunFiles {
  readonly journal: Journal;
  readonly results: AppendFile;
  readonly failed: FailedPlace | null;
  readonly before: JournalState;
  /** What the user should know of how they were found; `null` where there is nothing to say. */
  readonly note: string | null;
}

/**
 * Locks files, which need not exist, against other runs until the returned function is called.
 *
 * @throws InvalidInputError at once if another run uses one of them
 */
export async function lockFiles(paths: readonly string[]): Promise<() => void> {
  const locks: FileLock[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const path of paths) locks.push(await lockFile(`${placeOf(path)}.userinfo-lock`));
    return release;
  } catch (error) {
    release();
    if (error instanceof FileLockedError) {
      throw new InvalidInputError(`another run uses this file: ${error.message}`, {
        hint: 'Wait for its end, or stop it and add --resume. If no such process runs, delete the lock file. Nothing was sent.',
      });
    }
    const { code, path = 'a lock file' } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`${quoteName(path)} cannot be written (${code})`, { cause: error });
  }
}

/** The files of a run, locked against other runs until they are released. */
export class RunFiles {
  readonly #paths: RunPaths;
  readonly #start: RunStart;
  readonly #found: ReadJournal | null;
  readonly #isRead: boolean;
  readonly release: () => void;

  private constructor(
    paths: RunPaths,
    start: RunStart,
    found: ReadJournal | null,
    isRead: boolean,
    release: () => void,
  ) {
    this.#paths = paths;
    this.#start = start;
    this.#found = found;
    this.#isRead = isRead;
    this.release = release;
  }

  /**
   * Checks whether a run may start, before its input is read.
   *
   * @throws InvalidInputError if another run uses the files, if they would be overwritten without consent or are
   * not ours, or if a damaged journal no longer says which codes are used up
   */
  static async claim(paths: RunPaths, start: RunStart, operation: 'read' | 'passback'): Promise<RunFiles> {
    const { journal, results, failed } = paths;
    const release = await lockFiles([journal, results, ...(failed === null ? [] : [failed])]);
    try {
      const isRead = operation === 'read';
      const found = await readJournal(placeOf(journal), start === 'resume' ? placeOf(results) : null);
      if (found !== null) requireUsable(paths, start, found, isRead);
      await requireOurResults(paths, start, found);
      const files = new RunFiles(paths, start, found, isRead, release);
      const failedPlace = files.#failedPlace(null);
      if (failedPlace !== null) requireOurs(failedPlace);
      return files;
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Opens the files: creates them, or continues those of the run that is resumed.
   *
   * @throws InvalidInputError if they belong to another run
   */
  async open(given: RunIdentity): Promise<OpenRunFiles> {
    const identity = { ...given, 'results file': resultsOf(this.#paths) };
    if (this.#start === 'resume' && this.#found !== null) return this.#takeUp(this.#found, identity);
    // In this order, there are never results without a journal that knows them.
    if (hasContent(this.#paths.journal)) truncateSync(placeOf(this.#paths.journal));
    const results = AppendFile.open(this.#paths.results);
    results.syncWithName();
    const journal = Journal.create(this.#paths.journal, identity, results);
    const failed = this.#failedPlace(journal);
    const written = failed === null ? null : requireOurs(failed);
    if (written !== null) failed?.onWrite?.(written);
    const note =
      this.#start === 'resume'
        ? `there is no journal ${quoteName(this.#paths.journal)}: starting with the first row`
        : null;
    return { journal, results, failed, before: new JournalState(), note };
  }

  async #takeUp(found: ReadJournal, identity: RunIdentity): Promise<OpenRunFiles> {
    const { state, size } = found;
    const paths = this.#paths;
    checkIdentity(paths.journal, state.identity ?? {}, identity);
    const { outcomes, contents, isDamaged } = await this.#adopt(found);
    const results = AppendFile.open(paths.results, contents);
    const journal = Journal.resume(paths.journal, size, results);
    const note = isDamaged ? this.#noteOfResults(contents.size) : noteOf(paths.journal, found);
    state.take({ record: 'resumed' }, size);
    const record = (rows: RowOutcomes) => {
      state.take({ record: 'outcomes', results: results.size, crc: results.crc, ...rows }, journal.size);
      journal.appendOutcomes(rows, false);
    };
    if (contents.size > state.results.size) record(outcomes);
    for (const unknown of lostRows(state)) record({ unknown });
    return { journal, results, failed: this.#failedPlace(journal), before: state, note };
  }

  /**
   * Adopts the results that were written before the journal recorded them, when the run was killed in between.
   *
   * @throws InvalidInputError if they are of rows that the journal of a read does not know
   */
  async #adopt({ state, damaged }: ReadJournal) {
    const { results } = this.#paths;
    const adopted = { ok: new LineSet(), failed: new LineSet(), invalid: new LineSet() };
    let { size, crc } = state.results;
    let isDamaged = damaged === 'results';
    if (!isDamaged && hasContent(results)) {
      for await (const { bytes, result } of resultsIn(placeOf(results), size)) {
        const { line = 0, outcome } = result ?? {};
        // It was being written when the run was killed, or when a part of the run ended.
        if (isTorn(bytes) || outcome === 'unknown') break;
        const isKnown = state.settled.has(line) || finalOutcomes.some((one) => adopted[one].has(line));
        isDamaged = outcome === undefined || isKnown;
        if (isDamaged || outcome === undefined) break;
        const isUnsent = this.#isRead && outcome !== 'invalid' && !state.sent.has(line);
        if (isUnsent) throw damagedRead(this.#paths.journal);
        adopted[outcome].add(line);
        size += bytes.length;
        crc = crc32(bytes, crc);
      }
    }
    const { ok, failed, invalid } = adopted;
    const outcomes = {
      ok: formatRanges([...ok]),
      failed: formatRanges([...failed]),
      invalid: formatRanges([...invalid]),
    };
    return { outcomes, contents: { size, crc }, isDamaged };
  }

  #noteOfResults(size: number): string {
    const rows = this.#isRead ? 'are unknown, and their codes not used again' : 'are sent again';
    return `${quoteName(this.#paths.results)} is damaged behind byte ${size}: the rows written there ${rows}`;
  }

  #failedPlace(journal: Journal | null): FailedPlace | null {
    const { failed, journal: journalPath } = this.#paths;
    if (failed === null) return null;
    const path = relative(dirname(journalPath), failed);
    const ours = this.#found?.state.failedFiles.filter((file) => file.path === path) ?? [];
    return {
      path: failed,
      ours,
      onWrite: ({ size, crc }) => {
        ours.push({ record: 'failed file', path, size, crc });
        journal?.append({ record: 'failed file', path, size, crc });
      },
    };
  }
}

function requireUsable(
  { journal, results }: RunPaths,
  start: RunStart,
  { state, damaged }: ReadJournal,
  isRead: boolean,
): void {
  if (start === 'new' && !state.isFinished) {
    throw new InvalidInputError(`${quoteName(journal)} is of a run that is not finished`, {
      hint: '--resume continues it and sends no row twice; --restart sends every row again.',
    });
  }
  if (start !== 'resume' || damaged === null) return;
  if (damaged === 'results' && statSync(results, { throwIfNoEntry: false }) === undefined) {
    throw new InvalidInputError(`the results of the run, ${quoteName(results)}, are missing`, {
      hint: 'Put the file back, or name it with --results; --restart sends every row again.',
    });
  }
  if (isRead) throw damagedRead(damaged === 'results' ? results : journal);
}

/** Codes that may have been sent cannot be sent again: there is no safe guess. */
function damagedRead(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is damaged: which codes are used up is not certain`, {
    hint: 'Put back a copy of the results and the journal; --restart sends every code again, used ones too.',
  });
}

function noteOf(journal: string, { size, leftBytes, damaged }: ReadJournal): string | null {
  if (damaged === null && leftBytes <= longestTornRecord) return null;
  return `${quoteName(journal)} is damaged behind byte ${size}: rows done after that may be sent again`;
}

/** @throws InvalidInputError if the results that are there are not those of the run */
async function requireOurResults(paths: RunPaths, start: RunStart, found: ReadJournal | null): Promise<void> {
  const isNamed = found?.state.identity?.['results file'] === resultsOf(paths);
  if (isNamed || (start === 'resume' && found !== null)) return;
  if (start === 'restart') await requireResults(paths.results);
  else if (hasContent(paths.results)) {
    throw new InvalidInputError(
      `${quoteName(paths.results)} is there already, and no journal says that this run wrote it`,
      { hint: '--restart replaces the results of another run; --results names another file.' },
    );
  }
}

/** @throws InvalidInputError if there is a file that is not the results of a run */
export async function requireResults(path: string): Promise<void> {
  if (!hasContent(path)) return;
  for await (const { result } of resultsIn(placeOf(path), 0)) {
    if (result !== null) return;
    break;
  }
  throw new InvalidInputError(`${quoteName(path)} is there already, and holds no results`, {
    hint: 'Move it away, or name another file with --results.',
  });
}

function hasContent(path: string): boolean {
  return (statSync(placeOf(path), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** @throws InvalidInputError if the journal is of another run */
function checkIdentity(journal: string, begun: RunIdentity, given: RunIdentity): void {
  for (const name of Object.keys({ ...begun, ...given })) {
    if (begun[name] === given[name]) continue;
    const was = begun[name] === undefined ? 'not given' : quoteName(begun[name]);
    const is = given[name] === undefined ? 'not given' : quoteName(given[name]);
    throw new InvalidInputError(
      `the run of ${quoteName(journal)} was begun with another ${name}: ${was}, now ${is}`,
      { hint: 'Resume it with what it was begun with; --restart sends every row again.' },
    );
  }
}

/** The path of the results file as the journal has it, so that the folder of both can be moved. */
function resultsOf({ journal, results }: RunPaths): string {
  return relative(dirname(journal), results);
}

/** The rows whose codes were in flight when the run was killed, a few at a time. */
function* lostRows({ sent }: JournalState): Generator<[line: number, result: string][]> {
  const lines = [...sent];
  for (let at = 0; at < lines.length; at += rowsPerRecord) {
    yield lines.slice(at, at + rowsPerRecord).map((line) => [line, formatLostResult(line)]);
  }
}

/** The lines of a results file after `start`, in bytes; `result` is `null` for an incomplete one. */
async function* resultsIn(
  place: string,
  start: number,
): AsyncGenerator<{ bytes: Buffer; result: { line: number; outcome: Outcome } | null }> {
  for await (const block of cutLines(createReadStream(place, { start }))) {
    for (const { bytes } of splitLines(block)) yield { bytes, result: parseResult(bytes.toString()) };
  }
}

function isTorn(bytes: Buffer): boolean {
  return bytes.at(-1) !== 0x0a && !bytes.includes(0);
}

function parseResult(text: string): { line: number; outcome: Outcome } | null {
  if (!text.endsWith('\n')) return null;
  try {
    const { line, outcome } = JSON.parse(text);
    return Number.isSafeInteger(line) && outcomes.includes(outcome) ? { line, outcome } : null;
  } catch {
    return null;
  }
}
