// The SDK does without this library.
import { distance } from 'fastest-levenshtein';

/** The most similar name by edit distance, ignoring case; `null` if none is similar enough. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  // Two swapped letters are two edits.
  const most = wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3));
  const edits = (name: string) => distance(wanted.toLowerCase(), name.toLowerCase());
  const [nearest] = [...names]
    .filter((name) => edits(name) <= most)
    .sort((one, other) => edits(one) - edits(other));
  return nearest ?? null;
}
