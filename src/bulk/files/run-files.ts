import { dirname, relative } from 'node:path';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import type { RowOperation } from '../operations.js';
import { RunInputError } from '../source/input.js';
import { AppendFile, type Contents, noContents } from './append-file.js';
import { type FailedPlace, requireOurs } from './failed-file.js';
import { appendRecord, beginJournal, type JournaledFiles, type ReadJournal, readJournal } from './journal.js';
import type { RunIdentity } from './journal-records.js';
import { realPath } from './place.js';
import { readResults } from './results-file.js';
import { lockFiles } from './run-locks.js';
import { RunState } from './run-state.js';

/** The paths of the files of a run. */
export interface RunPaths {
  readonly journal: string;
  readonly results: string;
  /** The rows to retry; `null` if not wanted. */
  readonly failed: string | null;
}

/** @throws InvalidInputError if options, given by their names, are paths of the same file, or not of one that is written */
export function refuseUnusable(files: Readonly<Record<string, string | null | undefined>>): void {
  const seen = new Map<string, string>();
  for (const [option, path] of Object.entries(files)) {
    if (path === null || path === undefined) continue;
    if (path === '-' && option !== 'from') {
      throw new InvalidInputError(`--${option} names a file, which cannot be -`, {
        hint: 'Without --results, those of rows from standard input (--from -) go to standard output.',
      });
    }
    const place = realPath(path);
    const other = seen.get(place);
    if (other !== undefined) {
      throw new InvalidInputError(`--${other} and --${option} are the same file: ${quoteName(path)}`, {
        hint: `Name another file with --${option}.`,
      });
    }
    seen.set(place, option);
  }
}

/** The treatment of the files of an earlier run; those of a finished run may always be replaced. */
export type RunStart = 'new' | 'resume' | 'restart';

/** The files of a run, opened, and its state so far. */
interface OpenRunFiles extends JournaledFiles {
  readonly failed: FailedPlace | null;
  readonly state: RunState;
  /** For the user, on how they were found; `null` if all was as expected. */
  readonly note: string | null;
}

/**
 * The files of a run, locked against other runs until they are released. Each is opened once: what was checked is what
 * is written to. Only what the journal proves to be written by its run is continued or replaced.
 */
export class RunFiles {
  readonly #paths: RunPaths;
  readonly #start: RunStart;
  readonly #usesUpCode: boolean;
  readonly #takeOver: boolean;
  #journal: AppendFile | null = null;
  #results: AppendFile | null = null;
  /** The contents of the journal; `null` if there is none. */
  #found: ReadJournal | null = null;
  /** The results that stay. */
  #kept = noContents;
  #unlock = () => {};

  /** `takeOver` as in `lockFiles`. */
  constructor(
    paths: RunPaths,
    start: RunStart,
    { endpoint }: Pick<RowOperation, 'endpoint'>,
    takeOver = false,
  ) {
    this.#paths = paths;
    this.#start = start;
    this.#takeOver = takeOver;
    this.#usesUpCode = !endpoint.repeatable;
  }

