import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { FlatValue } from '../../protocol/user-info.js';
import { InputDigest } from './checked-input.js';
import { decompress, type Input, watchBytes } from './input.js';
import type { FileRow, RowFormat } from './rows.js';
import { type TextOptions, toUtf8 } from './text.js';

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
export interface RowFault {
  readonly line: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Updated while the file is read. */
export interface PreflightProgress {
  rows: number;
  /** Of the file. */
  bytes: number;
}

/** Size of one read: rows are checked so fast that larger parts outlive the young generation, and accumulate. */
const partBytes = 16 * 1024;
/** Maximum number of faults that are kept. */
const maxFaults = 20;
/** Maximum number of names that are kept. */
const maxNames = 200;

/**
 * Reads a file to its end and checks everything that needs no request. `check` throws an InvalidInputError for a
 * row that cannot be sent; without it the rows are not checked.
 */
export async function preflightFile<Row extends FileRow>(
  input: Input,
  text: TextOptions,
  format: RowFormat<Row>,
  check: ((row: Row, fields: Map<string, FlatValue>) => void) | null,
  progress: PreflightProgress,
): Promise<Preflight> {
  const digest = new InputDigest();
  const bytes = watchBytes(input.read(partBytes), (chunk) => {
    digest.add(chunk);
    progress.bytes += chunk.length;
  });
  const blocks = toUtf8(decompress(bytes), text);
  const faults: RowFault[] = [];
  const names = new Set<string>();
  let faultCount = 0;
  const look = async () => {
    if (check === null) {
      for await (const _ of blocks);
      return;
    }
    for await (const rows of format.read(blocks)) {
      for (const row of rows) {
        const fault = checkRow(row, format, check, names);
        if (fault === null) continue;
        faultCount += 1;
        if (faults.length < maxFaults) faults.push(fault);
      }
      progress.rows += rows.length;
    }
  };
  const broken = await look().then(
    async () => ((await input.sizeNow()) === input.size ? null : changedMeanwhile(input)),
    (error) => {
      if (error instanceof InvalidInputError) return error;
      throw error;
    },
  );
  const rows = check && progress.rows;
  return { rows, hash: digest.end(), digest, faults, faultCount, broken, names };
}

function changedMeanwhile({ name }: Input): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} was changed while it was checked: nothing was sent`, {
    hint: 'Start again when nothing writes to the file any more.',
  });
}

function checkRow<Row extends FileRow>(
  row: Row,
  format: RowFormat<Row>,
  check: (row: Row, fields: Map<string, FlatValue>) => void,
  names: Set<string>,
): RowFault | null {
  try {
    const fields = format.fields(row);
    for (const name of fields.keys()) if (names.size < maxNames) names.add(name);
    check(row, fields);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { line: row.line, message: error.message, hint: error.hint };
  }
}
