import type { LineSet } from './line-set.js';
import { recordsOf } from './read-journal.js';
import type { ResultsSink } from './results-sink.js';

/** How much is written at once, in characters. */
const chunkLength = 65_536;

/**
 * Ends a results file with the rows whose outcome is still unknown, each once and with what became of it last; in the
 * journal they may stand several times, once a part. `unknown` is used up.
 */
export async function appendUnknown(
  results: ResultsSink,
  journalPath: string,
  parts: readonly number[],
  unknown: LineSet,
): Promise<void> {
  for (let part = parts.length - 1; part >= 0 && unknown.size > 0; part -= 1) {
    let text = '';
    for await (const { record } of recordsOf(journalPath, parts[part] ?? 0, parts[part + 1])) {
      if (record?.record !== 'outcomes') continue;
      for (const [line, result] of record.unknown ?? []) {
        if (!unknown.has(line)) continue;
        unknown.delete(line);
        text += `${result}\n`;
      }
      if (text.length < chunkLength) continue;
      results.append(text);
      text = '';
    }
    results.append(text);
  }
}
