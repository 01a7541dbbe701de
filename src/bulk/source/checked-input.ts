import { createHash } from 'node:crypto';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { usualPartBytes as blockBytes, type Input } from './input.js';

/** Length of the stored part of each SHA-256, in bytes: 256 kB for 1 GB of input. */
const digestBytes = 16;

/** An input has changed since its rows were checked. */
export class InputChangedError extends InvalidInputError {
  constructor(name: string) {
    super(`${quoteName(name)} was changed after it was checked: what changed was not sent`, {
      hint: 'Restore the file and add --resume, or send all rows of the new one with --restart.',
    });
  }
}

/** The bytes of an input as digests: one for each block, and one for all. */
export class InputDigest {
  readonly #whole = createHash('sha256');
  #block = createHash('sha256');
  /** How much of the current block is filled, in bytes. */
  #filled = 0;
  #digests: Buffer = Buffer.alloc(1024 * digestBytes);
  #blocks = 0;

  /** The next bytes of the input; no call may reach over the end of a block. */
  add(part: Buffer): void {
    this.#whole.update(part);
    this.#block.update(part);
    this.#filled += part.length;
    if (this.#filled === blockBytes) this.#endBlock();
  }

  /** SHA-256 of all bytes, in hex. Call it after the last `add`. */
  end(): string {
    if (this.#filled > 0) this.#endBlock();
    return this.#whole.digest('hex');
  }

  get blocks(): number {
    return this.#blocks;
  }

  /** Whether these bytes are the block of that number, counted from 0. */
  isBlock(number: number, bytes: Buffer): boolean {
    const at = number * digestBytes;
    const digest = createHash('sha256').update(bytes).digest().subarray(0, digestBytes);
    return number < this.#blocks && digest.equals(this.#digests.subarray(at, at + digestBytes));
  }

  #endBlock(): void {
    const at = this.#blocks * digestBytes;
    if (at === this.#digests.length) this.#digests = Buffer.concat([this.#digests, Buffer.alloc(at)]);
    this.#block.digest().copy(this.#digests, at, 0, digestBytes);
    this.#blocks += 1;
    this.#block = createHash('sha256');
    this.#filled = 0;
  }
}

/**
 * An input whose reads yield only the bytes that are in `checked`: no row that was not checked reaches its reader.
 *
 * @throws InputChangedError from its `read`, if the input was rewritten, truncated or extended
 */
export function checkedInput(input: Input, checked: InputDigest): Input {
  return { ...input, read: () => readChecked(input, checked) };
}

async function* readChecked(input: Input, checked: InputDigest): AsyncGenerator<Buffer> {
  let number = 0;
  let last: Buffer | null = null;
  for await (const block of input.read(blockBytes)) {
    if (!checked.isBlock(number, block)) throw new InputChangedError(input.name);
    number += 1;
    if (number < checked.blocks) yield block;
    else last = block;
  }
  if (number < checked.blocks || (await input.sizeNow()) !== input.size) {
    throw new InputChangedError(input.name);
  }
  if (last !== null) yield last;
}
