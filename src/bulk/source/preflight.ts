import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { FlatValue } from '../../protocol/user-info.js';
import { InputDigest } from './checked-input.js';
import { type FileRow, type RowSource, readText } from './rows.js';

/** The result of reading a file once, before anything is sent. */
export interface Preflight {
  /** `null` if the rows were not checked. */
  readonly rows: number | null;
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  /** The digests of its blocks. */
  readonly digest: InputDigest;
  /** The first names of values. */
  readonly names: ReadonlySet<string>;
}

/** How rows are checked. */
interface RowCheck {
  /** @throws InvalidInputError for a row that cannot be sent */
  readonly check: (fields: Map<string, FlatValue>) => void;
  /** Receives a row that cannot be sent. */
  onFault(line: number, error: InvalidInputError): void;
  /** Receives the number of rows so far. */
  onRows(rows: number): void;
}

/** Size of one read: rows are checked so fast that larger parts outlive the young generation, and accumulate. */
const partBytes = 16 * 1024;
/** Maximum number of names that are kept. */
const maxNames = 200;

/**
 * Reads a file to its end and checks everything that needs no request; with `null`, not the rows.
 *
 * @throws InvalidInputError if the file cannot be read to its end
 */
export async function preflight(source: RowSource, rowCheck: RowCheck | null): Promise<Preflight> {
  const { input } = source;
  const digest = new InputDigest();
  const names = new Set<string>();
  const checkRow = (row: FileRow, { check, onFault }: RowCheck) => {
    try {
      const fields = row.fields();
      for (const name of fields.keys()) if (names.size < maxNames) names.add(name);
      check(fields);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      onFault(row.line, error);
    }
  };
  let rows = 0;
  const blocks = readText(source, digested(input.read(partBytes), digest));
  if (rowCheck === null) for await (const _ of blocks);
  else {
    for await (const batch of source.parse(blocks)) {
      for (const row of batch) checkRow(row, rowCheck);
      rows += batch.length;
      rowCheck.onRows(rows);
    }
  }
  if ((await input.sizeNow()) !== input.size) {
    throw new InvalidInputError(
      `${quoteName(input.name)} was changed while it was checked: nothing was sent`,
      {
        hint: 'Start again when nothing writes to the file any more.',
      },
    );
  }
  return { rows: rowCheck && rows, hash: digest.end(), digest, names };
}

async function* digested(bytes: AsyncIterable<Buffer>, digest: InputDigest): AsyncGenerator<Buffer> {
  for await (const part of bytes) {
    digest.add(part);
    yield part;
  }
}
