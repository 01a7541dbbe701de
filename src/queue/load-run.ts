import { createHash } from 'node:crypto';
import { passbackOperation } from '../bulk/operations.js';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { formatFlatJson } from '../protocol/user-info.js';
import type { NewRun } from './run.js';

/** The users of a file, 8 bytes each. */
export class UserDigests {
  #digests = new BigUint64Array(1024);
  #count = 0;
  #isSorted = false;

  add(user: string): void {
    if (this.#count === this.#digests.length) {
      const digests = this.#digests;
      this.#digests = new BigUint64Array(2 * this.#count);
      this.#digests.set(digests);
    }
    this.#digests[this.#count] = digestOf(user);
    this.#count += 1;
  }

  /** Call it after the last `add`. */
  has(user: string): boolean {
    const sorted = this.#digests.subarray(0, this.#count);
    if (!this.#isSorted) sorted.sort();
    this.#isSorted = true;
    const digest = digestOf(user);
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sorted[middle] ?? 0n) < digest) from = middle + 1;
      else to = middle;
    }
    return sorted[from] === digest;
  }

  /**
   * Refuses a file that names a user twice: workers do chunks in any order, and its last row would not win.
   *
   * @throws InvalidInputError if a user was added twice
   */
  refuseTwice(): void {
    const digests = this.#digests.subarray(0, this.#count);
    const sorted = digests.slice().sort();
    const twice = sorted.find((digest, i) => digest === sorted[i + 1]);
    if (twice === undefined) return;
    const first = digests.indexOf(twice) + 1;
    const second = digests.indexOf(twice, first) + 1;
    const hint = 'Workers do the rows of a queue in any order: keep one row a user, or leave --queue out.';
    throw new InvalidInputError(`rows ${first} and ${second} name the same user: nothing was queued`, {
      hint,
    });
  }
}

function digestOf(user: string): bigint {
  return createHash('sha256').update(user).digest().readBigUInt64LE();
}

/** A chunk is full with this many rows, */
const chunkRows = 1000;
/** those of this many seconds at the rate of the run, */
const chunkSeconds = 5;
/** or this many characters. */
const chunkLength = 256 * 1024;

/** Cuts the rows of a run into what a worker takes together, and adds their users to `users`. */
export async function* cutIntoChunks(
  batches: AsyncIterable<readonly FileRow[]>,
  { rate, naming }: NewRun,
  users: UserDigests,
): AsyncGenerator<readonly NdjsonRow[]> {
  const maxRows = Math.min(chunkRows, rate === null ? chunkRows : rate * chunkSeconds);
  const operation = passbackOperation(naming);
  let rows: NdjsonRow[] = [];
  let length = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      const fields = row.fields();
      users.add(operation.user(fields) ?? '');
      const queued = new NdjsonRow(row.line, formatFlatJson(fields));
      rows.push(queued);
      length += queued.size;
      if (rows.length < maxRows && length < chunkLength) continue;
      yield rows;
      [rows, length] = [[], 0];
    }
  }
  if (rows.length > 0) yield rows;
}