  /**
   * Locks the files, and checks whether a run may start, before its input is read. Changes none of them.
   *
   * @throws InvalidInputError if another run uses the files, if they would be overwritten without consent or are
   * not ours, or if they no longer say which rows are done
   */
  async claim(): Promise<void> {
    const { journal, results, failed } = this.#paths;
    this.#unlock = await lockFiles([journal, results, failed], this.#takeOver);
    this.#journal = AppendFile.find(journal);
    this.#results = AppendFile.find(results);
    this.#found = this.#journal && (await readJournal(this.#journal));
    if (this.#found !== null) this.#requireJournal(this.#found);
    await this.#requireResults();
    const place = this.#failedPlace(null);
    if (place !== null) requireOurs(place);
  }

  /** Closes the files, and ends the locks, also those of a `claim` that failed. May be called twice. */
  release(): void {
    this.#journal?.close();
    this.#results?.close();
    this.#unlock();
  }

  /**
   * Opens the files: creates them, or continues those of the run that is resumed.
   *
   * @throws InvalidInputError if they belong to another run, or were changed since the `claim`
   */
  async open(given: RunIdentity): Promise<OpenRunFiles> {
    const identity = { ...given, 'results file': resultsOf(this.#paths) };
    // Before one of them is changed.
    this.#journal?.requireAsFound();
    this.#results?.requireAsFound();
    if (this.#start === 'resume' && this.#found !== null) return this.#continue(this.#found, identity);
    if (this.#usesUpCode) this.#refuseUsedCodes(identity);
    // In this order, there are never results without a journal that names them, nor those of another run beside it.
    const [before, journalBefore] = [this.#results, this.#journal];
    before?.remove();
    journalBefore?.remove();
    const journal = AppendFile.create(this.#paths.journal, journalBefore?.place);
    this.#journal = journal;
    beginJournal(journal, identity);
    const results = AppendFile.create(this.#paths.results, before?.place);
    this.#results = results;
    results.syncWithName();
    const failed = this.#failedPlace(journal);
    const written = failed && requireOurs(failed);
    if (written !== null && written.size > 0) failed?.onWrite?.(written);
    const isMissing = this.#start === 'resume';
    const missing = `there is no journal ${quoteName(this.#paths.journal)}: starting with the first row`;
    return { journal, results, failed, state: new RunState(), note: isMissing ? missing : null };
  }

  /** @throws InvalidInputError where codes would be sent that a run sent, or may have sent, without --restart */
  #refuseUsedCodes(identity: RunIdentity): void {
    const journal = quoteName(this.#paths.journal);
    if (this.#start === 'resume') {
      const hint = 'Name the journal of the run with --journal. For a first run, leave --resume out.';
      throw new InvalidInputError(`there is no journal ${journal}: which codes are used up is not known`, {
        hint,
      });
    }
    const before = this.#found?.state.identity?.['input file'];
    if (this.#start !== 'new' || before === undefined || before !== identity['input file']) return;
    throw new RunInputError(
      `the run of ${journal} is finished`,
      'To send every code again, used ones too:',
      '--restart',
    );
  }

  #continue({ state, size, crc, tail }: ReadJournal, identity: RunIdentity): OpenRunFiles {
    const paths = this.#paths;
    checkIdentity(paths.journal, state.identity ?? {}, identity);
    const journal = this.#journal ?? AppendFile.create(paths.journal);
    journal.keep({ size, crc });
    state.take({ record: 'resumed' }, { size, crc });
    appendRecord(journal, { record: 'resumed' });
    // Results that are shorter than the journal says would not be known as those of this run.
    journal.sync();
    const results = this.#results ?? AppendFile.create(paths.results);
    this.#results = results;
    results.keep(this.#kept);
    results.syncWithName();
    const damaged = `${quoteName(paths.journal)} is damaged behind byte ${size}: rows done after that may be sent again`;
    return {
      journal,
      results,
      failed: this.#failedPlace(journal),
      state,
      note: tail === 'zeros' ? damaged : null,
    };
  }

  /** Whether the journal is of a run with these results. */
  get #isNamed(): boolean {
    return this.#found?.state.identity?.['results file'] === resultsOf(this.#paths);
  }

  /** @throws InvalidInputError if the run may not be continued, or replaced */
  #requireJournal({ state, tail }: ReadJournal): void {
    const name = quoteName(this.#paths.journal);
    // A code that was sent could be lost with its record.
    const isLost = tail === 'zeros' && this.#start === 'resume' && this.#usesUpCode;
    if (tail === 'damaged' || isLost) {
      const message = this.#usesUpCode
        ? `${name} is damaged: which codes are used up is not certain`
        : `${name} is damaged: which rows are done is not certain`;
      throw new InvalidInputError(message, { hint: restoreHint(this.#usesUpCode) });
    }
    if (state.isFinished || this.#start === 'resume') return;
    if (this.#start === 'new') {
      const hint = '--restart sends every row again. To continue it:';
      throw new RunInputError(`${name} is of a run that is not finished`, hint, '--resume');
    }
    if (this.#isNamed) return;
    throw new InvalidInputError(`${name} is of another run that is not finished`, {
      hint: 'Name another file with --journal, or move it away.',
    });
  }

  /** @throws InvalidInputError if the results that are there, or are missing, are not those of the journal */
  async #requireResults(): Promise<void> {
    const file = this.#results;
    const state = this.#found?.state;
    const isResumed = this.#start === 'resume' && state !== undefined;
    // `open` says that the journal is of another run.
    if (isResumed && !this.#isNamed) return;
    if (!isResumed && file === null) return;
    const name = quoteName(this.#paths.results);
    if (state === undefined || !this.#isNamed) {
      throw new InvalidInputError(`${name} already exists, and no journal says that this run wrote it`, {
        hint: 'Name another file with --results, or move it away.',
      });
    }
    if (file === null) {
      if (state.results.size === 0) return;
      const hint = 'Put the file back, or name it with --results. To send every row again:';
      throw new RunInputError(`the results of the run, ${name}, are missing`, hint, '--restart');
    }
    const given = { usesUpCode: this.#usesUpCode, needsRows: isResumed };
    const kept = await readResults(file, state, given);
    if (kept === null) {
      const journal = quoteName(this.#paths.journal);
      throw new InvalidInputError(`${name} is not what ${journal} says that the run wrote`, {
        hint: restoreHint(this.#usesUpCode),
      });
    }
    this.#kept = kept;
  }

  #failedPlace(journal: AppendFile | null): FailedPlace | null {
    const { failed, journal: journalPath } = this.#paths;
    if (failed === null) return null;
    const path = relative(dirname(journalPath), failed);
    const ours: Contents[] = this.#found?.state.failedFiles.filter((file) => file.path === path) ?? [];
    const onWrite = ({ size, crc }: Contents) => {
      ours.push({ size, crc });
      if (journal === null) return;
      appendRecord(journal, { record: 'failed file', path, size, crc });
      // On the disk before the file is: without the record, it would not be known as ours.
      journal.sync();
    };
    return { path: failed, ours, onWrite };
  }
}

/** The next step for files that no longer say which rows are done. */
function restoreHint(usesUpCode: boolean): string {
  return usesUpCode
    ? 'Put back what the run wrote, and resume. Or move results and journal away, and send every code again, used ones too.'
    : 'Put back what the run wrote, and resume. Or move results and journal away, and send every row again.';
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
