import Table from 'cli-table3';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { formatCount } from './numbers.js';

/** Columns that borders and padding take: for each cell, and once for each row. */
const frameOfCell = 3;
const frameOfRow = 1;
/** Minimum width of a column whose cells are wider. */
const narrowest = 10;
/** Maximum width of a column. */
const widest = 500;
/** Limits of a whole table, so that a hostile answer cannot keep the terminal busy for minutes. */
export const maxLines = 2_000;
export const maxCells = 50;
/** Number of characters after which no further section or block is shown. */
export const maxLength = 200_000;

type Row = readonly string[];

/**
 * Formats rows as a table with borders. If `columns`, the width of the terminal, is given, the
 * widest columns are wrapped; records of more than two fields that still do not fit become one
 * table each. What is above the limits is left out, and a line gives its number; `total` is the
 * number of rows if not all are given.
 */
export function formatTable(
  allRows: readonly Row[],
  columns = Number.POSITIVE_INFINITY,
  wholeHead: Row = [],
  total = allRows.length,
): string {
  const wholeRows = allRows.slice(0, maxLines);
  const count = Math.max(0, wholeHead.length, ...wholeRows.map((row) => row.length));
  const head = wholeHead.slice(0, maxCells);
  const rows = wholeRows.map((row) => row.slice(0, maxCells));
  const omitted = (shown: number) =>
    leftOut(total - shown, 'rows') + leftOut(count - maxCells, 'columns');
  const widths = columnWidths([head, ...rows]);
  if (!shrink(widths, head, columns) && head.length > 2) {
    const blocks = formatBlocks(rows, columns, head);
    return blocks.join('') + omitted(blocks.length);
  }
  const table = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  let shown = 0;
  for (; shown < rows.length && table.length < maxLines; shown += 1) {
    table.push(...wrapRow(rows[shown] ?? [], widths));
  }
  return `${table.toString()}\n${omitted(shown)}`;
}

/** The line below a table that leaves something out; empty if nothing is left out. */
export function leftOut(count: number, what: string): string {
  if (count <= 0) return '';
  return `… ${what} left out: ${formatCount(count)}; -o json prints everything\n`;
}

/** A table of two columns for each record, without its empty fields. */
function formatBlocks(rows: readonly Row[], columns: number, head: Row): string[] {
  const blocks: string[] = [];
  let length = 0;
  for (const row of rows) {
    if (length >= maxLength) break;
    const fields = head
      .map((name, column) => [name, row[column] ?? ''])
      .filter(([, value]) => value !== '');
    const block = formatTable(fields, columns);
    length += block.length;
    blocks.push(block);
  }
  return blocks;
}

function columnWidths(rows: readonly Row[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.min(widest, Math.max(widths[column] ?? 0, stringWidth(cell)));
    }
  }
  return widths;
}

/** Shrinks the widest columns, none below its heading, until all fit; returns whether they do. */
function shrink(widths: number[], head: Row, columns: number): boolean {
  const least = widths.map((width, column) =>
    Math.min(width, Math.max(narrowest, stringWidth(head[column] ?? ''))),
  );
  let excess = widths.reduce((sum, width) => sum + width + frameOfCell, frameOfRow) - columns;
  for (; excess > 0; excess -= 1) {
    // Of a column that is as narrow as it may be, nothing can be taken.
    const shrinkable = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const column = shrinkable.indexOf(Math.max(...shrinkable));
    if (!shrinkable[column]) return false;
    widths[column] = (widths[column] ?? 0) - 1;
  }
  return true;
}

/**
 * Wraps cells into rows of one line: the cost of cli-table3 grows with the cube of the lines in a
 * cell.
 */
function wrapRow(row: Row, widths: readonly number[]): string[][] {
  const cells = row.map((cell, column) => {
    const width = widths[column] ?? widest;
    // A cell that fits is shown as it is: wrap-ansi normalizes Unicode.
    return stringWidth(cell) <= width ? [cell] : wrapAnsi(cell, width, { hard: true }).split('\n');
  });
  const height = Math.max(0, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.map((_, column) => cells[column]?.[line] ?? ''),
  );
}
