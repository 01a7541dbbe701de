import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { FlatValue } from '../../protocol/user-info.js';
import { InputDigest } from './checked-input.js';
import type { Input } from './input.js';
import { type FileRow, type RowFormat, type RowSource, readText } from './rows.js';

/** The result of reading a file once, before anything is sent. */
export interface Preflight {
  /** `null` if the rows were not checked. */
  readonly rows: number | null;
  /** SHA-256 of the file, in hex. */
  readonly hash: string;
  /** The digests of its blocks. */
  readonly digest: InputDigest;
  /** The first invalid rows. */
  readonly faults: readonly RowFault[];
  readonly faultCount: number;
  /** Why the file could not be read to its end; it cannot be used then. */
  readonly broken: InvalidInputError | null;
  /** The first names of values. */
  readonly names: ReadonlySet<string>;
}

/** Why a row cannot be sent. */
interface RowFault {
  readonly line: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Size of one read: rows are checked so fast that larger parts outlive the young generation, and accumulate. */
const partBytes = 16 * 1024;
/** Maximum number of faults that are kept. */
const maxFaults = 20;
/** Maximum number of names that are kept. */
const maxNames = 200;

/**
 * Reads a file to its end and checks everything that needs no request. `check` throws an InvalidInputError for a
 * row that cannot be sent; without it the rows are not checked. `onRows` receives the number of rows so far.
 */
export async function preflight<Row extends FileRow>(
  source: RowSource<Row>,
  check: ((fields: Map<string, FlatValue>) => void) | null,
  onRows: (rows: number) => void = () => {},
): Promise<Preflight> {
  const { input, format } = source;
  const digest = new InputDigest();
  const faults: RowFault[] = [];
  const names = new Set<string>();
  let rows = 0;
  let faultCount = 0;
  const readAll = async () => {
    const blocks = readText(source, digested(input.read(partBytes), digest));
    if (check === null) {
      for await (const _ of blocks);
      return;
    }
    for await (const batch of format.read(blocks)) {
      for (const row of batch) {
        const fault = checkRow(row, format, check, names);
        if (fault === null) continue;
        faultCount += 1;
        if (faults.length < maxFaults) faults.push(fault);
      }
      rows += batch.length;
      onRows(rows);
    }
  };
  const broken = await readAll().then(
    async () => ((await input.sizeNow()) === input.size ? null : changedMeanwhile(input)),
    (error) => {
      if (error instanceof InvalidInputError) return error;
      throw error;
    },
  );
  return { rows: check && rows, hash: digest.end(), digest, faults, faultCount, broken, names };
}

async function* digested(bytes: AsyncIterable<Buffer>, digest: InputDigest): AsyncGenerator<Buffer> {
  for await (const part of bytes) {
    digest.add(part);
    yield part;
  }
}

function changedMeanwhile({ name }: Input): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} was changed while it was checked: nothing was sent`, {
    hint: 'Start again when nothing writes to the file any more.',
  });
}

function checkRow<Row extends FileRow>(
  row: Row,
  format: RowFormat<Row>,
  check: (fields: Map<string, FlatValue>) => void,
  names: Set<string>,
): RowFault | null {
  try {
    const fields = format.fields(row);
    for (const name of fields.keys()) if (names.size < maxNames) names.add(name);
    check(fields);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { line: row.line, message: error.message, hint: error.hint };
  }
}
