import { createHash } from 'node:crypto';
import { NdjsonRow } from '../bulk/source/ndjson.js';
import type { FileRow } from '../bulk/source/rows.js';
import { InvalidInputError } from '../protocol/errors.js';
import { formatFlatJson } from '../protocol/user-info.js';

/**
 * Refuses rows whose user an earlier row names: workers do chunks in any order, and the last row of a user would not
 * win. Holds 8 bytes a row.
 */
export class UniqueUsers {
  #digests = new BigUint64Array(1024);
  #count = 0;

  add(user: string): void {
    if (this.#count === this.#digests.length) {
      const digests = this.#digests;
      this.#digests = new BigUint64Array(2 * this.#count);
      this.#digests.set(digests);
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
    const first = digests.indexOf(twice) + 1;
    const second = digests.indexOf(twice, first) + 1;
    const hint = 'Workers do the rows of a queue in any order: keep one row a user, or leave --queue out.';
    throw new InvalidInputError(`rows ${first} and ${second} name the same user: nothing was queued`, {
      hint,
    });
  }
}

/** A chunk is full with this many rows, */
const chunkRows = 1000;
/** those of this many seconds at the rate of the run, */
const chunkSeconds = 5;
/** or this many characters. */
const chunkLength = 256 * 1024;

/** Cuts the rows of a run into what a worker takes together. */
export async function* cutIntoChunks(
  batches: AsyncIterable<readonly FileRow[]>,
  rate: number | null,
): AsyncGenerator<readonly NdjsonRow[]> {
  const maxRows = Math.min(chunkRows, rate === null ? chunkRows : rate * chunkSeconds);
  let rows: NdjsonRow[] = [];
  let length = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      const queued = new NdjsonRow(row.line, formatFlatJson(row.fields()));
      rows.push(queued);
      length += queued.size;
      if (rows.length < maxRows && length < chunkLength) continue;
      yield rows;
      [rows, length] = [[], 0];
    }
  }
  if (rows.length > 0) yield rows;
}
