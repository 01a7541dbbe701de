/** The name that `wanted` is most likely a misspelling of; `null` where none is near enough. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewest = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const edits = countEdits(wanted.toLowerCase(), name.toLowerCase());
    if (edits < fewest) {
      nearest = name;
      fewest = edits;
    }
  }
  return nearest;
}

/** Characters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let edits = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      if (row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, at(beforeLast, column - 2) + 1);
      }
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
