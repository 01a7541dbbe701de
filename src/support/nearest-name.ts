// The SDK does without this library.
import { distance } from 'fastest-levenshtein';

/** Whether two names differ by at most one letter, or by two letters that are swapped. */
export function isSlip(one: string, other: string): boolean {
  const edits = distance(one, other);
  return edits < 2 || (edits === 2 && sorted(one) === sorted(other));
}

function sorted(name: string): string {
  return [...name].sort().join('');
}

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
