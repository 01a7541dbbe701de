import { dirname, relative } from 'node:path';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import type { RowOperation } from '../operations.js';
import { RunInputError } from '../source/input.js';
import { AppendFile, type Contents, noContents } from './append-file.js';
import { type FailedPlace, requireOurs } from './failed-file.js';
import {
  appendRecord,
  beginJournal,
  type JournaledFiles,
  type ReadJournal,
  readJournal,
} from './journal.js';

import { realPath } from './place.js';
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
    const place = realPath(path);
    const same = seen.get(place);
    if (same !== undefined) {
      throw new InvalidInputError(`${same} and ${option} are the same file: ${quoteName(path)}`, {
        hint: `Name another file with ${option}.`,
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
 * The files of a run, locked against other runs until they are released. Each is opened once: what
 * was checked is what is written to. Only what the journal proves to be written by its run is
 * continued or replaced. `takeOver` as in `lockFiles`.
 */
export function filesOfRun(
  paths: RunPaths,
  start: RunStart,
  { endpoint }: Pick<RowOperation, 'endpoint'>,
  takeOver = false,
) {
  const usesUpCode = !endpoint.repeatable;
  const journalName = quoteName(paths.journal);
  let journal: AppendFile | null = null;
  let results: AppendFile | null = null;
  /** The contents of the journal; `null` if there is none. */
  let found: ReadJournal | null = null;
  /** The results that stay. */
  let kept = noContents;
  let unlock = () => {};

  /**
   * @throws InvalidInputError where codes would be sent that a run sent, or may have sent, without
   * --restart
   */
  function refuseUsedCodes(identity: RunIdentity): void {
    if (start === 'resume') {
      const hint =
        'It lies beside the results: name those of the run with --results. For a first run, leave --resume out.';
      throw new InvalidInputError(
        `there is no journal ${journalName}: which codes are used up is not known`,
        {
          hint,
        },
      );
    }
    const before = found?.state.identity?.['input file'];
    if (start !== 'new' || before === undefined || before !== identity['input file']) return;
    throw new RunInputError(
      `the run of ${journalName} is finished`,
      'To send every code again, used ones too:',
      '--restart',
    );
  }

  function resume({ state, size, crc, tail }: ReadJournal, identity: RunIdentity): OpenRunFiles {
    checkIdentity(paths.journal, state.identity ?? {}, identity);
    journal ??= AppendFile.create(paths.journal);
    journal.keep({ size, crc });
    state.take({ record: 'resumed' }, { size, crc });
    appendRecord(journal, { record: 'resumed' });
    // Results that are shorter than the journal says would not be known as those of this run.
    journal.sync();
    results ??= AppendFile.create(paths.results);
    results.keep(kept);
    results.syncWithName();
    const damaged = `${journalName} is damaged behind byte ${size}: rows done after that may be sent again`;
    return {
      journal,
      results,
      failed: failedPlace(),
      state,
      note: tail === 'zeros' ? damaged : null,
    };
  }

  /** Whether the journal is of a run with these results. */
  const isNamed = () => found?.state.identity?.['results file'] === resultsOf(paths);

  /** @throws InvalidInputError if the run may not be continued, or replaced */
  function requireJournal({ state, tail }: ReadJournal): void {
    // A code that was sent could be lost with its record.
    const isLost = tail === 'zeros' && start === 'resume' && usesUpCode;
    if (tail === 'damaged' || isLost) {
      const message = usesUpCode
        ? `${journalName} is damaged: which codes are used up is not certain`
        : `${journalName} is damaged: which rows are done is not certain`;
      throw new InvalidInputError(message, { hint: restoreHint(usesUpCode) });
    }
    if (state.isFinished || start === 'resume') return;
    if (start === 'new') {
      const hint = '--restart sends every row again. To continue it:';
      throw new RunInputError(`${journalName} is of a run that is not finished`, hint, '--resume');
    }
    if (isNamed()) return;
    throw new InvalidInputError(`${journalName} is of another run that is not finished`, {
      hint: 'Name other results with --results, or move it away.',
    });
  }

  /**
   * @throws InvalidInputError if the results that are there, or are missing, are not those of the
   * journal
   */
  async function requireResults(): Promise<void> {
    const state = found?.state;
    const isResumed = start === 'resume' && state !== undefined;
    // `open` says that the journal is of another run.
    if (isResumed && !isNamed()) return;
    if (!isResumed && results === null) return;
    const name = quoteName(paths.results);
    if (state === undefined || !isNamed()) {
      throw new InvalidInputError(
        `${name} already exists, and no journal says that this run wrote it`,
        {
          hint: 'Name another file with --results, or move it away.',
        },
      );
    }
    if (results === null) {
      if (state.results.size === 0) return;
      const hint = 'Put the file back. To send every row again:';
      throw new RunInputError(`the results of the run, ${name}, are missing`, hint, '--restart');
    }
    const read = await readResults(results, state, { usesUpCode, needsRows: isResumed });
    if (read === null) {
      throw new InvalidInputError(`${name} is not what ${journalName} says that the run wrote`, {
        hint: restoreHint(usesUpCode),
      });
    }
    kept = read;
  }

  function failedPlace(): FailedPlace | null {
    if (paths.failed === null) return null;
    const path = relative(dirname(paths.journal), paths.failed);
    const ours: Contents[] = found?.state.failedFiles.filter((file) => file.path === path) ?? [];
    const onWrite = ({ size, crc }: Contents) => {
      ours.push({ size, crc });
      if (journal === null) return;
      appendRecord(journal, { record: 'failed file', path, size, crc });
      // On the disk before the file is: without the record, it would not be known as ours.
      journal.sync();
    };
    return { path: paths.failed, ours, onWrite };
  }

  return {
    /**
     * Where a check writes the rows that cannot be sent: the journal is not changed before the run
     * begins.
     */
    refused(): FailedPlace | null {
      // The file of a run that is continued stays.
      if (start === 'resume') return null;
      const place = failedPlace();
      return place && { path: place.path, ours: place.ours };
    },
    /**
     * Locks the files, and checks whether a run may start, before its input is read. Changes none
     * of them.
     *
     * @throws InvalidInputError if another run uses the files, if they would be overwritten without
     * consent or are not ours, or if they no longer say which rows are done
     */
    async claim(): Promise<void> {
      unlock = await lockFiles([paths.journal, paths.results, paths.failed], takeOver);
      journal = AppendFile.find(paths.journal);
      results = AppendFile.find(paths.results);
      found = journal && (await readJournal(journal));
      if (found !== null) requireJournal(found);
      await requireResults();
      const place = failedPlace();
      if (place !== null) requireOurs(place);
    },
    /**
     * Closes the files, and ends the locks, also those of a `claim` that failed. May be called
     * twice.
     */
    release(): void {
      journal?.close();
      results?.close();
      unlock();
    },
    /**
     * Opens the files: creates them, or continues those of the run that is resumed.
     *
     * @throws InvalidInputError if they belong to another run, or were changed since the `claim`
     */
    async open(given: RunIdentity): Promise<OpenRunFiles> {
      const identity = { ...given, 'results file': resultsOf(paths) };
      // Before one of them is changed.
      journal?.requireAsFound();
      results?.requireAsFound();
      if (start === 'resume' && found !== null) return resume(found, identity);
      if (usesUpCode) refuseUsedCodes(identity);
      // In this order, there are never results without a journal that names them, nor those of
      // another run beside it.
      results?.remove();
      journal?.remove();
      journal = AppendFile.create(paths.journal, journal?.place);
      beginJournal(journal, identity);
      results = AppendFile.create(paths.results, results?.place);
      results.syncWithName();
      const failed = failedPlace();
      const written = failed && requireOurs(failed);
      if (written !== null && written.size > 0) failed?.onWrite?.(written);
      const missing = `there is no journal ${journalName}: starting with the first row`;
      return {
        journal,
        results,
        failed,
        state: new RunState(),
        note: start === 'resume' ? missing : null,
      };
    },
  };
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
