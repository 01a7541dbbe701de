import { dirname, relative } from 'node:path';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { RunInputError } from '../errors.js';
import type { RowOperation } from '../operations.js';
import { AppendFile, type Contents, noContents } from './append-file.js';
import { type ReplaceableFile, requireOurs } from './failed-file.js';
import type { OptionPath } from './file-errors.js';
import {
  appendRecord,
  beginJournal,
  type JournaledFiles,
  type ReadJournal,
  readJournal,
} from './journal.js';
import { realPath } from './real-path.js';
import { readResults } from './results-file.js';
import { lockFiles } from './run-locks.js';
import { type RunIdentity, RunState } from './run-state.js';

/** The paths of the files of a run. */
export interface RunPaths {
  readonly journal: string;
  readonly results: string;
  /** The rows that are not ok; `null` if not wanted. */
  readonly failed: string | null;
}

/**
 * Refuses paths of options, by their names, that cannot be written to, or that are the same file as
 * another or as the `input`.
 *
 * @throws InvalidInputError
 */
export function refuseUnusable(
  files: Readonly<Record<string, string | null | undefined>>,
  input?: string,
): void {
  const seen = new Map<string, string>();
  if (input !== undefined) seen.set(realPath(input), 'the input');
  for (const [name, path] of Object.entries(files)) {
    if (path === null || path === undefined) continue;
    const option = name === 'journal' ? 'the journal' : `--${name}`;
    if (path === '-') {
      throw new InvalidInputError(`${option} names a file, which cannot be -`, {
        hint: 'Without --results, those of rows from standard input go to standard output.',
      });
    }
    const file = realPath(path);
    const same = seen.get(file);
    if (same !== undefined) {
      throw new InvalidInputError(`${same} and ${option} are the same file: ${quoteName(path)}`, {
        hint: `Name another file with ${option}.`,
      });
    }
    seen.set(file, option);
  }
}

/** The treatment of the files of an earlier run; those of a finished run may always be replaced. */
export type RunStart = 'new' | 'resume' | 'restart';

/** The files of a run, opened, and its state so far. */
interface OpenRunFiles extends JournaledFiles {
  readonly failed: ReplaceableFile | null;
  readonly state: RunState;
  /** For the user, on how they were found; `null` if all was as expected. */
  readonly note: string | null;
}

/**
 * The files of a run, locked against other runs until they are released. Each is opened once: what
 * was checked is what is written to. Only what the journal proves to be written by its run is
 * continued or replaced.
 */
