import { createHash } from 'node:crypto';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { usualPartBytes as blockBytes, type Input } from './input.js';
import { type FileRow, type RowSource, readLines } from './rows.js';

/** An input has changed since its rows were checked. */
export class InputChangedError extends InvalidInputError {
  constructor(name: string) {
    super(`${quoteName(name)} was changed after it was checked: what changed was not sent`, {
      hint: 'Start again when nothing writes to the file any more.',
    });
  }
}

/** SHA-256 of an input: of its bytes up to the end of each block, and so of all of them. */
export class InputDigest {
  readonly #hash = createHash('sha256');
  /** The filled part of the current block, in bytes. */
  #filled = 0;
  /** Up to the end of each block, in hex. */
  readonly blocks: string[] = [];

  /** The next bytes of the input; no call may reach over the end of a block. */
  add(part: Buffer): void {
    this.#hash.update(part);
    this.#filled += part.length;
    if (this.#filled === blockBytes) this.#endBlock();
  }

  /** The digest of all bytes, in hex. Call it after the last `add`. */
  end(): string {
    if (this.#filled > 0) this.#endBlock();
    return this.#hash.digest('hex');
  }

  #endBlock(): void {
    this.blocks.push(this.#hash.copy().digest('hex'));
    this.#filled = 0;
  }
}

/** Size of one read: rows are checked so fast that larger parts outlive the young generation, and accumulate. */
const partBytes = 16 * 1024;

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
  const digest = new InputDigest();
  async function* read() {
    for await (const part of input.read(partBytes)) {
      digest.add(part);
      yield part;
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
  return { digest, hash: digest.end() };
}

/**
 * An input whose reads yield only the bytes that are in `checked`: no row that was not checked reaches its reader.
 *
 * @throws InputChangedError from its `read`, if the input was rewritten, truncated or extended
 */
export function checkedInput(input: Input, checked: InputDigest): Input {
  return { ...input, read: () => readChecked(input, checked) };
}

async function* readChecked(input: Input, { blocks }: InputDigest): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let number = 0;
  let last: Buffer | null = null;
  for await (const block of input.read(blockBytes)) {
    if (hash.update(block).copy().digest('hex') !== blocks[number]) throw new InputChangedError(input.name);
    number += 1;
    if (number < blocks.length) yield block;
    else last = block;
  }
  if (number < blocks.length || (await input.sizeNow()) !== input.size) {
    throw new InputChangedError(input.name);
  }
  if (last !== null) yield last;
}
