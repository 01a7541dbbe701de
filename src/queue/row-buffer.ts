const firstSize = 16 * 1024;

/**
 * Text that grows row by row and is taken as a whole. Rows wait here by the ten thousand: as bytes they are no work
 * for the garbage collector.
 */
export class RowBuffer {
  #bytes = Buffer.alloc(firstSize);
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  add(row: string): void {
    const needed = this.#length + Buffer.byteLength(row);
    if (needed > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(row, this.#length);
  }

  /** All of it; it is empty then. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}
