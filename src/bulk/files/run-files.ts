import { dirname, relative, resolve } from 'node:path';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { RowOperation } from '../operations.js';
import { RunInputError } from '../source/input.js';
import { AppendFile } from './append-file.js';
import { noContents } from './contents.js';
import { removeDraft } from './draft-file.js';
import { type FailedPlace, requireOurs } from './failed-file.js';
import {
  appendOutcomes,
  appendRecord,
  beginJournal,
  type JournaledFiles,
  type ReadJournal,
  readJournal,
} from './journal.js';
import type { JournalRecord, RunIdentity } from './journal-records.js';
import { JournalState } from './journal-state.js';
import { placeOf, realPath } from './place.js';
import { holdsNone, holdsResults, type LeftResults, leftResults } from './results-file.js';
import { lockFiles } from './run-locks.js';

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
  readonly state: JournalState;
  /** A note for the user on how they were found. */
  readonly notes: readonly string[];
}

/**
 * The files of a run, locked against other runs until they are released. Each is opened once: what was checked is what
 * is written to. Only what the journal proves to be written by its run is continued or emptied.
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
  /** `null` if there are no results, or none that the journal proves. */
  #left: LeftResults | null = null;
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
    this.#found = this.#journal && (await readJournal(this.#journal, this.#results));
    this.#requireJournal();
    if (this.#results !== null && this.#found !== null && this.#isNamed()) {
      this.#left = await leftResults(this.#results, this.#found, { usesUpCode: this.#usesUpCode });
    }
    await this.#requireResults();
    const failedPlace = this.#failedPlace(null);
    if (failedPlace !== null) requireOurs(failedPlace);
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
    const notes: string[] = [];
    const isJournalOurs = this.#found === null || (this.#found.tail !== 'damaged' && this.#isNamed());
    // In this order, there are never results without a journal that knows them.
    const journal = this.#emptied(
      this.#journal,
      this.#paths.journal,
      this.#start === 'new' || isJournalOurs,
      notes,
    );
    this.#journal = journal;
    const results = this.#emptied(this.#results, this.#paths.results, this.#left !== null, notes);
    this.#results = results;
    results.syncWithName();
    beginJournal(journal, identity);
    this.#removeDrafts();
    const failed = this.#failedPlace(journal);
    const written = failed && requireOurs(failed);
    if (written !== null && written.size > 0) failed?.onWrite?.(written);
    if (this.#start === 'resume')
      notes.push(`there is no journal ${quoteName(this.#paths.journal)}: starting with the first row`);
    return { journal, results, failed, state: new JournalState(), notes };
  }

  #continue(found: ReadJournal, identity: RunIdentity): OpenRunFiles {
    const { state, size, crc, later, tail } = found;
    const { journal: journalPath, results: resultsPath } = this.#paths;
    checkIdentity(journalPath, state.identity ?? {}, identity);
    const left = this.#left ?? { kept: noContents, adopted: [], lacksLineFeed: false, isCut: false };
    const journal = this.#journal ?? AppendFile.create(journalPath);
    journal.keep({ size, crc });
    for (const record of later.failedFiles) appendRecord(journal, record);
    state.take({ record: 'resumed' }, { size: journal.size, crc: journal.crc });
    appendRecord(journal, { record: 'resumed' });
    // Results that are shorter than the journal says would not be known as those of this run.
    journal.sync();
    const results = this.#results ?? AppendFile.create(resultsPath);
    this.#results = results;
    results.keep(left.kept);
    if (left.lacksLineFeed) results.append('\n');
    for (const [line, outcome] of left.adopted) state.settle(line, outcome);
    if (left.adopted.length > 0) appendOutcomes({ journal, results }, left.adopted, false);
    this.#removeDrafts();
    const notes: string[] = [];
    if (left.isCut) {
      notes.push(
        `${quoteName(resultsPath)} ends at byte ${results.size}, earlier than its journal says: ` +
          'the rows whose lines are missing are sent again',
      );
    } else if (tail === 'zeros' || found.leftBytes > longestTornRecord) {
      notes.push(
        `${quoteName(journalPath)} is damaged behind byte ${size}: rows done after that may be sent again`,
      );
    }
    return { journal, results, failed: this.#failedPlace(journal), state, notes };
  }

  /** A file without contents, to write to: the one that is there if it is `ours`; otherwise that is moved aside. */
  #emptied(file: AppendFile | null, path: string, isOurs: boolean, notes: string[]): AppendFile {
    if (file === null) return AppendFile.create(path);
    if (file.foundSize === 0 || (isOurs && !file.hasOtherNames)) {
      file.keep(noContents);
      return file;
    }
    notes.push(`${quoteName(path)} was moved to ${quoteName(file.moveAside())}`);
    return AppendFile.create(path);
  }

  /** Whether the journal is of a run with these results. */
  #isNamed(): boolean {
    return this.#found?.state.identity?.['results file'] === resultsOf(this.#paths);
  }

  #requireJournal(): void {
    const { journal, results } = this.#paths;
    const found = this.#found;
    if (this.#start !== 'resume' && this.#journal?.hasOtherNames) {
      this.#requireMovable(this.#journal, '--journal');
    }
    if (found === null) return;
    const isDamaged = found.tail === 'damaged';
    if (this.#start === 'restart') {
      if (isDamaged || !this.#isNamed()) this.#requireMovable(this.#journal, '--journal');
      return;
    }
    if (isDamaged || (this.#start === 'resume' && found.tail === 'zeros' && this.#usesUpCode)) {
      const message = this.#usesUpCode
        ? `${quoteName(journal)} is damaged: which codes are used up is not certain`
        : `${quoteName(journal)} is damaged: which rows are done is not certain`;
      throw new RunInputError(message, restartHint(this.#start, this.#usesUpCode), '--restart');
    }
    if (this.#start === 'new' && !found.isFinished) {
      const message = `${quoteName(journal)} is of a run that is not finished`;
      throw new RunInputError(message, '--restart sends every row again. To continue it:', '--resume');
    }
    const isMissing = this.#results === null && found.contradiction !== null && this.#isNamed();
    if (this.#start !== 'resume' || !isMissing) return;
    const message = `the results of the run, ${quoteName(results)}, are missing`;
    const hint = 'Put the file back, or name it with --results. To send every row again:';
    throw new RunInputError(message, hint, '--restart');
  }

  /** @throws InvalidInputError if the results that are there may not be continued or replaced */
  async #requireResults(): Promise<void> {
    const file = this.#results;
    const isResumed = this.#start === 'resume' && this.#found !== null;
    if (file === null || (isResumed ? !this.#isNamed() : file.foundSize === 0)) return;
    const left = this.#left;
    // Results of a read are on the disk before the journal has their rows: no power cut makes them shorter.
    if (left !== null && !(isResumed && this.#usesUpCode && left.isCut)) {
      if (!isResumed && file.hasOtherNames) this.#requireMovable(file, '--results');
      return;
    }
    if (this.#start === 'restart') {
      if (!(await holdsResults(file))) throw holdsNone(file.path);
      this.#requireMovable(file, '--results');
      return;
    }
    const name = quoteName(file.path);
    if (!this.#isNamed()) {
      const message = `${name} is there already, and no journal says that this run wrote it`;
      const hint = 'Name another file with --results. To move it aside, if it holds the results of a run:';
      throw new RunInputError(message, hint, '--restart');
    }
    const message = `${name} is not what ${quoteName(this.#paths.journal)} says that the run wrote`;
    if ((await holdsResults(file)) && !file.isLinked) {
      throw new RunInputError(message, restartHint(this.#start, this.#usesUpCode), '--restart');
    }
    throw new InvalidInputError(message, {
      hint: isResumed
        ? 'Move it away, put back the results of the run, and resume.'
        : 'Move it away, or name another file with --results.',
    });
  }

  /** @throws InvalidInputError if the file cannot be moved aside, because its path is a link to it */
  #requireMovable(file: AppendFile | null, option: string): void {
    if (!file?.isLinked) return;
    throw new InvalidInputError(`${quoteName(file.path)} is a link to a file that is not of this run`, {
      hint: `Remove the link, or name another file with ${option}.`,
    });
  }

  #failedPlace(journal: AppendFile | null): FailedPlace | null {
    const { failed, journal: journalPath } = this.#paths;
    if (failed === null) return null;
    const path = relative(dirname(journalPath), failed);
    const ours = this.#found?.state.failedFiles.filter((file) => file.path === path) ?? [];
    const append = (record: JournalRecord) => {
      if (journal !== null) appendRecord(journal, record);
    };
    return {
      path: failed,
      ours,
      onDraft: (draft) => {
        append({ record: 'draft', path: relative(dirname(placeOf(journalPath)), draft) });
      },
      onWrite: ({ size, crc }) => {
        ours.push({ record: 'failed file', path, size, crc });
        append({ record: 'failed file', path, size, crc });
        // On the disk before the file is: without the record, it would not be known as ours.
        journal?.sync();
      },
    };
  }

  /** A killed run leaves its draft behind. */
  #removeDrafts(): void {
    const folder = dirname(placeOf(this.#paths.journal));
    for (const draft of this.#found?.state.drafts ?? []) removeDraft(resolve(folder, draft));
  }
}

/** The next step for files that cannot be continued: codes that may have been sent cannot be sent again. */
function restartHint(start: RunStart, usesUpCode: boolean): string {
  if (start !== 'resume') return 'To move it aside, and send every row:';
  return usesUpCode
    ? 'Put back a copy of results and journal, and resume. To send every code again, used ones too:'
    : 'Put back a copy of results and journal, and resume. To send every row again:';
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
