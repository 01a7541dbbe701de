import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { type Outcome, outcomes } from '../outcome.js';
import { linesIn } from '../source/lines.js';
import { AppendFile } from './append-file.js';
import { type Contents, isSame, noContents } from './contents.js';
import type { ReadJournal } from './journal.js';
import type { RecordedRow } from './journal-records.js';
import { LineSet } from './journal-state.js';

/** The contents of the results that a run left. */
export interface LeftResults {
  /** The lines of rows with a final outcome. */
  readonly kept: Contents;
  /** Rows among them that were written before the journal recorded them. */
  readonly adopted: readonly RecordedRow[];
  /** Whether the last of these lines has no line feed. */
  readonly lacksLineFeed: boolean;
  /** Whether the file ends before the journal says so, as after a power cut. */
  readonly isCut: boolean;
}

/**
 * Compares results with the journal that names them: its checksums, and behind the last of them the lines one by one.
 *
 * @returns `null` if they are not what the run wrote
 */
export async function leftResults(
  results: AppendFile,
  { state, contradiction, later }: ReadJournal,
  { usesUpCode }: { readonly usesUpCode: boolean },
): Promise<LeftResults | null> {
  const end = results.textSize();
  const adopted: RecordedRow[] = [];
  const expected = contradiction ?? state.resultsAtEnd;
  if (expected !== null) {
    if (end > expected.size) return null;
    const isAtEnd = isSame(results.contents(state.results, end), expected);
    if (isAtEnd) return { kept: state.results, adopted, lacksLineFeed: false, isCut: false };
    if (end === expected.size) return null;
  }
  const isSent = (line: number) => state.sent.has(line) || state.unknown.has(line);
  // The journal lags behind; but a file that is cut has no line that the journal does not have.
  const isPossible = ({ line, outcome }: Result) => {
    if (state.settled.has(line)) return false;
    if (outcome === 'unknown') return contradiction === null && (!usesUpCode || isSent(line));
    if (expected === null) return !usesUpCode || outcome === 'invalid' || isSent(line);
    return later.settled.has(line) && later.failed.has(line) === (outcome === 'failed');
  };
  const lines = new LineSet();
  let kept = state.results;
  let [lacksLineFeed, isBehindUnknown] = [false, false];
  for await (const { bytes } of linesIn(results.read(kept.size, end))) {
    const text = bytes.toString();
    const isTorn = !text.endsWith('\n');
    const result = parseResult(text);
    if (result === null) {
      if (isTorn && isTornResult(text)) break;
      return null;
    }
    const { line, outcome } = result;
    if (lines.has(line) || !isPossible(result)) return null;
    lines.add(line);
    // The lines of rows with an unknown outcome are the last ones.
    if (outcome !== 'unknown' && isBehindUnknown) return null;
    isBehindUnknown = outcome === 'unknown';
    if (isBehindUnknown) continue;
    adopted.push([line, outcome, '']);
    lacksLineFeed = isTorn;
    kept = { size: kept.size + bytes.length, crc: crc32(bytes, kept.crc) };
    // All rows of a record, in fewer bytes: somebody edited them.
    if (contradiction === null || adopted.length < contradiction.rows) continue;
    const whole = lacksLineFeed ? { size: kept.size + 1, crc: crc32('\n', kept.crc) } : kept;
    if (!isSame(whole, contradiction)) return null;
  }
  return { kept, adopted, lacksLineFeed, isCut: expected !== null };
}

/** Whether each line of a file is the result of a row, but for one at its end that was being written at a kill. */
export async function holdsResults(file: AppendFile): Promise<boolean> {
  let rows = 0;
  for await (const { bytes } of linesIn(file.read(0, file.textSize()))) {
    const text = bytes.toString();
    if (parseResult(text) !== null) rows += 1;
    else if (text.endsWith('\n') || !isTornResult(text)) return false;
  }
  return rows > 0 || file.foundSize === 0;
}

/**
 * Checks, and changes nothing.
 *
 * @throws InvalidInputError if there is a file that is not the results of a run
 */
export async function requireResults(path: string): Promise<void> {
  const file = AppendFile.find(path);
  try {
    if (file !== null && !(await holdsResults(file))) throw holdsNone(path);
  } finally {
    file?.close();
  }
}

/**
 * Opens a file for the results of a run that has no journal, and empties it.
 *
 * @throws InvalidInputError if there is a file that is not the results of a run
 */
export async function openResults(path: string): Promise<AppendFile> {
  const file = AppendFile.find(path);
  if (file === null) return AppendFile.create(path);
  try {
    if (!(await holdsResults(file))) throw holdsNone(path);
    file.keep(noContents);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

export function holdsNone(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is there already, and holds no results`, {
    hint: 'Move it away, or name another file with --results.',
  });
}

interface Result {
  readonly line: number;
  readonly outcome: Outcome;
}

const resultStart = '{"line":';

/** A results line as a run writes it, with or without its line feed. */
function parseResult(text: string): Result | null {
  if (!text.startsWith(resultStart) || !/\}\n?$/.test(text)) return null;
  try {
    const { line, outcome } = JSON.parse(text);
    return Number.isSafeInteger(line) && outcomes.includes(outcome) ? { line, outcome } : null;
  } catch {
    return null;
  }
}

/** Whether a text can be the beginning of a results line. */
function isTornResult(text: string): boolean {
  return resultStart.startsWith(text) || /^\{"line":\d+(?:,[^\0\n\r]*)?$/.test(text);
}
