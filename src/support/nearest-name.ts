import { distance } from 'fastest-levenshtein';

/** The name that `wanted` is most likely a misspelling of, in either case; `null` where none is near enough. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  // Two swapped letters are two edits.
  const most = wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3));
  const edits = (name: string) => distance(wanted.toLowerCase(), name.toLowerCase());
  const [nearest] = [...names]
    .filter((name) => edits(name) <= most)
    .sort((one, other) => edits(one) - edits(other));
  return nearest ?? null;
}
