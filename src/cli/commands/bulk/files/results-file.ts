import { crc32 } from 'node:zlib';
import { type Outcome, outcomes } from '../../../../client/rows/outcome.js';
import { linesIn } from '../source/lines.js';
import { type AppendFile, type Contents, isSame, noContents } from './append-file.js';
import { reasonOf } from './result-line.js';
import type { RunState } from './run-state.js';

/**
 * Reads the results that the state of a run names, and adds their outcomes to it if it needs the
 * rows. Behind what its journal proves there may be lines that it had no time to record, and one
 * that was being written when the run was killed.
 *
 * @returns the lines of rows with a final outcome; `null` if the results are not what the run wrote
 */
export async function readResults(
  results: AppendFile,
  state: RunState,
  { usesUpCode, needsRows }: { readonly usesUpCode: boolean; readonly needsRows: boolean },
): Promise<Contents | null> {
  const end = results.textSize();
  const { results: recorded, resultsAtEnd } = state;
  if (!isSame(results.contents(noContents, recorded.size), recorded)) return null;
  if (resultsAtEnd !== null && !isSame(results.contents(recorded, end), resultsAtEnd)) return null;
  if (resultsAtEnd !== null && !needsRows) return recorded;
  let kept = noContents;
  let hasUnknown = false;
  for await (const { bytes } of linesIn(results.read(0, end))) {
    const text = bytes.toString();
    if (isTornResult(text)) break;
    const result = parseResult(text);
    if (result === null || !isOfRun(result, state, usesUpCode)) return null;
    const { line, outcome } = result;
    if (outcome === 'unknown') {
      hasUnknown = true;
      continue;
    }
    // The lines of rows with an unknown outcome are the last ones, and are written anew.
    if (hasUnknown) return null;
    state.settle(line, outcome, outcome === 'ok' ? '' : reasonOf(text));
    kept = { size: kept.size + bytes.length, crc: crc32(bytes, kept.crc) };
  }
  return kept;
}

/** The outcome of the row at a line of the input. */
interface Result {
  readonly line: number;
  readonly outcome: Outcome;
}

/** Whether the state of a run allows it to have written this result. */
function isOfRun({ line, outcome }: Result, state: RunState, usesUpCode: boolean): boolean {
  if (state.settled.has(line)) return false;
  if (!usesUpCode || outcome === 'invalid') return true;
  return state.sent.has(line) || state.unknown.has(line);
}

const resultStart = '{"line":';

/** A results line as a run writes it. */
function parseResult(text: string): Result | null {
  if (!text.startsWith(resultStart) || !text.endsWith('}\n')) return null;
  try {
    const { line, outcome } = JSON.parse(text);
    return Number.isSafeInteger(line) && outcomes.includes(outcome) ? { line, outcome } : null;
  } catch {
    return null;
  }
}

/**
 * Whether a text can be the beginning of a results line that was being written when the run was
 * killed.
 */
function isTornResult(text: string): boolean {
  return resultStart.startsWith(text) || /^\{"line":\d+(?:,[^\0\n\r]*)?$/.test(text);
}
