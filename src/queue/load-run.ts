import { createHash } from 'node:crypto';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { formatFlatJson } from '../protocol/user-info.js';

/** The users of a file, 8 bytes each. All are added, then sorted, then looked up. */
export class UserDigests {
  #digests = new BigUint64Array(1024);
  #count = 0;

  add(user: string): void {
    if (this.#count === this.#digests.length) {
      const digests = this.#digests;
      this.#digests = new BigUint64Array(2 * this.#count);
      this.#digests.set(digests);
    }
    this.#digests[this.#count] = digestOf(user);
    this.#count += 1;
  }

  /**
   * Refuses a file that names a user twice: workers do chunks in any order, and its last row would not win.
   *
   * @throws InvalidInputError if a user was added twice
   */
  sort(): void {
    const digests = this.#digests.subarray(0, this.#count);
    this.#digests = digests.slice().sort();
    const twice = this.#digests.find((digest, i, sorted) => digest === sorted[i + 1]);
    if (twice === undefined) return;
    const first = digests.indexOf(twice) + 1;
    const second = digests.indexOf(twice, first) + 1;
    throw new InvalidInputError(`rows ${first} and ${second} name the same user: nothing was queued`, {
      hint: 'Workers do the rows of a queue in any order: keep one row a user, or leave --queue out.',
    });
  }

  has(user: string): boolean {
    const digest = digestOf(user);
    let [from, to] = [0, this.#count];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#digests[middle] ?? 0n) < digest) from = middle + 1;
      else to = middle;
    }
    return this.#digests[from] === digest;
  }
}

function digestOf(user: string): bigint {
  return createHash('sha256').update(user).digest().readBigUInt64LE();
}

/** A chunk is full with this many rows, those of this many seconds at the rate of its run, or this many characters. */
const [chunkRows, chunkSeconds, chunkLength] = [1000, 5, 256 * 1024];

/** Cuts the rows of a run with a maximum rate a second, or `null`, into what a worker takes together. */
export async function* cutIntoChunks(
  batches: AsyncIterable<readonly FileRow[]>,
  rate: number | null,
): AsyncGenerator<readonly NdjsonRow[]> {
  const maxRows = Math.min(chunkRows, (rate ?? chunkRows) * chunkSeconds);
  let [rows, length]: [NdjsonRow[], number] = [[], 0];
  for await (const batch of batches) {
    for (const row of batch) {
      const queued = new NdjsonRow(row.line, formatFlatJson(row.fields()));
      length += queued.size;
      if (rows.push(queued) < maxRows && length < chunkLength) continue;
      yield rows;
      [rows, length] = [[], 0];
    }
  }
  if (rows.length > 0) yield rows;
}
