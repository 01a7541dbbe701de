import { createHash } from 'node:crypto';
import type { FileRow, RowFormat } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { formatFlatJson } from '../protocol/user-info.js';
import type { Queue } from './queue.js';
import type { NewRun } from './run.js';

/** A row in the queue: its line in the input, and its values as flat JSON. */
export interface QueuedRow {
  readonly line: number;
  readonly json: string;
}

/** Rows that one worker takes together. */
export interface Chunk {
  /** Counted from 0. */
  readonly chunk: number;
  readonly rows: number;
  /** A row a line. */
  readonly body: string;
}

/** Parses the rows of a chunk's body. */
export function parseRows(body: string): QueuedRow[] {
  const rows = body.split('\n').slice(0, -1);
  return rows.map((row) => {
    const end = row.indexOf(' ');
    return { line: Number(row.slice(0, end)), json: row.slice(end + 1) };
  });
}

/**
 * Refuses rows whose user an earlier row names: workers do chunks in any order, and the last row of a user would not
 * win. Holds 8 bytes a row.
 */
export class UniqueUsers {
  #digests = new BigUint64Array(1024);
  #count = 0;

  add(user: string): void {
    if (this.#count === this.#digests.length) {
      const larger = new BigUint64Array(2 * this.#count);
      larger.set(this.#digests);
      this.#digests = larger;
    }
    this.#digests[this.#count] = createHash('sha256').update(user).digest().readBigUInt64LE();
    this.#count += 1;
  }

  /** @throws InvalidInputError if a user was added twice */
  check(): void {
    const digests = this.#digests.subarray(0, this.#count);
    const sorted = digests.slice().sort();
    const twice = sorted.find((digest, i) => digest === sorted[i + 1]);
    if (twice === undefined) return;
    const first = digests.indexOf(twice);
    const second = digests.indexOf(twice, first + 1);
    throw new InvalidInputError(
      `rows ${first + 1} and ${second + 1} name the same user: nothing was queued`,
      {
        hint: 'Workers do the rows of a queue in any order: keep one row a user, or leave --queue out.',
      },
    );
  }
}

/** A chunk is full with this many rows, */
const chunkRows = 1000;
/** those of this many seconds at the rate of the run, */
const chunkSeconds = 5;
/** or this many characters. */
const chunkLength = 256 * 1024;

/** Rows that were checked, and are read again. */
export interface RowsToLoad {
  readonly format: RowFormat<FileRow>;
  read(): AsyncIterable<readonly FileRow[]>;
  /** Called with the number of rows so far. */
  onRows(count: number): void;
}

/**
 * Adds rows to a queue as one run, and returns its name: all of them, or none. After `leaseMs` milliseconds other
 * workers may take the chunk of a silent one.
 *
 * @throws what reading the rows throws, and an AbortError on `signal`
 */
export async function loadRun(
  queue: Queue,
  given: NewRun,
  leaseMs: number,
  { format, read, onRows }: RowsToLoad,
  signal: AbortSignal,
): Promise<string> {
  const run = await queue.add(given, leaseMs);
  const maxRows = given.rate === null ? chunkRows : Math.min(chunkRows, given.rate * chunkSeconds);
  let [chunk, rows, body, count] = [0, 0, '', 0];
  const loadChunk = async () => {
    await queue.load(run, [{ chunk, rows, body }]);
    [chunk, rows, body] = [chunk + 1, 0, ''];
  };
  try {
    for await (const batch of read()) {
      signal.throwIfAborted();
      for (const row of batch) {
        body += `${row.line} ${formatFlatJson(format.fields(row))}\n`;
        rows += 1;
        if (rows >= maxRows || body.length >= chunkLength) await loadChunk();
      }
      count += batch.length;
      onRows(count);
    }
    if (rows > 0) await loadChunk();
    if (await queue.release(run, chunk)) return run;
    throw new InvalidInputError(`run ${run} was cancelled while it was loaded`);
  } catch (error) {
    // If the database is lost as well, the rest can be purged.
    await queue.purge(run).catch(() => {});
    throw error;
  }
}
