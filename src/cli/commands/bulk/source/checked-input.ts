import { createHash, type Hash } from 'node:crypto';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import type { Input } from './input.js';
import { type FileRow, type RowSource, readLines } from './rows.js';

/** An input has changed since its rows were checked. */
export class InputChangedError extends InvalidInputError {
  constructor(name: string) {
    super(`${quoteName(name)} was changed after it was checked: what changed was not sent`, {
      hint: 'Start again when nothing writes to the file any more.',
    });
  }
}

/** The start of the SHA-256 of an input up to the end of each chunk of it. */
export type InputDigest = readonly string[];

const digestOf = (hash: Hash) => hash.copy().digest('binary').slice(0, 16);

/**
 * Reads a file to its end, and calls `check` with its rows; `null` parses none.
 *
 * @returns the digests of its bytes, and the SHA-256 of all of them in hex
 * @throws InvalidInputError if the file cannot be read to its end, or is changed meanwhile
 */
export async function preflight(
  source: RowSource,
  check: ((rows: readonly FileRow[]) => void) | null,
): Promise<{ readonly digest: InputDigest; readonly hash: string }> {
  const { input } = source;
  const hash = createHash('sha256');
  const digest: string[] = [];
  async function* read() {
    for await (const chunk of input.read()) {
      hash.update(chunk);
      digest.push(digestOf(hash));
      yield chunk;
    }
  }
  const blocks = readLines(source, read());
  if (check === null) for await (const _ of blocks);
  else for await (const rows of source.parse(blocks)) check(rows);
  if ((await input.sizeNow()) !== input.size) {
    throw new InvalidInputError(`${quoteName(input.name)} was changed while it was checked`, {
      hint: 'Start again when nothing writes to the file any more.',
    });
  }
  return { digest, hash: hash.digest('hex') };
}

/**
 * An input whose reads yield only the bytes that are in `checked`: no row that was not checked
 * reaches its reader.
 *
 * @throws InputChangedError from its `read`, if the input was rewritten, truncated or extended
 */
export function checkedInput(input: Input, checked: InputDigest): Input {
  return { ...input, read: () => readChecked(input, checked) };
}

async function* readChecked(input: Input, checked: InputDigest): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let number = 0;
  let last: Buffer | null = null;
  for await (const chunk of input.read()) {
    hash.update(chunk);
    if (digestOf(hash) !== checked[number]) throw new InputChangedError(input.name);
    number += 1;
    if (number < checked.length) yield chunk;
    else last = chunk;
  }
  if (number < checked.length || (await input.sizeNow()) !== input.size) {
    throw new InputChangedError(input.name);
  }
  if (last !== null) yield last;
}
