import Table from 'cli-table3';
import stringWidth from 'string-width';

/** Columns that borders and padding take: for each cell, and once for each row. */
const frameOfCell = 3;
const frameOfRow = 1;
/** Minimum width of a column whose cells are wider. */
const narrowest = 10;
/**
 * Limits of one call to cli-table3: its cost grows with the square of the rows, the cube of the lines in a cell
 * and the square of their length, so that a long value would block the program for minutes.
 */
const partRows = 500;
const widest = 500;
/** Limits of a whole table, so that a hostile answer cannot keep the terminal busy for minutes. */
export const maxRows = 2_000;
export const maxCells = 50;
const maxLength = 100_000;

type Row = readonly string[];

/**
 * Formats rows as a table with borders. If `columns`, the width of the terminal, is given, cells of the widest
 * columns are wrapped; very long cells always are. Rows and cells above the limits are left out, and a line gives
 * their number.
 */
export function formatTable(rows: readonly Row[], columns: number | undefined, head: Row = []): string {
  const shown = rows.slice(0, countOfShown(rows)).map((row) => row.slice(0, maxCells));
  const cells = Math.max(head.length, largest(rows.map((row) => row.length)));
  return [
    formatRows(shown, columns, head.slice(0, maxCells)),
    leftOut(rows.length - shown.length, 'rows'),
    leftOut(cells - maxCells, 'columns'),
  ].join('');
}

/** The line below a table that leaves something out; empty if nothing is left out. */
export function leftOut(count: number, what: string): string {
  return count > 0 ? `… ${what} left out: ${count.toLocaleString('en')}; -o json prints everything\n` : '';
}

function countOfShown(rows: readonly Row[]): number {
  let length = 0;
  for (const [index, row] of rows.entries()) {
    if (index === maxRows || length > maxLength) return index;
    for (const cell of row.slice(0, maxCells)) length += cell.length;
  }
  return rows.length;
}

function formatRows(rows: readonly Row[], columns: number | undefined, head: Row): string {
  const rooms = roomsFor(rows, head, columns);
  const lines = rows.flatMap((row) => breakRow(row, rooms));
  return `${lines.length > partRows ? formatInParts(lines, head) : formatPart(lines, head)}\n`;
}

/** The widths of the columns. The widest shrink until all fit, but none below its heading. */
function roomsFor(rows: readonly Row[], head: Row, columns = Number.POSITIVE_INFINITY): number[] {
  const count = Math.max(head.length, largest(rows.map((row) => row.length)));
  const rooms = Array.from({ length: count }, (_, column) =>
    Math.min(widest, largest([head, ...rows].map((row) => stringWidth(row[column] ?? '')))),
  );
  const least = rooms.map((room, column) =>
    Math.min(room, Math.max(narrowest, stringWidth(head[column] ?? ''))),
  );
  let excess = rooms.reduce((sum, room) => sum + room + frameOfCell, frameOfRow) - columns;
  for (; excess > 0; excess -= 1) {
    const givable = rooms.map((room, column) => (room > (least[column] ?? 0) ? room : 0));
    const widestColumn = givable.indexOf(largest(givable));
    if (givable[widestColumn] === 0) break;
    rooms[widestColumn] = (rooms[widestColumn] ?? 0) - 1;
  }
  return rooms;
}

/** Splits a row into rows of one line each: the table has no borders between rows. */
function breakRow(cells: Row, rooms: readonly number[]): Row[] {
  const broken = cells.map((cell, column) => breakLines(cell, rooms[column] ?? widest));
  const count = largest(broken.map((lines) => lines.length));
  return Array.from({ length: count }, (_, index) => broken.map((lines) => lines[index] ?? ''));
}

function formatPart(rows: readonly Row[], head: Row, colWidths?: number[]): string {
  const style = { head: [], border: [], compact: true };
  const table = new Table({ head: [...head], style, ...(colWidths && { colWidths }) });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

/** Formats the same table in parts of the same widths, without borders between them. */
function formatInParts(rows: readonly Row[], head: Row): string {
  const all = [head, ...rows];
  const widths = Array.from(
    { length: largest(all.map((row) => row.length)) },
    (_, column) => largest(all.map((row) => stringWidth(row[column] ?? ''))) + 2, // the padding
  );
  const shown: string[] = [];
  for (let from = 0; from < rows.length; from += partRows) {
    const part = rows.slice(from, from + partRows).map((row) => widths.map((_, column) => row[column] ?? ''));
    const lines = formatPart(part, from === 0 ? head : [], widths).split('\n');
    const isLast = from + partRows >= rows.length;
    shown.push(...lines.slice(from === 0 ? 0 : 1, isLast ? undefined : -1));
  }
  return shown.join('\n');
}

/** The largest number, or 0 of an empty list; Math.max takes a limited number of arguments. */
function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

let segmenter: Intl.Segmenter | undefined;

/** Creates the segmenter on first use: it takes 10 ms, and most tables wrap nothing. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function breakLines(text: string, width: number): string[] {
  if (stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += lines.at(-1)?.length ?? 0) lines.push(takeLine(text, at, width));
  return lines;
}

/** The characters from `at` that fit, at least one. The segmenter gets only the next part of a long text. */
function takeLine(text: string, at: number, width: number): string {
  const near = text.slice(at, at + width * 2);
  let line = '';
  let used = 0;
  for (const { segment } of graphemesOf(near)) {
    const isCut = line.length + segment.length === near.length && at + near.length < text.length;
    used += stringWidth(segment);
    if (line !== '' && (used > width || isCut)) break;
    line += segment;
  }
  return line;
}
