import { createReadStream, statSync, truncateSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { isSystemError } from '../../support/errors.js';
import { type FileLock, FileLockedError, lockFile, silentLocks } from '../../support/file-lock.js';
import type { RowOperation } from '../operations.js';
import { type Outcome, outcomes } from '../outcome.js';
import { RunInputError } from '../source/input.js';
import { cutLines, splitLines } from '../source/lines.js';
import { AppendFile, type Contents, placeOf, realPath, unwritable } from './append-file.js';
import { type FailedPlace, requireOurs } from './failed-file.js';
import {
  appendOutcomes,
  appendRecord,
  createJournal,
  type JournaledFiles,
  type ReadJournal,
  readJournal,
} from './journal.js';
import type { RecordedRow, RunIdentity } from './journal-records.js';
import { JournalState } from './journal-state.js';

/** A record that was being written when the run was killed is shorter than this, in bytes. */
const longestTornRecord = 65_536;

/** The paths of the files of a run. */
export interface RunPaths {
  readonly journal: string;
  readonly results: string;
  /** The rows to retry; `null` if not wanted. */
  readonly failed: string | null;
}

/** @throws InvalidInputError if two options, given by their names, are paths of the same file */
export function refuseSame(files: Readonly<Record<string, string | null | undefined>>): void {
  const seen = new Map<string, string>();
  for (const [option, path] of Object.entries(files)) {
    if (path === null || path === undefined) continue;
    const place = realPath(path);
    const other = seen.get(place);
    if (other !== undefined) {
      throw new InvalidInputError(`--${other} and --${option} are the same file: ${quoteName(path)}`);
    }
    seen.set(place, option);
  }
}

/** How to treat the files of an earlier run; those of a finished run may always be replaced. */
export type RunStart = 'new' | 'resume' | 'restart';

/** The files of a run, opened, and its state so far. */
interface OpenRunFiles extends JournaledFiles {
  readonly failed: FailedPlace | null;
  readonly state: JournalState;
  /** What the user should know of how they were found; `null` where there is nothing to say. */
  readonly note: string | null;
}

/**
 * Locks files, which need not exist, against other runs until the returned function is called. `takeOver`: the user says
 * that a run which is not visible from here, as on another machine or in another container, has ended.
 *
 * @throws InvalidInputError if another run uses one of them
 */
export async function lockFiles(
  paths: readonly (string | null | undefined)[],
  takeOver = false,
): Promise<() => void> {
  const locks: FileLock[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  let current = '';
  const lockOf = (path: string) => {
    current = path;
    return `${placeOf(path)}.userinfo-lock`;
  };
  try {
    const files = paths.filter((path): path is string => Boolean(path));
    const silent = takeOver ? await silentLocks(files.map(lockOf)) : new Set<string>();
    for (const path of files) locks.push(await lockFile(lockOf(path), { silent }));
    return release;
  } catch (error) {
    release();
    if (error instanceof FileLockedError) throw inUse(error);
    throw isSystemError(error) ? unwritable(current, error) : error;
  }
}

function inUse({ message, isRunning }: FileLockedError): InvalidInputError {
  const wait = 'Wait for its end, or stop it and add --resume.';
  if (isRunning) return new InvalidInputError(`another run uses this file: ${message}`, { hint: wait });
  return new InvalidInputError(`another run may use this file: ${message}, which cannot be seen from here`, {
    hint: `${wait} If it has ended, as when its container was killed, add --take-over.`,
  });
}

/** The files of a run, locked against other runs until they are released. */
export class RunFiles {
  readonly #paths: RunPaths;
  readonly #start: RunStart;
  readonly #usesUpCode: boolean;
  readonly #takeOver: boolean;
  #found: ReadJournal | null = null;
  #release = () => {};

  /** `takeOver` as in `lockFiles`. */
  constructor(
    paths: RunPaths,
    start: RunStart,
    { usesUpCode }: Pick<RowOperation, 'usesUpCode'>,
    takeOver = false,
  ) {
    this.#paths = paths;
    this.#start = start;
    this.#takeOver = takeOver;
    this.#usesUpCode = usesUpCode;
  }

  /**
   * Locks the files, and checks whether a run may start, before its input is read.
   *
   * @throws InvalidInputError if another run uses the files, if they would be overwritten without consent or are
   * not ours, or if a damaged journal no longer says which codes are used up
   */
  async claim(): Promise<void> {
    const { journal, results, failed } = this.#paths;
    this.#release = await lockFiles([journal, results, failed], this.#takeOver);
    const isResumed = this.#start === 'resume';
    this.#found = await readJournal(placeOf(journal), isResumed ? placeOf(results) : null);
    if (this.#found !== null) requireUsable(this.#paths, this.#start, this.#found, this.#usesUpCode);
    await requireOurResults(this.#paths, this.#start, this.#found);
    const failedPlace = this.#failedPlace(null);
    if (failedPlace !== null) requireOurs(failedPlace);
  }

  /** Ends the locks, also those of a `claim` that failed. */
  release(): void {
    this.#release();
  }

  /**
   * Opens the files: creates them, or continues those of the run that is resumed.
   *
   * @throws InvalidInputError if they belong to another run
   */
  async open(given: RunIdentity): Promise<OpenRunFiles> {
    const identity = { ...given, 'results file': resultsOf(this.#paths) };
    if (this.#start === 'resume' && this.#found !== null) return this.#continue(this.#found, identity);
    const { journal: path } = this.#paths;
    // In this order, there are never results without a journal that knows them.
    if (hasContent(path)) truncateSync(placeOf(path));
    const results = AppendFile.open(this.#paths.results);
    results.syncWithName();
    const journal = createJournal(path, identity);
    const failed = this.#failedPlace(journal);
    const written = failed && requireOurs(failed);
    if (written !== null) failed?.onWrite?.(written);
    const isMissing = this.#start === 'resume';
    const note = isMissing ? `there is no journal ${quoteName(path)}: starting with the first row` : null;
    return { journal, results, failed, state: new JournalState(), note };
  }

  async #continue(found: ReadJournal, identity: RunIdentity): Promise<OpenRunFiles> {
    const { state, size } = found;
    const paths = this.#paths;
    checkIdentity(paths.journal, state.identity ?? {}, identity);
    const { adopted, contents, isDamaged } = await this.#adopt(found);
    const results = AppendFile.open(paths.results, contents);
    // The checksum of a journal is not used: each record has its own.
    const journal = AppendFile.open(paths.journal, { size, crc: 0 });
    appendRecord(journal, { record: 'resumed' });
    state.take({ record: 'resumed' }, size);
    if (adopted.length > 0) appendOutcomes({ journal, results }, adopted, false);
    let note: string | null = null;
    if (isDamaged) {
      const rows = this.#usesUpCode ? 'are unknown, and their codes not used again' : 'are sent again';
      note = `${quoteName(paths.results)} is damaged behind byte ${contents.size}: the rows written there ${rows}`;
    } else if (found.damaged !== null || found.leftBytes > longestTornRecord) {
      note = `${quoteName(paths.journal)} is damaged behind byte ${size}: rows done after that may be sent again`;
    }
    return { journal, results, failed: this.#failedPlace(journal), state, note };
  }

  /**
   * Adopts the results that were written before the journal recorded them, when the run was killed in between.
   *
   * @throws InvalidInputError if they are of rows that the journal of a read does not know
   */
  async #adopt({ state, damaged }: ReadJournal) {
    const { results, journal } = this.#paths;
    const adopted: RecordedRow[] = [];
    let contents: Contents = state.results;
    if (damaged === 'results') return { adopted, contents, isDamaged: true };
    for await (const { bytes, result } of resultsIn(results, contents.size)) {
      // It was being written when the run was killed, or when a part of the run ended.
      if (isTorn(bytes) || result?.outcome === 'unknown') break;
      if (result === null || state.settled.has(result.line)) return { adopted, contents, isDamaged: true };
      const { line, outcome } = result;
      // A run that was killed while it was resumed has recorded what was in flight as unknown.
      const isKnown = outcome === 'invalid' || state.sent.has(line) || state.unknown.has(line);
      if (this.#usesUpCode && !isKnown) throw damagedRead(journal);
      adopted.push([line, outcome, '']);
      state.settle(line, outcome);
      contents = { size: contents.size + bytes.length, crc: crc32(bytes, contents.crc) };
    }
    return { adopted, contents, isDamaged: false };
  }

  #failedPlace(journal: AppendFile | null): FailedPlace | null {
    const { failed, journal: journalPath } = this.#paths;
    if (failed === null) return null;
    const path = relative(dirname(journalPath), failed);
    const ours = this.#found?.state.failedFiles.filter((file) => file.path === path) ?? [];
    return {
      path: failed,
      ours,
      onWrite: ({ size, crc }) => {
        ours.push({ record: 'failed file', path, size, crc });
        if (journal !== null) appendRecord(journal, { record: 'failed file', path, size, crc });
      },
    };
  }
}

function requireUsable(
  { journal, results }: RunPaths,
  start: RunStart,
  { state, damaged }: ReadJournal,
  usesUpCode: boolean,
): void {
  if (start === 'new' && !state.isFinished) {
    const message = `${quoteName(journal)} is of a run that is not finished`;
    throw new RunInputError(message, '--restart sends every row again. To continue it:', '--resume');
  }
  if (start !== 'resume' || damaged === null) return;
  if (damaged === 'results' && statSync(results, { throwIfNoEntry: false }) === undefined) {
    const message = `the results of the run, ${quoteName(results)}, are missing`;
    const hint = 'Put the file back, or name it with --results. To send every row again:';
    throw new RunInputError(message, hint, '--restart');
  }
  if (usesUpCode) throw damagedRead(damaged === 'results' ? results : journal);
}

/** Codes that may have been sent cannot be sent again: there is no safe guess. */
function damagedRead(path: string): InvalidInputError {
  return new RunInputError(
    `${quoteName(path)} is damaged: which codes are used up is not certain`,
    'Put back a copy of results and journal, and resume. To send every code again, used ones too:',
    '--restart',
  );
}

/** @throws InvalidInputError if the results that are there are not those of the run */
async function requireOurResults(paths: RunPaths, start: RunStart, found: ReadJournal | null): Promise<void> {
  const isNamed = found?.state.identity?.['results file'] === resultsOf(paths);
  if (isNamed || (start === 'resume' && found !== null)) return;
  if (start === 'restart') await requireResults(paths.results);
  else if (hasContent(paths.results)) {
    throw new RunInputError(
      `${quoteName(paths.results)} is there already, and no journal says that this run wrote it`,
      'Name another file with --results. To replace it, if it holds the results of a run:',
      '--restart',
    );
  }
}

/** @throws InvalidInputError if there is a file that is not the results of a run */
export async function requireResults(path: string): Promise<void> {
  for await (const { result } of resultsIn(path, 0)) {
    if (result !== null) return;
    throw new InvalidInputError(`${quoteName(path)} is there already, and holds no results`, {
      hint: 'Move it away, or name another file with --results.',
    });
  }
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
    throw new RunInputError(
      `the run of ${quoteName(journal)} was begun with another ${name}: ${was}, now ${is}`,
      'Resume it with what it was begun with. To send every row again:',
      '--restart',
    );
  }
}

/** The path of the results file as the journal has it, so that the folder of both can be moved. */
function resultsOf({ journal, results }: RunPaths): string {
  return relative(dirname(journal), results);
}

/** The lines of a results file, which need not exist, after `start` bytes; `result` is `null` for an incomplete one. */
async function* resultsIn(
  path: string,
  start: number,
): AsyncGenerator<{ bytes: Buffer; result: { line: number; outcome: Outcome } | null }> {
  if (!hasContent(path)) return;
  for await (const block of cutLines(createReadStream(placeOf(path), { start }))) {
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
