/** Rows of a name and what it means, the names in a column of their own. */
export function formatColumns(rows: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('');
}
