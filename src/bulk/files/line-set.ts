/** Lines to a page: a bit each. */
const pageLines = 65_536;

/** A set of line numbers that takes a bit a line, and nothing where no line of a page is in it. */
export class LineSet {
  readonly #pages = new Map<number, Uint8Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(line: number): boolean {
    const byte = this.#pages.get(Math.floor(line / pageLines))?.[(line % pageLines) >> 3] ?? 0;
    return (byte & (1 << (line & 7))) !== 0;
  }

  add(line: number): void {
    if (this.has(line)) return;
    const number = Math.floor(line / pageLines);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Uint8Array(pageLines / 8);
      this.#pages.set(number, page);
    }
    const at = (line % pageLines) >> 3;
    page[at] = (page[at] ?? 0) | (1 << (line & 7));
    this.#size += 1;
  }

  delete(line: number): void {
    const page = this.#pages.get(Math.floor(line / pageLines));
    if (page === undefined || !this.has(line)) return;
    const at = (line % pageLines) >> 3;
    page[at] = (page[at] ?? 0) & ~(1 << (line & 7));
    this.#size -= 1;
  }

  /** Ascending within a page. */
  *[Symbol.iterator](): Generator<number> {
    for (const [number, page] of this.#pages) {
      for (let line = number * pageLines; line < (number + 1) * pageLines; line += 1) {
        if (((page[(line % pageLines) >> 3] ?? 0) & (1 << (line & 7))) !== 0) yield line;
      }
    }
  }
}