export class RunFiles {
  readonly #paths: RunPaths;
  readonly #start: RunStart;
  readonly #takeOver: boolean;
  /** Whether a row that was sent cannot be sent again. */
  readonly #usesUpCode: boolean;
  #journal: AppendFile | null = null;
  #results: AppendFile | null = null;
  /** The contents of the journal of an earlier run; `null` if there is none. */
  #earlier: ReadJournal | null = null;
  /** The results of it that stay. */
  #keptResults = noContents;
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
    this.#usesUpCode = !endpoint.repeatable;
    this.#takeOver = takeOver;
  }

  /**
   * Locks the files, and checks whether a run may start, before its input is read. Changes none of
   * them.
   *
   * @throws InvalidInputError if another run uses the files, if they would be overwritten without
   * consent or are not ours, or if they no longer say which rows are done
   */
  async claim(): Promise<void> {
    const { journal, results, failed } = this.#paths;
    this.#unlock = await lockFiles({ journal, results, failed }, this.#takeOver);
    this.#journal = AppendFile.find(this.#pathOf('journal'));
    this.#results = AppendFile.find(this.#pathOf('results'));
    this.#earlier = this.#journal && (await readJournal(this.#journal));
    if (this.#earlier !== null) this.#requireStart(this.#earlier);
    await this.#requireResults();
    const failedRows = this.#failedRows();
    if (failedRows !== null) requireOurs(failedRows);
  }

  /**
   * Where a check writes the rows that cannot be sent: the journal is not changed before the run
   * begins.
   */
  refusedRows(): ReplaceableFile | null {
    // The file of a run that is continued stays.
    if (this.#start === 'resume') return null;
    const failedRows = this.#failedRows();
    return failedRows && { path: failedRows.path, ours: failedRows.ours };
  }

  /**
   * Opens the files: creates them, or continues those of the run that is resumed. `properties` must
   * be the same when a run is resumed.
   *
   * @throws InvalidInputError if they belong to another run, or were changed since the `claim`
   */
  async open(properties: RunIdentity): Promise<OpenRunFiles> {
    const identity = { ...properties, 'results file': resultsOf(this.#paths) };
    // Before one of them is changed.
    this.#journal?.requireUnchanged();
    this.#results?.requireUnchanged();
    const isResumed = this.#start === 'resume';
    if (isResumed && this.#earlier !== null) return this.#resume(this.#earlier, identity);
    if (this.#usesUpCode) this.#refuseUsedCodes(identity);
    const files = this.#begin(identity);
    const note = `there is no journal ${this.#journalName}: starting with the first row`;
    return { ...files, note: isResumed ? note : null };
  }

  /**
   * Closes the files, and ends the locks, also those of a `claim` that failed. May be called twice.
   */
  release(): void {
    this.#journal?.close();
    this.#results?.close();
    this.#unlock();
  }

  get #journalName(): string {
    return quoteName(this.#paths.journal);
  }

  /** Whether the journal is of a run with these results. */
  get #isOfResults(): boolean {
    return this.#earlier?.state.identity?.['results file'] === resultsOf(this.#paths);
  }

  /** @throws InvalidInputError if the run of the journal may not be continued, or replaced */
  #requireStart({ state, tail }: ReadJournal): void {
    const start = this.#start;
    // A code that was sent could be lost with its record.
    const isLost = tail === 'zeros' && start === 'resume' && this.#usesUpCode;
    if (tail === 'damaged' || isLost) throw this.#damagedJournal();
    if (state.isFinished || start === 'resume') return;
    if (start === 'new') {
      const message = `${this.#journalName} is of a run that is not finished`;
      const hint = '--restart sends every row again. To continue it:';
      throw new RunInputError(message, hint, '--resume');
    }
    if (this.#isOfResults) return;
    throw new InvalidInputError(`${this.#journalName} is of another run that is not finished`, {
      hint: 'Name other results with --results, or move it away.',
    });
  }

  #damagedJournal(): InvalidInputError {
    const lost = this.#usesUpCode ? 'which codes are used up' : 'which rows are done';
    return new InvalidInputError(`${this.#journalName} is damaged: ${lost} is not certain`, {
      hint: restoreHint(this.#usesUpCode),
    });
  }

  /**
   * @throws InvalidInputError if the results that are there, or are missing, are not those of the
   * journal
   */
  async #requireResults(): Promise<void> {
    const state = this.#earlier?.state;
    if (this.#start === 'resume' && state !== undefined) return this.#requireResumable(state);
    if (this.#results === null) return;
    if (state === undefined || !this.#isOfResults) {
      throw new InvalidInputError(
        `${quoteName(this.#paths.results)} already exists, and no journal says that this run wrote it`,
        { hint: 'Name another file with --results, or move it away.' },
      );
    }
    await this.#keepResults(this.#results, state);
  }

  /** @throws InvalidInputError if the results of a run that is resumed are missing, or changed */
  async #requireResumable(state: RunState): Promise<void> {
    // `open` says that the journal is of another run.
    if (!this.#isOfResults) return;
    if (this.#results !== null) return this.#keepResults(this.#results, state);
    if (state.results.size === 0) return;
    throw new RunInputError(
      `the results of the run, ${quoteName(this.#paths.results)}, are missing`,
      'Put the file back. To send every row again:',
      '--restart',
    );
  }

  /** @throws InvalidInputError if the results are not what the journal says that the run wrote */
  async #keepResults(results: AppendFile, state: RunState): Promise<void> {
    const usesUpCode = this.#usesUpCode;
    const needsRows = this.#start === 'resume';
    const kept = await readResults(results, state, { usesUpCode, needsRows });
    if (kept === null) {
      const name = quoteName(this.#paths.results);
      throw new InvalidInputError(
        `${name} is not what ${this.#journalName} says that the run wrote`,
        { hint: restoreHint(usesUpCode) },
      );
    }
    this.#keptResults = kept;
  }

  /**
   * @throws InvalidInputError where codes would be sent that a run sent, or may have sent, without
   * --restart
   */
  #refuseUsedCodes(identity: RunIdentity): void {
    if (this.#start === 'resume') {
      throw new InvalidInputError(
        `there is no journal ${this.#journalName}: which codes are used up is not known`,
        {
          hint: 'It lies beside the results: name those of the run with --results. For a first run, leave --resume out.',
        },
      );
    }
    const inputBefore = this.#earlier?.state.identity?.['input file'];
    if (this.#start !== 'new' || inputBefore === undefined) return;
    if (inputBefore !== identity['input file']) return;
    throw new RunInputError(
      `the run of ${this.#journalName} is finished`,
      'To send every code again, used ones too:',
      '--restart',
    );
  }

  #resume({ state, size, crc, tail }: ReadJournal, identity: RunIdentity): OpenRunFiles {
    checkIdentity(this.#paths.journal, state.identity ?? {}, identity);
    const journal = this.#journal ?? AppendFile.create(this.#pathOf('journal'));
    this.#journal = journal;
    journal.keep({ size, crc });
    state.take({ record: 'resumed' }, { size, crc });
    appendRecord(journal, { record: 'resumed' });
    // Results that are shorter than the journal says would not be known as those of this run.
    journal.sync();
    const results = this.#results ?? AppendFile.create(this.#pathOf('results'));
    this.#results = results;
    results.keep(this.#keptResults);
    results.syncWithName();
    const damaged = `${this.#journalName} is damaged after byte ${size}: rows done after that may be sent again`;
    const note = tail === 'zeros' ? damaged : null;
    return { journal, results, failed: this.#failedRows(), state, note };
  }

  /**
   * Begins a run. In this order, there are never results without a journal that names them, nor
   * those of another run beside it.
   */
  #begin(identity: RunIdentity): Omit<OpenRunFiles, 'note'> {
    this.#results?.remove();
    this.#journal?.remove();
    const journal = AppendFile.create(this.#pathOf('journal'), this.#journal?.realPath);
    this.#journal = journal;
    beginJournal(journal, identity);
    const results = AppendFile.create(this.#pathOf('results'), this.#results?.realPath);
    this.#results = results;
    results.syncWithName();
    const failed = this.#failedRows();
    const written = failed && requireOurs(failed);
    if (written !== null && written.size > 0) failed?.onWrite?.(written);
    return { journal, results, failed, state: new RunState() };
  }

  #pathOf(name: 'journal' | 'results'): OptionPath {
    return { path: this.#paths[name], option: '--results' };
  }

  /** The file of failed rows, and the contents that the journal says the run wrote to it. */
  #failedRows(): ReplaceableFile | null {
    if (this.#paths.failed === null) return null;
    const path = relative(dirname(this.#paths.journal), this.#paths.failed);
    const written = this.#earlier?.state.failedFiles ?? [];
    const ours: Contents[] = written.filter((file) => file.path === path);
    const onWrite = ({ size, crc }: Contents) => {
      ours.push({ size, crc });
      if (this.#journal === null) return;
      appendRecord(this.#journal, { record: 'failed file', path, size, crc });
      // On the disk before the file is: without the record, it would not be known as ours.
      this.#journal.sync();
    };
    return { path: this.#paths.failed, ours, onWrite };
  }
}

/** The next step for files that no longer say which rows are done. */
function restoreHint(usesUpCode: boolean): string {
  const everything = usesUpCode ? 'every code again, used ones too' : 'every row again';
  return `Put back what the run wrote, and resume. Or move results and journal away, and send ${everything}.`;
}

/** @throws InvalidInputError if the journal is of another run */
function checkIdentity(journal: string, before: RunIdentity, now: RunIdentity): void {
  const show = (text: string | undefined) => (text === undefined ? 'not given' : quoteName(text));
  for (const name of Object.keys({ ...before, ...now })) {
    if (before[name] === now[name]) continue;
    const change = `${show(before[name])}, now ${show(now[name])}`;
    throw new RunInputError(
      `the run of ${quoteName(journal)} was begun with another ${name}: ${change}`,
      'Resume it with what it was begun with. To send every row again:',
      '--restart',
    );
  }
}

/** The path of the results file as the journal has it, so that the folder of both can be moved. */
function resultsOf({ journal, results }: RunPaths): string {
  return relative(dirname(journal), results);
}
