import { createHash } from 'node:crypto';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { usualPartBytes as blockBytes, type Input } from './input.js';

/** An input has changed since its rows were checked. */
export class InputChangedError extends InvalidInputError {
  constructor(name: string) {
    super(`${quoteName(name)} was changed after it was checked: what changed was not sent`, {
      hint: 'Start again when nothing writes to the file any more.',
    });
  }
}

/** The bytes of an input as SHA-256 digests: one for each block, and one for all. */
export class InputDigest {
  readonly #whole = createHash('sha256');
  #block = createHash('sha256');
  /** How much of the current block is filled, in bytes. */
  #filled = 0;
  readonly #digests: string[] = [];

  /** The next bytes of the input; no call may reach over the end of a block. */
  add(part: Buffer): void {
    this.#whole.update(part);
    this.#block.update(part);
    this.#filled += part.length;
    if (this.#filled === blockBytes) this.#endBlock();
  }

  /** The digest of all bytes, in hex. Call it after the last `add`. */
  end(): string {
    if (this.#filled > 0) this.#endBlock();
    return this.#whole.digest('hex');
  }

  get blocks(): number {
    return this.#digests.length;
  }

  /** Whether these bytes are the block of that number, counted from 0. */
  isBlock(number: number, bytes: Buffer): boolean {
    return this.#digests[number] === createHash('sha256').update(bytes).digest('base64');
  }

  #endBlock(): void {
    this.#digests.push(this.#block.digest('base64'));
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
