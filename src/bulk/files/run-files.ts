import { rmSync, type Stats, statSync } from 'node:fs';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { AppendFile } from './append-file.js';
import { Journal } from './journal.js';
import type { JournalRecord, OutcomesRecord } from './journal-records.js';
import { type finalOutcomes, JournalState } from './journal-state.js';
import { formatRanges } from './line-ranges.js';
import { type ReadJournal, readJournal } from './read-journal.js';
import { finalResults } from './read-results.js';
import { formatLostResult } from './result-line.js';
import { checkIdentity, type RunIdentity } from './run-identity.js';

const rowsPerRecord = 1000;

/** A record that was being written when the run was killed is shorter, in bytes. */
const longestTornRecord = 65_536;

/** Where a run keeps what it must not lose. */
export interface RunPaths {
  readonly journal: string;
  readonly results: string;
}

/** What becomes of the files of an earlier run; those of one that is finished may always be replaced. */
export type RunStart = 'new' | 'resume' | 'restart';

/** The files of a run, opened, and what an earlier part of it has done. */
export interface RunFiles {
  readonly journal: Journal;
  readonly results: AppendFile;
  readonly before: JournalState;
  /** What the user should know of how they were found; `null` where there is nothing to say. */
  readonly note: string | null;
}

/**
 * Finds out whether a run may start, before time is spent on its input. Throws an InvalidInputError where there are
 * files that it would overwrite, or that are none of ours.
 */
export async function checkRunFiles(paths: RunPaths, start: RunStart): Promise<void> {
  await openable(paths, start);
}

/**
 * Opens the files of a run: makes them, or takes up those of the run that is to be gone on with. Throws an
 * InvalidInputError where there is another run than this, or one that is not to be replaced.
 */
export async function openRunFiles(
  paths: RunPaths,
  start: RunStart,
  identity: RunIdentity,
): Promise<RunFiles> {
  const found = await openable(paths, start);
  if (start === 'resume' && found !== null) return takeUp(paths, found, identity);
  // In this order, results are never beside a journal that knows nothing of them.
  rmSync(paths.journal, { force: true });
  const results = new AppendFile(paths.results, 0);
  const journal = Journal.create(paths.journal, identity);
  const note =
    start === 'resume'
      ? `there is no journal ${quoteName(paths.journal)}: starting with the first row`
      : null;
  return { journal, results, before: new JournalState(), note };
}

async function openable(paths: RunPaths, start: RunStart): Promise<ReadJournal | null> {
  const results = statOf(paths.results);
  const found = await readJournal(
    paths.journal,
    results?.isFile() === false ? Number.POSITIVE_INFINITY : (results?.size ?? 0),
  );
  if (found === null) {
    if (start === 'new' && results?.isFile() && results.size > 0) {
      throw new InvalidInputError(
        `${quoteName(paths.results)} is there already, and no journal says of what`,
        {
          hint: '--restart replaces it; --results names another file.',
        },
      );
    }
    return null;
  }
  if (start === 'new' && !found.state.isFinished) {
    throw new InvalidInputError(`${quoteName(paths.journal)} is of a run that is not finished`, {
      hint: '--resume goes on with it and sends no row twice; --restart begins anew and sends every row.',
    });
  }
  if (start === 'resume' && results === null && found.brokenBytes > 0) {
    throw new InvalidInputError(`the results of the run, ${quoteName(paths.results)}, are missing`, {
      hint: 'Put the file back, or name it with --results; --restart begins anew and sends every row.',
    });
  }
  return found;
}

async function takeUp(paths: RunPaths, found: ReadJournal, identity: RunIdentity): Promise<RunFiles> {
  const { state, size, brokenBytes } = found;
  checkIdentity(paths.journal, state.identity ?? {}, identity);
  const adopted = await adoptResults(paths.results, state);
  const results = new AppendFile(paths.results, adopted?.results ?? state.resultsSize);
  const journal = Journal.resume(paths.journal, size);
  state.take({ record: 'resumed' }, size);
  const record = (one: JournalRecord) => {
    state.take(one, journal.size);
    journal.append(one);
  };
  if (adopted !== null) record(adopted);
  for (const unknown of lostRows(state)) record({ record: 'outcomes', results: results.size, unknown });
  const note =
    brokenBytes > longestTornRecord
      ? `the end of the journal, ${brokenBytes} bytes, is damaged or of results that are missing: its rows are done again`
      : null;
  return { journal, results, before: state, note };
}

/** The results that were written before the journal knew of them, when the run was killed in between. */
async function adoptResults(path: string, state: JournalState): Promise<OutcomesRecord | null> {
  if (statOf(path)?.isFile() !== true) return null;
  const lines: Record<(typeof finalOutcomes)[number], number[]> = { ok: [], failed: [], invalid: [] };
  let results = state.resultsSize;
  for await (const { line, outcome, length } of finalResults(path, results)) {
    if (state.settled.has(line)) break;
    lines[outcome].push(line);
    results += length;
  }
  if (results === state.resultsSize) return null;
  return {
    record: 'outcomes',
    results,
    ok: formatRanges(lines.ok),
    failed: formatRanges(lines.failed),
    invalid: formatRanges(lines.invalid),
  };
}

/** The rows whose codes were under way when the run was killed, some at a time. */
function* lostRows({ sent }: JournalState): Generator<[line: number, result: string][]> {
  const lines = [...sent];
  for (let at = 0; at < lines.length; at += rowsPerRecord) {
    yield lines.slice(at, at + rowsPerRecord).map((line) => [line, formatLostResult(line)]);
  }
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}
