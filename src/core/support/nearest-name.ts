// The SDK does without this library.
import { distance } from 'fastest-levenshtein';

/** The most similar name by edit distance, ignoring case; `null` if none is similar enough. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewestEdits = maxEdits(wanted) + 1;
  for (const name of names) {
    const edits = distance(wanted.toLowerCase(), name.toLowerCase());
    if (edits >= fewestEdits) continue;
    nearest = name;
    fewestEdits = edits;
  }
  return nearest;
}

function maxEdits({ length }: string): number {
  if (length < 4) return 1;
  // Two swapped letters are two edits.
  return Math.max(2, Math.floor(length / 3));
}
