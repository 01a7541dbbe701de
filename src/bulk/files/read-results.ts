import { createReadStream } from 'node:fs';
import { cutLines, splitLines } from '../source/lines.js';
import { finalOutcomes } from './journal-state.js';

/** A line of a results file whose outcome is final. */
export interface FinalResult {
  readonly line: number;
  readonly outcome: (typeof finalOutcomes)[number];
  /** In bytes. */
  readonly length: number;
}

/** The final results behind `start`, in bytes: what was written to the results just before the run was killed. */
export async function* finalResults(path: string, start: number): AsyncGenerator<FinalResult> {
  for await (const block of cutLines(createReadStream(path, { start }))) {
    for (const { bytes } of splitLines(block)) {
      const result = parseResult(bytes.toString());
      if (result === null) return;
      yield { ...result, length: bytes.length };
    }
  }
}

function parseResult(text: string): Pick<FinalResult, 'line' | 'outcome'> | null {
  if (!text.endsWith('\n')) return null;
  try {
    const { line, outcome } = JSON.parse(text);
    const isFinal = Number.isSafeInteger(line) && finalOutcomes.includes(outcome);
    return isFinal ? { line, outcome } : null;
  } catch {
    return null;
  }
}
