import { createHash } from 'node:crypto';
import { InvalidInputError } from '../protocol/errors.js';
import type { Queue } from './queue.js';
import type { NewRun, QueuedRow } from './run.js';

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

/**
 * Adds rows to a queue as one run, and returns its name: all of them, or none. After `leaseMs` milliseconds other
 * workers may take the chunk of a silent one.
 *
 * @throws what reading the rows throws
 */
export async function loadRun(
  queue: Queue,
  given: NewRun,
  leaseMs: number,
  batches: AsyncIterable<readonly QueuedRow[]>,
): Promise<string> {
  const run = await queue.add(given, leaseMs);
  const maxRows = given.rate === null ? chunkRows : Math.min(chunkRows, given.rate * chunkSeconds);
  let [chunk, length] = [0, 0];
  let rows: QueuedRow[] = [];
  const loadChunk = async () => {
    await queue.load(run, chunk, rows);
    [chunk, length, rows] = [chunk + 1, 0, []];
  };
  try {
    for await (const batch of batches) {
      for (const row of batch) {
        rows.push(row);
        length += row.json.length;
        if (rows.length >= maxRows || length >= chunkLength) await loadChunk();
      }
    }
    if (rows.length > 0) await loadChunk();
    await queue.release(run);
    return run;
  } catch (error) {
    // If the database is lost as well, the rest can be purged.
    await queue.purge(run).catch(() => {});
    throw error;
  }
}
