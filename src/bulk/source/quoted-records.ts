import { type CsvError, type Info, Parser } from 'csv-parse';
import { InvalidInputError } from '../../protocol/errors.js';
import { batchBytes, maxRowBytes } from './limits.js';

/** Is shown the cells of a record, the line where it begins, and how long it is, in bytes. */
type OnRecord = (cells: readonly string[], line: number, bytes: number) => void;

/** Lines of a CSV file that have quotes: RFC 4180, with any delimiter and any line end. */
export class QuotedRecords {
  readonly #parser: Parser;
  readonly #lines = new LineCounter();
  readonly #firstLine: number;
  #quotes = 0;

  /** `firstLine` is the number of the first one. */
  constructor(delimiter: string, firstLine: number, onRecord: OnRecord) {
    this.#firstLine = firstLine;
    this.#parser = new Parser({
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRowBytes,
      on_record: (cells: string[], info: Info) => {
        const line = this.#lines.next(cells, info);
        onRecord(cells, firstLine - 1 + line, this.#lines.recordBytes);
        return null;
      },
    });
    this.#parser.on('error', () => {}); // it comes with the callback, too
    this.#parser.resume();
  }

  /** Whether a cell is still in its quotes: a quote inside them is written twice. */
  get isOpen(): boolean {
    return this.#quotes % 2 === 1;
  }

  /**
   * Takes whole lines, with so many quotes in them, and yields each time that records may have been shown: as a stream
   * the parser is four times slower. Throws an InvalidInputError.
   */
  async *feed(bytes: Buffer, quotes: number): AsyncGenerator<void> {
    this.#quotes += quotes;
    for (let at = 0; at < bytes.length; at += batchBytes) {
      await this.#write(bytes.subarray(at, at + batchBytes));
      yield;
    }
  }

  /** No more lines come. Throws an InvalidInputError. */
  end(): Promise<void> {
    return this.#write(null);
  }

  #write(bytes: Buffer | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error | null) => {
        if (error) reject(faultOf(error, this.#firstLine - 1 + this.#lines.nextLine));
        else resolve();
      };
      if (bytes === null) this.#parser.end(done);
      else this.#parser.write(bytes, done);
    });
  }
}

/** Where records begin. The parser counts a CRLF inside quotes as two lines, and says only where a record ends. */
class LineCounter {
  /** Where the record begins that is not read to its end yet. */
  nextLine = 1;
  /** Of the record that was read last. */
  recordBytes = 0;
  #surplus = 0;
  #emptyLines = 0;
  #bytes = 0;

  next(cells: readonly string[], { lines, empty_lines, bytes }: Info & { bytes: number }): number {
    const line = this.nextLine + empty_lines - this.#emptyLines;
    this.#emptyLines = empty_lines;
    if (lines - this.#surplus > line) {
      for (const cell of cells) this.#surplus += cell.split('\r\n').length - 1;
    }
    this.nextLine = lines - this.#surplus + 1;
    this.recordBytes = bytes - this.#bytes;
    this.#bytes = bytes;
    return line;
  }
}

const faults: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a quoted cell continues behind its closing quote',
  INVALID_OPENING_QUOTE: 'a quote stands inside a cell that is not quoted',
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${maxRowBytes} bytes; is a quote never closed?`,
};

/** The parser's own messages hold the cell. */
function faultOf(error: Error, line: number): Error {
  const { code } = error as CsvError;
  if (error instanceof InvalidInputError || typeof code !== 'string') return error;
  return new InvalidInputError(`line ${line}: ${faults[code] ?? `not CSV (${code})`}`, {
    hint: 'Write a quote inside a quoted cell twice; --delimiter says what stands between cells.',
    cause: error,
  });
}
