/** Line numbers as text, ascending: `2-33,35`. */
export function formatRanges(lines: readonly number[]): string {
  const sorted = [...lines].sort((a, b) => a - b);
  const parts: string[] = [];
  let first = 0;
  for (const [index, line] of sorted.entries()) {
    if (sorted[index - 1] !== line - 1) first = line;
    if (sorted[index + 1] === line + 1) continue;
    parts.push(first === line ? String(line) : `${first}-${line}`);
  }
  return parts.join(',');
}

/** The line numbers of a text that `formatRanges` wrote. */
export function* parseRanges(text: string): Generator<number> {
  if (text === '') return;
  for (const part of text.split(',')) {
    const [first = '', last = first] = part.split('-');
    for (let line = Number(first); line <= Number(last); line += 1) yield line;
  }
}
