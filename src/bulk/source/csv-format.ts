import { stringify } from 'csv-stringify/sync';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { FlatValue } from '../../protocol/user-info.js';
import { type CellType, parseCell } from './cell-types.js';
import { type CsvRecord, readRecords } from './csv-records.js';
import type { LineBlock } from './lines.js';
import type { FileRow, RowFormat } from './row-format.js';

export interface CsvOptions {
  readonly delimiter: string;
  /** By column; the others are text. */
  readonly types: ReadonlyMap<string, CellType>;
  /** Whether an empty cell is an empty value, or none. */
  readonly empty: 'keep' | 'drop';
  /** Is shown the header before any row. Throws an InvalidInputError for one that cannot be used. */
  readonly checkColumns: (columns: readonly string[]) => void;
}

export interface CsvRow extends FileRow {
  readonly cells: readonly string[];
}

/** RFC 4180, with any delimiter and any line end; a header comes first. */
export class CsvFormat implements RowFormat<CsvRow> {
  readonly #options: CsvOptions;
  #columns: readonly string[] = [];
  /** Of each column. */
  #types: readonly CellType[] = [];

  constructor(options: CsvOptions) {
    this.#options = options;
  }

  async *read(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly CsvRow[]> {
    let rows: CsvRow[] = [];
    let hasHeader = false;
    const take = (record: CsvRecord) => {
      if (hasHeader) rows.push(record);
      else this.#takeHeader(record.cells);
      hasHeader = true;
    };
    for await (const _ of readRecords(refuseJson(blocks), this.#options.delimiter, take)) {
      if (rows.length === 0) continue;
      yield rows;
      rows = [];
    }
  }

  fields({ cells }: CsvRow): Map<string, FlatValue> {
    const columns = this.#columns;
    if (cells.length !== columns.length) {
      throw new InvalidInputError(`the row has ${cells.length} cells, the header ${columns.length}`, {
        hint: 'Put a cell that holds the delimiter, a quote or a line break in double quotes.',
      });
    }
    const fields = new Map<string, FlatValue>();
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? '';
      if (cell === '' && this.#options.empty === 'drop') continue;
      const type = this.#types[index] ?? 'text';
      fields.set(column, type === 'text' ? cell : parseCell(cell, type, column));
    }
    return fields;
  }

  formatHeader(): string {
    return this.#format(this.#columns);
  }

  formatRow({ cells }: CsvRow): string {
    return this.#format(cells);
  }

  #format(cells: readonly string[]): string {
    return stringify([cells], { delimiter: this.#options.delimiter });
  }

  #takeHeader(columns: readonly string[]): void {
    const { types, checkColumns } = this.#options;
    checkColumns(columns);
    const unknown = [...types.keys()].find((column) => !columns.includes(column));
    if (unknown !== undefined) {
      throw new InvalidInputError(`line 1: no column is named ${quoteName(unknown)}, which has a type`);
    }
    this.#columns = columns;
    this.#types = columns.map((column) => types.get(column) ?? 'text');
  }
}

async function* refuseJson(blocks: AsyncIterable<LineBlock>): AsyncGenerator<LineBlock> {
  for await (const block of blocks) {
    const { bytes, firstLine } = block;
    if (firstLine === 1 && bytes.subarray(0, 100).toString().trimStart()[0] === '{') {
      throw new InvalidInputError('line 1 is no header, but looks like JSON', {
        hint: 'Add --format ndjson.',
      });
    }
    yield block;
  }
}
